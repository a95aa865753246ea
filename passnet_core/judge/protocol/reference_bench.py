"""What compares a call with eager: where the reference bench stands, the referee need not know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import torch

from passnet_core.judge.protocol.messages import Returned
from passnet_core.records import ErrorMap, TensorSpec, Verdict

Drawn: TypeAlias = torch.Tensor | int


@dataclass(frozen=True)
class InputRole:
    """What the computation does with an input. number: it is a plain int. variance: it must stay above zero.

    tables: (input, axis) that it indexes, so that its values stay below their sizes. index: it is an index at all.
    """

    number: bool = False
    variance: bool = False
    index: bool = False
    tables: tuple[tuple[str, int], ...] = ()


PLAIN_ROLE = InputRole()


@dataclass(frozen=True)
class BenchPlan:
    """What is compared. strict: with a float64 reference and controls. is_candidate: a candidate's returns, not
    Inductor's."""

    specs: tuple[TensorSpec, ...]
    roles: tuple[InputRole, ...]
    """Of each input."""
    seed: int
    strict: bool
    is_candidate: bool


@dataclass(frozen=True)
class OutputDifference:
    """How one output of one drawing differs. verdict None: right. wrong: as a share of its elements.

    subject: what differs, where it is not the output itself.
    """

    verdict: Verdict | None
    problem: str
    shape: tuple[int, ...]
    dtype: str
    correct_at: tuple[int, ...]
    smallest_t: int | None
    max_error: float | None = None
    mean_error: float | None = None
    index: tuple[int, ...] | None = None
    expected: float | None = None
    actual: float | None = None
    wrong_fraction: float = 0.0
    subject: str = ""
    map: ErrorMap | None = None

    def unlike(self, verdict: Verdict, problem: str) -> "OutputDifference":
        """The same output, wrong as a whole and close at no t."""
        return OutputDifference(verdict, problem, self.shape, self.dtype, (), None, wrong_fraction=1.0)


@dataclass(frozen=True)
class Layout:
    """Where the elements of an output lie. As in Produced."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    shares: tuple[str, ...]


@dataclass(frozen=True)
class InputDifference:
    """How an input that eager or the candidate changed differs after the call. by_eager, by_candidate: who did."""

    index: int
    by_eager: bool
    by_candidate: bool
    difference: OutputDifference


@dataclass(frozen=True)
class Judged:
    """How one call differs. values: per output. inputs: by the strict profile, of a candidate. layouts: of eager's
    outputs. problem: the returns have not even the same form."""

    values: tuple[OutputDifference, ...]
    inputs: tuple[InputDifference, ...] = ()
    layouts: tuple[Layout, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class RecheckedCall:
    """What is found of a timed call. digest: of what it returned. verdict: None where that is right."""

    digest: int
    verdict: Verdict | None = None
    problem: str = ""


class ReferenceBench(Protocol):
    """One verification's tensors. The witness has "eager" prepared, and "float64" and "baseline" where they are asked
    for."""

    def draw(self, drawing: str, shapes: Sequence[Sequence[int]]) -> None:
        """The inputs of a drawing, in these sizes. Raises BadInput for what cannot be drawn."""
        ...

    def exchange(self) -> None:
        """Two elements of each input that is drawn change places."""
        ...

    def refer(self, *, exact: bool) -> str:
        """Has eager compute on the inputs, and, if wanted, its float64 form; why that could not. Large inputs on which
        eager then overflows, and float64 does not, are drawn again, smaller. Raises CandidateEnd where eager could
        not."""
        ...

    def taken(self) -> list[Drawn]:
        """The inputs on the CPU, to be given to a candidate."""
        ...

    def control(self) -> str:
        """Tries the negative controls on the inputs; what no output has told from a computation yet, or empty."""
        ...

    def compile(self) -> None:
        """Calls the witness's "baseline" for the first time, on the inputs; what it returns is not looked at. Raises
        CandidateEnd where it could not compute."""
        ...

    def judge(self, actual: Returned | None, *, fresh: bool = True) -> Judged:
        """How these returns differ from eager's on the inputs. None: those of the witness's "baseline", which is called
        now, with its inputs at new addresses or not. Raises CandidateEnd where that could not compute."""
        ...
