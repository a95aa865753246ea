"""A bench in the witness, and the referee's side of it. Both are the judge's own code; between them lies the wire."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch

from passnet_core.errors import BadInput
from passnet_core.judge import returns, wire
from passnet_core.judge.bench import Bench, BenchHere, Judged, Plan
from passnet_core.judge.candidacy import CandidateFault, Computing, Returned
from passnet_core.judge.inputs import Drawn
from passnet_core.records import Device, from_json, to_json


class WitnessFailed(Exception):
    """What compares in the witness has a bug: what it raised, with its trace."""


class Ask(Protocol):
    """Asks the witness. counted: whether the time it takes is that of the job. Raises CandidateEnd."""

    def __call__(
        self, fields: dict[str, Any], tensors: Sequence[torch.Tensor] = (), *, counted: bool = False
    ) -> wire.Message: ...


class BenchAtWitness:
    """A Bench whose tensors lie in the witness."""

    def __init__(self, plan: Plan, ask: Ask) -> None:
        self._ask = ask
        self._asked({"step": "begin", "plan": to_json(plan)})

    def draw(self, drawing: str, shapes: Sequence[Sequence[int]]) -> None:
        self._asked({"step": "draw", "drawing": drawing, "shapes": [list(shape) for shape in shapes]})

    def exchange(self) -> None:
        self._asked({"step": "exchange"})

    def refer(self, *, exact: bool) -> str:
        return str(self._asked({"step": "refer", "exact": exact}, counted=True).fields["said"])

    def taken(self) -> list[Drawn]:
        reply = self._asked({"step": "taken"})
        return wire.unpack_inputs(reply.fields["inputs"], reply.tensors)

    def control(self) -> str:
        return str(self._asked({"step": "control"}).fields["said"])

    def compile(self) -> None:
        self._asked({"step": "compile"}, counted=True)

    def judge(self, actual: Returned | None, *, fresh: bool = True) -> Judged:
        asked: dict[str, Any] = {"step": "judge", "fresh": fresh, "actual": None}
        tensors: Sequence[torch.Tensor] = ()
        if actual is not None:
            asked["actual"], tensors = returns.packed(actual)
        return from_json(Judged, self._asked(asked, tensors, counted=actual is None).fields["judged"])

    def _asked(
        self, fields: dict[str, Any], tensors: Sequence[torch.Tensor] = (), *, counted: bool = False
    ) -> wire.Message:
        reply = self._ask({"do": "bench", **fields}, tensors, counted=counted)
        if "unfit" in reply.fields:
            raise BadInput(str(reply.fields["unfit"]))
        if "bug" in reply.fields:
            raise WitnessFailed(str(reply.fields["bug"]))
        return reply


class ServedBench:
    """The witness's side: answers what BenchAtWitness asks."""

    def __init__(self, witness: Computing, device: Device) -> None:
        self.witness = witness
        self.device = device
        self.bench: Bench | None = None

    def answer(self, request: wire.Message) -> wire.Message:
        """Raises CandidateFault where what the witness computes fails, and what torch raises where memory is short."""
        steps: Mapping[str, Callable[[wire.Message], wire.Message | None]] = {
            "begin": self._begin,
            "draw": self._draw,
            "exchange": lambda request: self._there.exchange(),
            "refer": lambda request: wire.Message({"said": self._there.refer(exact=request.fields["exact"])}),
            "taken": self._taken,
            "control": lambda request: wire.Message({"said": self._there.control()}),
            "compile": lambda request: self._there.compile(),
            "judge": self._judge,
        }
        try:
            with torch.no_grad():
                return steps[request.fields["step"]](request) or wire.Message({})
        except (CandidateFault, MemoryError, torch.cuda.OutOfMemoryError):
            raise
        except BadInput as error:
            return wire.Message({"unfit": str(error)})
        except Exception:  # a bug of the judge: it must not pass for one of the subgraph
            return wire.Message({"bug": traceback.format_exc()[-8000:]})

    @property
    def _there(self) -> Bench:
        assert self.bench is not None
        return self.bench

    def _begin(self, request: wire.Message) -> None:
        self.bench = BenchHere(from_json(Plan, request.fields["plan"]), self.witness, self.device)

    def _draw(self, request: wire.Message) -> None:
        self._there.draw(request.fields["drawing"], request.fields["shapes"])

    def _taken(self, request: wire.Message) -> wire.Message:
        places, tensors = wire.pack_inputs(self._there.taken())
        return wire.Message({"inputs": places}, tuple(tensors))

    def _judge(self, request: wire.Message) -> wire.Message:
        told = request.fields["actual"]
        actual: Returned | None = None
        if told is not None:
            there = [each.to(self.device.value) for each in request.tensors]
            actual = returns.unpacked(told, there)
        return wire.Message({"judged": to_json(self._there.judge(actual, fresh=request.fields["fresh"]))})
