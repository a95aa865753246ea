"""The referee's side of a reference bench whose tensors live in the reference worker."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch

from passnet_core.errors import BadInput
from passnet_core.judge.protocol import encoding, framing
from passnet_core.judge.protocol.messages import Returned
from passnet_core.judge.protocol.reference_bench import BenchPlan, Drawn, Judged, TellingDraws
from passnet_core.records import from_json, to_json


class WitnessFailed(Exception):
    """The comparison in the reference worker raised: a bug of the judge, with its traceback."""


class Ask(Protocol):
    """Asks the reference worker. counted: its time counts against the job's deadline. Raises CandidateEnd."""

    def __call__(
        self, fields: dict[str, Any], tensors: Sequence[torch.Tensor] = (), *, counted: bool = False
    ) -> framing.WireMessage: ...


class RemoteReferenceBench:
    """A ReferenceBench that forwards every step to the reference worker."""

    def __init__(self, plan: BenchPlan, ask: Ask) -> None:
        self._ask = ask
        self._asked({"step": "begin", "plan": to_json(plan)})

    def draw(self, drawing: str, shapes: Sequence[Sequence[int]]) -> None:
        self._asked({"step": "draw", "drawing": drawing, "shapes": [list(shape) for shape in shapes]})

    def redraw(self, kept: Sequence[int]) -> None:
        self._asked({"step": "redraw", "kept": list(kept)})

    def refer(self, *, exact: bool) -> str:
        return str(self._asked({"step": "refer", "exact": exact}, counted=True).fields["said"])

    def taken(self) -> list[Drawn]:
        reply = self._asked({"step": "taken"})
        return framing.unpack_inputs(reply.fields["inputs"], reply.tensors)

    def telling(self, source: str, shapes: Sequence[Sequence[int]]) -> TellingDraws:
        asked = {"step": "telling", "source": source, "shapes": [list(shape) for shape in shapes]}
        return from_json(TellingDraws, self._asked(asked).fields["telling"])

    def control(self) -> str:
        return str(self._asked({"step": "control"}).fields["said"])

    def compile(self) -> None:
        self._asked({"step": "compile"}, counted=True)

    def judge(self, actual: Returned | None) -> Judged:
        asked: dict[str, Any] = {"step": "judge", "actual": None}
        tensors: Sequence[torch.Tensor] = ()
        if actual is not None:
            asked["actual"], tensors = encoding.packed(actual)
        return from_json(Judged, self._asked(asked, tensors, counted=actual is None).fields["judged"])

    def _asked(
        self, fields: dict[str, Any], tensors: Sequence[torch.Tensor] = (), *, counted: bool = False
    ) -> framing.WireMessage:
        reply = self._ask({"do": "bench", **fields}, tensors, counted=counted)
        if "unfit" in reply.fields:
            raise BadInput(str(reply.fields["unfit"]))
        if "bug" in reply.fields:
            raise WitnessFailed(str(reply.fields["bug"]))
        return reply
