"""Asking a child of a nursery, as a CandidateClient, and never waiting for longer than it may take."""

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import graph_from_json
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge import sandbox, wire
from passnet_core.judge.candidacy import (
    CandidateEnd,
    CandidateFault,
    CandidateGone,
    CandidateTimeout,
    Loaded,
    Preparation,
    Produced,
    Returned,
)
from passnet_core.judge.pool import PATIENCE_S, Nursery
from passnet_core.records import Bundle, Clock, to_json

TICK_S = 0.5


class Child:
    """One child of a nursery, as a CandidateClient. All its requests together may take deadline_s: the time that the
    judge or the other child takes is not counted."""

    def __init__(
        self,
        nursery: Nursery,
        who: str,
        *,
        deadline_s: float,
        limits: sandbox.Limits = sandbox.LIMITS,
        on_log: Callable[[str], None] = lambda text: None,
        compiling: bool = False,
    ) -> None:
        self.nursery = nursery
        self.who = who
        self.limits = limits
        self.deadline_s = deadline_s
        self.on_log = on_log
        self._shown = ""
        self._over: CandidateEnd | None = None
        cores = os.cpu_count() or 1
        self.channel, self.log = nursery.fork(limits, deadline_s * cores + 30, compiling=compiling)
        self.left_s = deadline_s

    # --- CandidateClient ---

    def load(self, bundle: Bundle) -> Loaded:
        fields = self._ask("load the bundle", {"do": "load", "bundle": to_json(bundle)}).fields
        try:
            passes = tuple(
                TracedPass(
                    name=str(each["name"]),
                    pattern=graph_from_json(each["pattern"]),
                    arguments=graph_from_json(each["arguments"]),
                    replacement=str(each["replacement"]),
                )
                for each in fields["passes"]
            )
            return Loaded(passes, _texts(fields["replacements"]), _texts(fields["warnings"]))
        except (BadInput, KeyError, TypeError, RecursionError) as error:
            raise self._marked(CandidateFault("protocol", f"It sent no traced passes: {error}")) from error

    def prepare(self, name: str, preparation: Preparation) -> None:
        self._ask(f"prepare {name}", {"do": "prepare", "name": name, **to_json(preparation)})

    def give(self, inputs: Sequence[torch.Tensor | int | float | bool]) -> None:
        places, tensors = wire.pack_inputs(inputs)
        self._ask("take the inputs", {"do": "give", "inputs": places}, tensors)

    def run(self, name: str) -> Returned:
        reply = self._ask(f"run {name}", {"do": "run", "name": name})
        try:
            fields = reply.fields
            matches = fields["matches"]
            return Returned(
                outputs=tuple(_produced(each, reply.tensors) for each in fields["outputs"]),
                container=str(fields["container"]),
                seconds=float(fields["seconds"]),
                matches=matches if isinstance(matches, int) else None,
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._marked(CandidateFault("protocol", f"It sent no outputs: {error!r}")) from error

    def warm_up(self, name: str, seconds: float) -> None:
        self._ask(f"warm up {name}", {"do": "warm_up", "name": name, "seconds": seconds})

    def block(self, name: str, clock: Clock, calls: int) -> list[float]:
        reply = self._ask(f"time {name}", {"do": "block", "name": name, "clock": clock.value, "calls": calls})
        samples = reply.fields.get("samples")
        if not isinstance(samples, list) or not all(isinstance(each, float) and each >= 0 for each in samples):
            raise self._marked(CandidateFault("protocol", "It sent no times."))
        return samples

    def facts(self) -> dict[str, Any]:
        found = self._ask("describe its machine", {"do": "facts"}).fields.get("facts")
        return found if isinstance(found, dict) else {}

    # --- the process ---

    def close(self) -> str:
        """Ends the child and all it has started; the end of its log. The nursery is stopped if it does not obey."""
        if self._over is None:
            self._over = CandidateGone(None, "It was ended.")
            self._end_child()
        self.channel.close()
        return self.log.finish()

    def _ask(self, doing: str, fields: dict[str, Any], tensors: Sequence[torch.Tensor] = ()) -> wire.Message:
        if self._over is not None:
            raise self._over
        start = time.monotonic()
        pause = self._pause(doing, start + self.left_s)
        try:
            wire.send(self.channel, wire.Message(fields, tuple(tensors)), pause)
            reply = wire.receive(self.channel, pause)
        except wire.WireClosed:
            raise self._gone(doing) from None
        except wire.WireError as error:
            self._end_child()
            self._over = self._marked(CandidateFault("protocol", f"It sent nonsense: {error}"))
            raise self._over from error
        finally:
            self.left_s -= time.monotonic() - start
        if "fault" in reply.fields:
            words = {key: str(reply.fields.get(key, "")) for key in ("fault", "text", "trace")}
            raise self._marked(CandidateFault(words["fault"], words["text"], words["trace"]))
        return reply

    def _pause(self, doing: str, deadline: float) -> wire.Pause:
        """Waits for the channel, while it watches the deadline, the nursery, the scratch folder and the log."""

        def pause(channel: socket.socket, to_write: bool) -> None:
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    self._end_child()
                    self._over = self._marked(CandidateTimeout(self.deadline_s, doing))
                    raise self._over
                # only the channel while it is ready: the nursery's word of the end must not outrun the last reply
                writing = [channel] if to_write else []
                reading = [self.nursery.control] if to_write else [channel, self.nursery.control]
                ready = select.select(reading, writing, [], min(left, TICK_S))
                if channel in ready[0] or channel in ready[1]:
                    return
                if ready[0]:
                    raise self._gone(doing)
                self._look_around(doing)

        return pause

    def _look_around(self, doing: str) -> None:
        text = self.log.text
        if text != self._shown:
            self._shown = text
            self.on_log(text)
        folder = self.nursery.folder
        if folder is not None and sandbox.folder_bytes(folder) > self.limits.scratch_bytes:
            self._end_child()
            limit = f"{self.limits.scratch_bytes >> 20} MiB"
            self._over = self._marked(
                CandidateGone(None, f"It was ended: it wrote more than {limit} to disk while it had to {doing}.")
            )
            raise self._over

    def _gone(self, doing: str) -> CandidateEnd:
        """Finds out how the child ended, and ends it if it only closed its channel."""
        told = self.nursery.hear(1.0)
        if told is None and self.nursery.alive:
            told = self._end_child()
        if told is None:
            self.nursery.stop()
            self._over = CandidateGone(None, f"It ended the process it lives in while it had to {doing}.")
        elif told.get("killed") and not told.get("why"):
            self._over = CandidateGone(None, f"It closed its channel to the judge while it had to {doing}.")
        else:
            code = told.get("ended")
            code = code if isinstance(code, int) else None
            why = f": {told['why']}" if told.get("why") else ""
            self._over = CandidateGone(code, f"It was gone while it had to {doing}: {_ending(code)}{why}.")
        return self._marked(self._over)

    def _end_child(self) -> dict[str, Any] | None:
        """Has the nursery end the child, or ends the nursery where it does not obey; what the nursery told."""
        try:
            self.nursery.control.send(json.dumps({"end": True}).encode(), socket.MSG_NOSIGNAL)
        except OSError:
            self.nursery.stop()
            return None
        told = self.nursery.hear(PATIENCE_S)
        if told is None or "ended" not in told:
            self.nursery.stop()
            return None
        return told

    def _marked(self, end: CandidateEnd) -> CandidateEnd:
        end.who = self.who
        return end


def _ending(code: int | None) -> str:
    if code is None:
        return "nobody knows how"
    if code >= 0:
        return f"it exited with status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    words = {
        "SIGSEGV": "segmentation fault",
        "SIGABRT": "abort",
        "SIGKILL": "killed",
        "SIGXCPU": "out of processor time",
        "SIGBUS": "bus error",
        "SIGFPE": "arithmetic error",
    }
    return f"ended by {name} ({words[name]})" if name in words else f"ended by {name}"


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(str(each)[:1000] for each in values)


def _produced(described: Any, tensors: Sequence[torch.Tensor]) -> Produced:
    """One output as the child describes it; the description of a tensor's content is the tensor itself."""
    kind = str(described["type"])[:200]
    if "number" in described:
        return Produced(kind, wire.number_from_json(described["number"]))
    if "dtype" not in described:
        return Produced(kind)
    place = described.get("tensor")
    value = tensors[place] if isinstance(place, int) else None
    return Produced(
        type=kind,
        value=value,
        dtype=str(value.dtype).removeprefix("torch.") if value is not None else str(described["dtype"])[:40],
        shape=tuple(value.shape) if value is not None else tuple(int(size) for size in described["shape"]),
        strides=tuple(int(stride) for stride in described["strides"]),
        device=str(described["device"])[:40],
    )
