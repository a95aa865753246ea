"""The interface of a reference bench, which compares calls with eager on the device that holds the tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import torch

from passnet_core.judge.protocol.messages import Preparation, Returned
from passnet_core.records import ErrorMap, TensorSpec, Verdict

Drawn: TypeAlias = torch.Tensor | int


@dataclass(frozen=True)
class InputRole:
    """How the computation uses an input. number: it is a plain int. variance: its values must stay above zero.

    tables: the (input, axis) pairs that it indexes; its values stay below their sizes. index: it is used as an index.
    looked_up: the axes along which inputs, or what is computed, index it.
    whole: of integers, the range of which every value is safe at the recorded shapes; free: at any shapes.
    apart: other integers that are as safe. far: how far beyond whole they may be drawn.
    marks: literals of the graph at which results change, such as limits and padding ids. epsilons: those that it adds
    to variances and norms. guarded: it provides for infinities, or for values beyond a dtype's range. lost: those of
    "nan", "inf" and "-inf" that it tests this input for. halves: "value" if whole numbers are made of the input, "unit"
    if it scales such a value. grows: results change beyond ordinary sizes, as where half precision is widened.
    parameter: it belongs to a model, or the graph takes it as a weight. reduces: the graph does what is hard where rows
    are far from zero or from each other. ties: like halves, if compared values are made of the input. deep: -1 where it
    takes the maximum of rows that may lie far below zero, 1 for a minimum above. extreme: the same, where rows count of
    which nothing is left. slope: it scales the negative part of a value. spans: squares may leave the range of the
    dtype where the graph does not, or it tells zero from all others. power: nothing but its exponential is taken.
    masked: the graph takes a softmax or a maximum along an axis, masked_axis from the last:
    "added" if it masks elements before, by adding or choosing, else "alone".
    removed: the graph chooses among its elements. close: of integers, how far those may be drawn that are compared.
    small: the graph computes a function that is about linear at zero. near: it says where the largest elements stand.
    divides: it divides integers by it. ignored: of labels, one that a loss ignores. converts: it makes integers of
    floats, so that NaN on its way does not show. windows: it sums some of many neighbours."""

    number: bool = False
    variance: bool = False
    index: bool = False
    tables: tuple[tuple[str, int], ...] = ()
    looked_up: tuple[int, ...] = ()
    whole: tuple[int, int] | None = None
    free: bool = False
    apart: tuple[int, ...] = ()
    far: tuple[int, int] | None = None
    marks: tuple[float, ...] = ()
    epsilons: tuple[float, ...] = ()
    guarded: bool = False
    lost: tuple[str, ...] = ()
    halves: str = ""
    grows: bool = False
    parameter: bool = False
    reduces: bool = False
    ties: str = ""
    deep: int = 0
    extreme: int = 0
    slope: bool = False
    spans: bool = False
    power: bool = False
    masked: str = ""
    masked_axis: int = -1
    removed: bool = False
    close: int = 0
    small: bool = False
    near: bool = False
    divides: bool = False
    ignored: int | None = None
    converts: bool = False
    windows: bool = False


PLAIN_ROLE = InputRole()


@dataclass(frozen=True)
class BenchPlan:
    """What a bench compares. strict: use a float64 reference and negative controls as well, and ask for equal
    shapes. is_candidate: the calls to judge are the bundle's, not Inductor's."""

    specs: tuple[TensorSpec, ...]
    roles: tuple[InputRole, ...]
    """One for each input."""
    seed: int
    strict: bool
    is_candidate: bool


@dataclass(frozen=True)
class OutputDifference:
    """How one output differs from eager's on one input draw. verdict: None if the output is right.

    wrong: the number of wrong elements; None: the output is wrong as a whole. wrong_fraction: their share. subject:
    what differs, if it is not the output itself."""

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
    wrong: int | None = None

    def unlike(self, verdict: Verdict, problem: str) -> "OutputDifference":
        """The same output, judged wrong as a whole and close at no tolerance."""
        return OutputDifference(verdict, problem, self.shape, self.dtype, (), None, wrong_fraction=1.0)


@dataclass(frozen=True)
class SystematicError:
    """The errors of one output over a group of elements, on all input draws so far: see bias.py. ratio: their figure
    divided by its limit; beyond 1 they are no errors of rounding. where: words for the group, empty for all elements.
    direction: "upwards" or "away from zero" if the figure is a mean, empty if it is the root of the mean square. mean
    and eager: this figure of the output and of eager's, in ulps. share: the output's as a share of the elements. count:
    elements of the group, of so many. draws: input draws that have some. whole: the outputs are whole numbers, and the
    group are those that are off by one; share is theirs."""

    ratio: float
    where: str
    direction: str
    mean: float
    eager: float
    share: float
    count: int
    of: int
    draws: int
    whole: bool = False


@dataclass(frozen=True)
class Layout:
    """The memory layout of an output. The fields are those of Produced."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    shares: tuple[str, ...]


@dataclass(frozen=True)
class InputDifference:
    """How an input differs after the call if eager or the candidate changed it. by_eager, by_candidate: who did."""

    index: int
    by_eager: bool
    by_candidate: bool
    difference: OutputDifference


@dataclass(frozen=True)
class Judged:
    """How one call differs from eager. values: per output. inputs: only for a candidate under the strict profile.
    layouts: those of eager's outputs. problem: how the form of the returns differs, such as their number, or empty.
    systematic: per output, like inputs; None for an output that is wrong or not computed in half precision."""

    values: tuple[OutputDifference, ...]
    inputs: tuple[InputDifference, ...] = ()
    layouts: tuple[Layout, ...] = ()
    problem: str = ""
    systematic: tuple[SystematicError | None, ...] = ()

    @property
    def wrong(self) -> list[str]:
        """What is wrong with what the call returned, in words."""
        if self.problem:
            return [self.problem]
        return [f"output {index}: {each.problem}" for index, each in enumerate(self.values) if each.verdict is not None]


@dataclass(frozen=True)
class TellingDraws:
    """The input draws that tell a subgraph from its mutants. told: how many mutants they tell apart. untold: the names
    of those that differ from eager on some inputs, but never by more than the bound. alike: the names of those that
    gave the same values on all inputs that were tried. untried: how many others the limit of work left out."""

    draws: tuple[str, ...]
    told: int
    untold: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    untried: int = 0


@dataclass(frozen=True)
class RecheckedCall:
    """The result of checking a timed call. verdict: None if what it returned is right."""

    verdict: Verdict | None = None
    problem: str = ""


class Computing(Protocol):
    """Computes references: the witness, asked by the referee or from inside. The methods are those of WorkerProcess."""

    def prepare(self, name: str, preparation: Preparation) -> None: ...

    def give(self, inputs: Sequence[Drawn]) -> None: ...

    def run(self, name: str) -> Returned: ...


class ReferenceBench(Protocol):
    """The inputs, references and comparisons of one verification. The witness must have prepared "eager", and "float64"
    and "baseline" if they are used."""

    def draw(self, name: str, shapes: Sequence[Sequence[int]]) -> None:
        """Make the input draw of this name, in these shapes. Raises BadInput for an input that cannot be drawn."""

    def redraw(self, kept: Sequence[int]) -> None:
        """Draw the inputs anew, but those of these indices."""

    def refer(self, *, exact: bool) -> str:
        """Run eager on the inputs, and its float64 form if exact is true. Return why float64 failed, or an empty
        string; raise CandidateEnd if eager failed. Large inputs on which only eager overflows are drawn again,
        smaller."""

    def taken(self) -> list[Drawn]:
        """The inputs on the CPU, as they are given to a candidate."""

    def telling(self, source: str, shapes: Sequence[Sequence[int]]) -> TellingDraws:
        """Choose the input draws that tell this source, placed on the device, from its mutants at these shapes. Its
        inputs are lost: draw again. Raises CandidateEnd if the witness was lost."""

    def control(self) -> str:
        """Compare the negative controls with eager on the inputs. Return which of them still pass for every output, or
        an empty string."""

    def compile(self) -> None:
        """Run the witness's "baseline" on the inputs, so that it compiles; ignore what it returns. Raises CandidateEnd
        if it fails."""

    def judge(self, actual: Returned | None) -> Judged:
        """Compare these returns with eager's on the inputs. None: run the witness's "baseline" now and compare that.
        Raises CandidateEnd if it fails."""
