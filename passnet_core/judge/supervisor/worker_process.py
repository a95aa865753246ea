"""The referee's side of a worker: the requests that it answers, none of which waits beyond the job's deadline.

Three kinds of worker answer the same requests. The *candidate* worker has loaded a bundle and is not trusted. The
*witness* has loaded none: it computes eager, its float64 form and Inductor, so that they cannot crash the referee. The
*executor* has loaded the kernels of a bundle, and none of its other code: it executes plans. A *compiler* is like it,
and compiles the kernels for a GPU."""

import contextlib
import dataclasses
import json
import math
import os
import secrets
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from passnet_core.errors import BadInput
from passnet_core.judge.numerics import rechecking
from passnet_core.judge.protocol import encoding, framing
from passnet_core.judge.protocol.messages import (
    MOST_ACCESSES,
    MOST_ARGUMENTS,
    MOST_LANES,
    MOST_LAUNCHES,
    MOST_PROGRAMS,
    TEXT_CHARACTERS,
    CandidateEnd,
    CandidateFault,
    CandidateGone,
    CandidateTimeout,
    ErrorPlace,
    Executed,
    Fills,
    Given,
    Launches,
    Loaded,
    LoopTimes,
    Preparation,
    Propagated,
    Returned,
)
from passnet_core.judge.protocol.reference_bench import BenchPlan, RecheckedCall, ReferenceBench
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.fork_server import PATIENCE_S, ForkServer
from passnet_core.judge.supervisor.remote_bench import RemoteReferenceBench, WitnessFailed
from passnet_core.records import (
    Accelerator,
    Baseline,
    Bundle,
    CompiledKernel,
    InductorCode,
    TensorForm,
    TracedLaunch,
    from_json,
    to_json,
)

PLACE_CHARACTERS = 100
TICK_S = 0.25

NONSENSE = (
    BadInput, ArithmeticError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What reading a reply may raise: a candidate worker can send anything."""

REPLY_LIMIT = 4 << 20
"""Bytes of a reply without its tensors; enough for thousands of traced nodes."""
TEXT_LIMIT = 10_000
LONGEST_CPU_S = 1e7
BENCH_S = 600.0
"""The least time allowed for drawing inputs or comparing once in the reference worker."""
COMPUTING = {"refer": "run eager", "compile": "compile with Inductor", "judge": "run baseline"}
"""The steps of a reference bench whose time counts against the job's deadline, and what they do."""


class WorkerProcess:
    """One worker of a fork server. Every request may raise CandidateFault, CandidateGone or CandidateTimeout; after the
    latter two the worker is gone for good.

    All requests of a job together may take deadline_s; the time of the referee and of the other worker does not count.
    lifetime_s: bounds the processor time of a worker that is kept for later jobs, instead of deadline_s."""

    def __init__(
        self,
        fork_server: ForkServer,
        who: str,
        *,
        deadline_s: float,
        limits: sandbox.Limits = sandbox.LIMITS,
        on_log: Callable[[str], None] = lambda text: None,
        compiling: bool = False,
        lifetime_s: float | None = None,
    ) -> None:
        self.fork_server = fork_server
        self.who = who
        self.limits = limits
        self.deadline_s = deadline_s
        self.on_log = on_log
        self._shown = ""
        self._over: CandidateEnd | None = None
        self._loaded: Loaded | None = None
        self._kernels_loaded = False
        self.jobs = 0
        self._nonce = ""
        """What the answers to the latest request must carry, so that no answer can be prepared ahead."""
        cores = os.cpu_count() or 1
        cpu_s = (deadline_s if lifetime_s is None else lifetime_s) * cores + 30
        self.channel, self.log = fork_server.fork(limits, min(cpu_s, LONGEST_CPU_S), compiling=compiling)
        self.left_s = deadline_s

    # --- requests ---

    def load(self, bundle: Bundle, card: Mapping[str, Any] | None = None) -> Loaded:
        """Import the bundle and trace its passes. card: what it is told of the GPU, as card() says; None: anything.
        Candidate only: once, before any other request."""
        if self._loaded is not None:  # a resident worker serves one bundle only
            return self._loaded
        fields = self._ask("load the bundle", {"do": "load", "bundle": to_json(bundle), "card": card}).fields
        with self._reading("traced passes"):
            self._loaded = Loaded(
                tuple(map(encoding.traced_from_json, fields["passes"])),
                encoding.texts(fields["replacements"]),
                encoding.texts(fields["warnings"]),
                {str(key): encoding.texts(names) for key, names in fields["hooks"].items()},
                encoding.texts(fields["renewed"]),
            )
            return self._loaded

    def prepare(self, name: str, preparation: Preparation) -> None:
        """Build a callable and keep it under this name, one of CallableName."""
        self._ask(f"prepare {name}", {"do": "prepare", "name": name, "preparation": to_json(preparation)})

    def give(self, inputs: Sequence[torch.Tensor | int | float | bool]) -> None:
        """Replace the worker's inputs. They are given on the CPU, and the worker copies them to its device."""
        places, tensors = framing.pack_inputs(inputs)
        self._ask("take the inputs", {"do": "give", "inputs": places}, tensors)

    def bench(self, plan: BenchPlan) -> ReferenceBench:
        """Open a reference bench on the worker's device. Witness only."""

        def ask(
            fields: dict[str, Any], tensors: Sequence[torch.Tensor] = (), *, counted: bool = False
        ) -> framing.WireMessage:
            doing = COMPUTING[fields["step"]] if counted else "compare values"
            with contextlib.nullcontext() if counted else self._uncounted():
                return self._ask(doing, fields, tensors, returns_tensors=fields["step"] == "taken")

        return RemoteReferenceBench(plan, ask)

    def run(self, name: str) -> Returned:
        """Call the callable once with copies of the given inputs, and return what it returned. The tensors that
        replacement functions are given refuse torch's operations, as in PassNet's warm-up."""
        reply = self._ask(f"run {name}", {"do": "run", "name": name}, returns_tensors=True)
        with self._reading("outputs"):
            return encoding.unpacked(reply.fields, reply.tensors)

    def plan(self, key: str, signature: Sequence[Any]) -> tuple[Mapping[str, Any], tuple[torch.Tensor, ...], Launches]:
        """Record what a replacement function does for arguments of this signature, in the form of plan/record.py:
        the plan, its constants, and what was seen meanwhile. Candidate only."""
        asked = {"do": "plan", "key": key, "signature": list(signature)}
        reply = self._ask("record a plan", asked, returns_tensors=True)
        with self._reading("a plan"):
            (launches,) = map(encoding.launches, reply.fields["launches"])
            return dict(reply.fields["plan"]), tuple(reply.tensors), launches

    def pack(self, name: str) -> None:
        """Have the bundle's prepare(weights) prepare the given weights, for the plans to come. Candidate only."""
        self._ask("prepare the weights", {"do": "pack", "name": name})

    def pack_weights(self, key: str, weights: Mapping[str, torch.Tensor]) -> None:
        """Have the prepare(weights) of a replacement prepare these, for the plans to come. Candidate only."""
        asked = {"do": "pack weights", "key": key, "names": list(weights)}
        self._ask("prepare the weights", asked, list(weights.values()))

    def load_kernels(self, bundle: Bundle, loaded: Loaded) -> None:
        """Load the bundle's functions written in Triton, and nothing else of it. Executor only, instead of load.
        loaded: what the candidate worker loaded."""
        if self._kernels_loaded:  # a resident worker serves one bundle only
            return
        traced = [encoding.traced_to_json(each) for each in loaded.passes]
        fields = {"bundle": to_json(bundle), "passes": traced, "hooks": to_json(loaded.hooks)}
        self._ask("load the kernels", {"do": "load_kernels", **fields})
        self._kernels_loaded = True

    def compile_kernels(self, launches: Sequence[Mapping[str, Any]], seconds: float) -> list[str | None]:
        """Compile launches for a GPU, as stages/compilation.py describes them. For each: why the compiler refuses it,
        in a sentence; "" if it does not; None if it did not answer within these seconds, or was not asked since the
        kernel cannot be loaded alone. Executor only."""
        asked = {"do": "compile_kernels", "launches": list(launches), "seconds": seconds}
        told = self._ask("compile the kernels", asked).fields
        with self._reading("answers"):
            answers = [
                str(each["refusal"])[:TEXT_LIMIT] if "refusal" in each else None if "problem" in each else ""
                for each in told["answers"]
            ]
            return [*answers, *[None] * len(launches)][: len(launches)]

    def learn(self, asked: str, plan: Mapping[str, Any], constants: Sequence[torch.Tensor]) -> None:
        """Give an executor a plan, by the question that it asked."""
        self._ask("take a plan", {"do": "learn", "asked": asked, "plan": plan}, constants)

    def execute(
        self, name: str, seed: int | None, *, noisy: bool = False, sampled: bool = False, most_s: float | None = None
    ) -> "Executed | str":
        """Call the callable once with copies of the given inputs; plans take the place of its replacement functions.
        Return the question of the first plan that is missing, if one is.

        seed: decides what is not defined on a GPU, such as the order of the programs of each launch; None: it is as in
        the interpreter. noisy: that includes what lanes hold that the mask of a load leaves out. sampled: let
        only a few programs of each launch run, with no seed. most_s: if the kernels are more seconds of work, they
        fail. Executor only."""
        asked: dict[str, Any] = {"do": "execute", "name": name, "seed": seed, "most_s": most_s}
        asked |= {"noisy": noisy, "sampled": sampled}
        reply = self._ask(f"execute {name}", asked, returns_tensors=True)
        with self._reading("outputs"):
            if "wanted" in reply.fields:
                return str(reply.fields["wanted"])
            counts = [int(each) for each in reply.fields["stored"]]
            masks = reply.tensors[len(reply.tensors) - len(counts) :]
            returned = encoding.unpacked(reply.fields, reply.tensors[: len(reply.tensors) - len(counts)])
            return Executed(
                returned,
                tuple(map(str, reply.fields["used"])),
                encoding.texts(reply.fields["problems"]),
                encoding.texts(reply.fields["copied"]),
                tuple((mask.bool(), count) for mask, count in zip(masks, counts, strict=True)),
                bool(reply.fields["atomic"]),
            )

    def launch_at(self, name: str, forms: Sequence[Given]) -> tuple[str, ...] | str:
        """Launch a few programs of each kernel on inputs of these forms, without any content. Return which results all
        programs together cannot fill, in words, or the question of the first plan that is missing, if one is. Executor
        on the CPU only."""
        asked = {"do": "launch at", "name": name, "forms": [_described(each) for each in forms]}
        reply = self._ask(f"launch {name} at other sizes", asked).fields
        with self._reading("launches"):
            return str(reply["wanted"]) if "wanted" in reply else encoding.texts(reply["unfilled"])

    def warm_up(self, name: str, fills: Fills, seconds: float) -> str | None:
        """Call the callable for about this many seconds, and at least three times. Return the question of the first
        plan that is missing, if one is."""
        asked = {"do": "warm_up", "name": name, "fills": fills, "seconds": seconds}
        wanted = self._ask(f"warm up {name}", asked).fields.get("wanted")
        return None if wanted is None else str(wanted)

    def fix(self, names: Sequence[str], fills: Fills, weights: int) -> None:
        """Draw, from the seed weights, the inputs that are the same in all calls of the loops to come, and let these
        callables prepare them."""
        self._ask("prepare its weights", {"do": "fix", "names": list(names), "fills": fills, "weights": weights})

    def loops(
        self,
        names: Sequence[str],
        counts: Sequence[int],
        seed: int,
        rounds: int,
        *,
        core: int | None = None,
        cold: bool = False,
        fresh: bool = False,
    ) -> LoopTimes:
        """Time loops of so many calls of each callable, on input sets that are drawn from this seed: in each round one
        loop of each, in random order. The inputs must have been fixed.

        core: the CPU core that the worker's thread is pinned to. cold: the device's L2 cache is flushed before each
        loop. fresh: inputs are drawn anew before each loop, since calls change them."""
        asked = {"do": "loops", "names": list(names), "counts": list(counts), "seed": seed, "rounds": rounds}
        told = self._ask(f"time {' and '.join(names)}", {**asked, "core": core, "cold": cold, "fresh": fresh}).fields
        with self._reading("times"):
            host, device = (
                tuple(tuple(map(float, samples)) for samples in told[key]) for key in ("host_us", "device_us")
            )
        complete = all(list(map(len, clock)) == [rounds] * len(names) for clock in (host, device))
        if not complete or not all(_is_time(each) for clock in (host, device) for samples in clock for each in samples):
            raise self._marked(CandidateFault("protocol", "It sent no times."))
        return LoopTimes(host, device)

    def timed_outputs(self, name: str, seed: int, most_bytes: int, *, fresh: bool = False) -> tuple[Returned, ...]:
        """Make a timed loop of one call on each input set of this seed. Return what the first ones returned, of so many
        bytes together at most, and of one at least."""
        asked = {"do": "timed_outputs", "name": name, "seed": seed, "most_bytes": most_bytes, "fresh": fresh}
        return self._returned(self._ask("send what timed calls returned", asked, returns_tensors=True))

    def passnet_times(
        self, name: str, seed: int, warm_up: int, calls: int, core: int | None
    ) -> list[tuple[float, float]]:
        """Time calls as PassNet does, on the inputs of this seed: microseconds by the host's clock and by device events
        for each of the calls after those that warm up. The inputs must have been fixed."""
        asked = {"do": "passnet_times", "name": name, "seed": seed, "warm_up": warm_up, "calls": calls, "core": core}
        told = self._ask(f"time {name}", asked).fields
        with self._reading("times"):
            found = [(float(host), float(events)) for host, events in told["times"]]
        if len(found) != calls or not all(_is_time(each) for both in found for each in both):
            raise self._marked(CandidateFault("protocol", "It sent no times."))
        return found

    def recall(self, name: str, fills: Fills, weights: int, seeds: Sequence[int]) -> tuple[Returned, ...]:
        """Return what the callable returns for the inputs of each seed. With an empty name: the inputs themselves."""
        asked = {"do": "recall", "name": name, "fills": fills, "weights": weights, "seeds": list(seeds)}
        return self._returned(self._ask(f"run {name}", asked, returns_tensors=True))

    def checked(self, fills: Fills, weights: int, seed: int, actual: Returned) -> RecheckedCall:
        """Check what a timed call of the candidate returned for these seeds. Witness only."""
        described, tensors = encoding.packed(actual)
        asked = {"do": "check", "fills": fills, "weights": weights, "seed": seed, "actual": described}
        with self._uncounted():
            reply = self._ask("check a timed call", asked, tensors).fields
        if "bug" in reply:
            raise WitnessFailed(str(reply["bug"]))
        if reply["checked"] is None:
            # the device has too little memory for it
            return rechecking.rechecked(self, fills, weights, seed, actual)
        return from_json(RecheckedCall, reply["checked"])

    def kernels(self, name: str, fills: Fills, seed: int, calls: int) -> list[float]:
        """Measure the kernel time of each of this many calls in microseconds, from the device trace."""
        asked = {"do": "kernels", "name": name, "fills": fills, "seed": seed, "calls": calls}
        samples = self._ask(f"trace {name}", asked).fields.get("samples")
        if not isinstance(samples, list) or not all(isinstance(each, float) and each >= 0 for each in samples):
            raise self._marked(CandidateFault("protocol", "It sent no times."))
        return samples

    def replay(self, name: str, fills: Fills, seed: int) -> float | None:
        """Measure a replay of the call as a CUDA graph, in microseconds. None if the call cannot be captured."""
        asked = {"do": "replay", "name": name, "fills": fills, "seed": seed}
        found = self._ask(f"replay {name}", asked).fields.get("microseconds")
        return found if isinstance(found, float) and found > 0 else None

    def forget(self) -> None:
        """Drop everything that belongs to the job."""
        self._ask("forget the job", {"do": "forget"})

    def settle(self) -> None:
        """Do nothing. Raises CandidateFault if an answer is left on the channel that nobody had asked for."""
        self._ask("answer once more", {"do": "settle"})

    def facts(self) -> dict[str, Any]:
        """Return what the worker reports of its machine, such as versions and the device's name."""
        found = self._ask("describe its machine", {"do": "facts"}).fields.get("facts")
        return found if isinstance(found, dict) else {}

    def card(self) -> dict[str, Any]:
        """What a planner is told of the GPU. Witness only."""
        return dict(self.facts()["card"])

    def accelerator(self) -> Accelerator | None:
        """Return the GPU that these facts describe. None on a CPU."""
        facts = self.facts()
        try:
            return from_json(Accelerator, {each.name: facts[each.name] for each in dataclasses.fields(Accelerator)})
        except NONSENSE:
            return None

    def propagate(self, source: str, given: Sequence[Given]) -> Propagated:
        """Find the shape and dtype of each node of this source, given those of the inputs. Witness only."""
        asked = {"do": "propagate", "source": source, "given": [_described(each) for each in given]}
        reply = self._ask("find the shapes in the subgraph", asked).fields
        with self._reading("values"):
            return from_json(Propagated, reply)

    def generate(self, source: str, given: Sequence[Given], baseline: Baseline) -> InductorCode | str:
        """Return the baseline's code for this source, or a sentence that says why there is none. Witness only."""
        described = [_described(each) for each in given]
        asked = {"do": "generate", "source": source, "given": described, "baseline": baseline.value}
        reply = self._ask("have TorchInductor write its code", asked).fields
        with self._reading("code"):
            return from_json(InductorCode, reply["code"]) if "code" in reply else str(reply["problem"])[:TEXT_LIMIT]

    def compiled(self, name: str) -> tuple[CompiledKernel, ...]:
        """Call the callable on the given inputs, and return what Triton compiled for the kernels that it launched.
        Candidate only. The worker must get no other request afterwards."""
        reply = self._ask("compile the kernels", {"do": "compiled", "name": name}).fields
        with self._reading("kernels"):
            return tuple(_compiled(each) for each in reply["kernels"][: encoding.TEXTS_LIMIT])

    def traced(self, name: str, inputs: Sequence[str]) -> tuple[tuple[TracedLaunch, ...], int]:
        """Call the callable on the given inputs in Triton's interpreter, and return what programs of its first launches
        access, and how many launches there were besides. inputs: the names of the inputs. Candidate on the CPU only.
        The worker must get no other request afterwards."""
        asked = {"do": "traced", "name": name, "inputs": list(inputs)}
        reply = self._ask("trace the kernels", asked).fields
        with self._reading("trace"):
            return tuple(map(_traced_launch, reply["launches"][:MOST_LAUNCHES])), _count(reply["left_out"]) or 0

    # --- the process ---

    @property
    def lost(self) -> bool:
        """Whether it can no longer be asked."""
        return self._over is not None

    def begin(self, deadline_s: float, on_log: Callable[[str], None]) -> None:
        """Start a job: the first, or the next of a resident worker."""
        self.deadline_s = self.left_s = deadline_s
        self.on_log = on_log
        if self.jobs:
            self.log.restart()
        self._shown = ""
        self.jobs += 1

    def close(self) -> str:
        """End the worker with all that it started, and return the tail of its log."""
        if self._over is None:
            self._over = CandidateGone(None, "It was ended.")
            self._end_worker()
        self.channel.close()
        return self.log.finish()

    def _ask(
        self,
        doing: str,
        fields: dict[str, Any],
        tensors: Sequence[torch.Tensor] = (),
        *,
        returns_tensors: bool = False,
    ) -> framing.WireMessage:
        self._send(fields, tensors, doing)
        return self._reply(doing, payload_limit=framing.PAYLOAD_LIMIT if returns_tensors else 0)

    def _send(self, fields: dict[str, Any], tensors: Sequence[torch.Tensor], doing: str) -> None:
        self._nonce = secrets.token_hex(8)
        with self._waiting(doing) as pause:
            framing.send(self.channel, framing.WireMessage({**fields, "nonce": self._nonce}, tuple(tensors)), pause)

    def _reply(self, doing: str, *, payload_limit: int = 0) -> framing.WireMessage:
        with self._waiting(doing) as pause:
            reply = framing.receive(self.channel, pause, header_limit=REPLY_LIMIT, payload_limit=payload_limit)
        return self._without_fault(reply)

    @contextlib.contextmanager
    def _uncounted(self) -> Iterator[None]:
        """Do not count this time against the job's deadline: it is the judge's own."""
        left_s = self.left_s
        self.left_s = max(left_s, BENCH_S)
        try:
            yield
        finally:
            self.left_s = left_s

    def _returned(self, reply: framing.WireMessage) -> tuple[Returned, ...]:
        """Read what several calls returned."""
        with self._reading("outputs"):
            return tuple(
                Returned(
                    outputs=tuple(encoding.unpacked_output(each, reply.tensors) for each in described["outputs"]),
                    container=str(described["container"])[:40],
                    seconds=0.0,
                )
                for described in reply.fields["returned"]
            )

    @contextlib.contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Around reading a reply, in which a candidate worker can send anything. what: it was asked for."""
        try:
            yield
        except NONSENSE as error:
            raise self._marked(CandidateFault("protocol", f"It sent no {what}: {_cut(error)}")) from error

    @contextlib.contextmanager
    def _waiting(self, doing: str) -> Iterator[framing.Pause]:
        """Around sending and receiving: count the time, and turn every failure into a CandidateEnd."""
        if self._over is not None:
            raise self._over
        start = time.monotonic()
        try:
            yield self._pause(doing, start + self.left_s)
        except framing.WireClosed:
            raise self._gone(doing) from None
        except framing.WireError as error:
            raise self._ended(CandidateFault("protocol", f"It sent nonsense: {error}")) from error
        finally:
            self.left_s -= time.monotonic() - start

    def _without_fault(self, reply: framing.WireMessage) -> framing.WireMessage:
        if reply.fields.pop("nonce", None) != self._nonce:
            raise self._ended(CandidateFault("protocol", "It sent an answer that nobody had asked for."))
        if "fault" in reply.fields:
            words = {key: str(reply.fields.get(key, ""))[:TEXT_LIMIT] for key in ("fault", "text", "trace")}
            raise self._marked(CandidateFault(words["fault"], words["text"], words["trace"], _place(reply.fields)))
        return reply

    def _pause(self, doing: str, deadline: float) -> framing.Pause:
        """What waits for the channel while watching the deadline, the fork server, the scratch folder and the log."""

        def pause(channel: socket.socket, to_write: bool) -> None:
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or self.fork_server.place.given_up.is_set:
                    raise self._ended(CandidateTimeout(self.deadline_s, doing))
                # read the channel first: the fork server's report of the end must not overtake the last reply
                writing = [channel] if to_write else []
                reading = [self.fork_server.control] if to_write else [channel, self.fork_server.control]
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
        if too_much := sandbox.excess(self.fork_server.process.pid, self.limits):
            self.fork_server.stop()
            self._over = self._marked(CandidateGone(None, f"It was ended: {too_much} when asked to {doing}."))
            raise self._over
        folder = self.fork_server.folder
        if folder is not None and sandbox.folder_bytes(folder) > self.limits.scratch_bytes:
            limit = f"{self.limits.scratch_bytes >> 20} MiB"
            raise self._ended(
                CandidateGone(None, f"It was ended: it wrote more than {limit} to disk when asked to {doing}.")
            )

    def _gone(self, doing: str) -> CandidateEnd:
        """Find out how the worker ended; end it if it only closed its channel."""
        told = self.fork_server.hear(1.0)
        if told is None and self.fork_server.alive:
            told = self._end_worker()
        if told is None:
            self.fork_server.stop()
            self._over = CandidateGone(None, f"It ended its own process when asked to {doing}.")
        elif told.get("killed") and not told.get("why"):
            self._over = CandidateGone(None, f"It closed its channel to the judge when asked to {doing}.")
        else:
            code = told.get("ended")
            code = code if isinstance(code, int) else None
            why = f": {told['why']}" if told.get("why") else ""
            self._over = CandidateGone(code, f"It died when asked to {doing}: {_ending(code)}{why}.")
        return self._marked(self._over)

    def _end_worker(self) -> dict[str, Any] | None:
        """Have the fork server end the worker, and return its report. A fork server that does not obey is stopped."""
        try:
            self.fork_server.control.send(json.dumps({"end": True}).encode(), socket.MSG_NOSIGNAL)
        except OSError:
            self.fork_server.stop()
            return None
        told = self.fork_server.hear(PATIENCE_S)
        if told is None or "ended" not in told:
            self.fork_server.stop()
            return None
        return told

    def _ended(self, end: CandidateEnd) -> CandidateEnd:
        """End the worker for good, for this reason."""
        self._end_worker()
        self._over = self._marked(end)
        return self._over

    def _marked(self, end: CandidateEnd) -> CandidateEnd:
        end.who = self.who
        return end


def _described(given: Given) -> Any:
    return to_json(given) if isinstance(given, TensorForm) else framing.number_to_json(given)


def _is_time(claimed: float) -> bool:
    return math.isfinite(claimed) and claimed >= 0


def _ending(code: int | None) -> str:
    if code is None:
        return "for an unknown reason"
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


def _cut(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _place(told: Mapping[str, Any]) -> ErrorPlace | None:
    """The line that a reply blames, cut to what can be shown."""
    line = _count(told.get("line"))
    names = [str(told.get(each, ""))[:PLACE_CHARACTERS] for each in ("file", "function")]
    return ErrorPlace(names[0], line, names[1]) if line and names[0] else None


def _compiled(told: Any) -> CompiledKernel:
    """Read one kernel from a reply, in which any text and number may stand, cut to what can be shown."""

    def text(key: str) -> str:
        return str(told.get(key, ""))[: TEXT_CHARACTERS + 100]

    return CompiledKernel(
        name=str(told["name"])[:200],
        target=str(told["target"])[:20],
        ran=told["ran"] is True,
        launches=_count(told["launches"]) or 0,
        num_warps=_count(told.get("num_warps")),
        num_stages=_count(told.get("num_stages")),
        shared_bytes=_count(told.get("shared_bytes")),
        registers=_count(told.get("registers")),
        spills=_count(told.get("spills")),
        ttir=text("ttir"),
        ttgir=text("ttgir"),
        ptx=text("ptx"),
        problem=str(told.get("problem", ""))[:TEXT_LIMIT],
    )


def _traced_launch(told: Any) -> TracedLaunch:
    """Read one launch of a trace. Raises ValueError if it holds more than a trace may."""
    launch = from_json(TracedLaunch, told)
    accesses = [access for program in launch.programs for access in program.accesses]
    texts = [launch.kernel, *(text for constant in launch.constants for text in constant)]
    texts += [text for each in launch.tensors for text in (each.name, each.dtype, each.source)]
    texts += [text for each in accesses for text in (each.file, *each.values)]
    fits = len(launch.programs) <= MOST_PROGRAMS and max(map(len, texts)) <= PLACE_CHARACTERS
    fits &= max(len(launch.tensors), len(launch.constants)) <= MOST_ARGUMENTS
    fits &= all(len(each.accesses) <= MOST_ACCESSES for each in launch.programs)
    fits &= all(len(each.elements) <= MOST_LANES for each in accesses)
    if not fits:
        raise ValueError("it holds more than a trace may")
    return launch


def _count(told: Any) -> int | None:
    return told if type(told) is int and 0 <= told < 1 << 31 else None
