"""How a candidate's outputs compare with eager's, and where they are wrong.

Three words say how good a candidate is, wherever a person reads of it. The glossary has them as well.

- *Accepted* is a verdict: no rule is broken, and the values are right if the stage compares them.
- *Right* is what the verdict says of values, as in "right, faster". Every output is correct on every input set: its
  error against the float64 result is about as small as eager's own. It knows no tolerance level.
- *Within t* is a tolerance level of PassNet's. Every element of every output is as close to eager as level t asks, on
  every input set. The smallest t is the strictest such level from -10 to 0.

Right outputs need not be within any level: where eager itself is far from the float64 result, they may be far from
eager. Outputs within t = 0 need not be right: that level allows an error of 1 plus the size of the value.

A number of wrong elements is that of one output on one input set, and always has the form that counted gives it."""

import math
from dataclasses import dataclass

from passnet_core.records.enums import Verdict

LEVELS = tuple(range(-10, 5))
"""The tolerance levels t of ES(t) in the default interpretation."""

MOST_CELLS = 4096
"""The most cells that an error map may have."""

LOOSEST = 0
"""The highest level t for values. It allows an error of 1 plus the size of the value."""
BEYOND = f"beyond t = {LOOSEST}"
NOT_COMPARED = "not compared"
LEVELS_SAID = (
    f"The smallest t is the strictest of PassNet's tolerance levels, {LEVELS[0]} to {LOOSEST}, that all elements are"
    f" within, measured from eager, on every input set. Level {LOOSEST} allows an error of 1 plus the value's size,"
    f' so wrong outputs can be within it. "{BEYOND}" means within no level. A right output can be there too: the'
    " verdict compares with float64, and eager itself may be as far from that."
)
"""Explains the figures that OutputAccuracy.level and level_of give."""


def percent(part: float, whole: float) -> str:
    """A share as a percentage: "19.4 %", "0.002 %". Only exactly none is 0 %, and only exactly all is 100 %."""
    if part in (0, whole):
        return "100 %" if part else "0 %"
    # round the distance to the nearer end, so that neither end is ever reached
    near = 100 * min(part, whole - part) / whole
    digits = 1 if near >= 0.1 else -math.floor(math.log10(near))
    end = f"{near:.{digits}f}"
    return f"{end if 2 * part <= whole else f'{100 - float(end):.{digits}f}'} %"


def counted(wrong: int, size: int) -> str:
    """A number of wrong elements: "3 of 157,696 elements (0.002 %)"."""
    return f"{wrong:,} of {size:,} element{'' if size == 1 else 's'} ({percent(wrong, size)})"


def base_set(inputs: str) -> str:
    """The input set of a call: "typical" for "typical, at another address"."""
    return inputs.partition(",")[0]


@dataclass(frozen=True)
class Neighbourhood:
    """The elements around the worst element of an output: a window over its last two axes, as three tables of rows.
    first: the index in the output of the window's first element. expected: eager's values. actual: the candidate's."""

    first: tuple[int, ...]
    expected: tuple[tuple[float, ...], ...]
    actual: tuple[tuple[float, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]

    def __post_init__(self) -> None:
        widths = {len(row) for table in (self.expected, self.actual, self.wrong) for row in table}
        if len(widths) != 1 or not len(self.expected) == len(self.actual) == len(self.wrong):
            raise ValueError("The tables of a neighbourhood must have one size.")


@dataclass(frozen=True)
class ErrorMap:
    """Where an output is wrong and what its errors have in common, for the input set on which it is worst.

    The map lays the output out as a table: the axes before `axis` form the rows, the others the columns. It divides the
    table into `rows` × `columns` cells of equal size; the last ones may be smaller. `cells` holds, row by row, the
    largest quotient of error and allowed error in each cell, with two digits: above 1, an element is wrong; infinity
    marks a NaN or infinity on one side only. Integers may be off by less than one half.

    A fact that the errors do not show is None."""

    axis: int
    rows: int
    columns: int
    cells: tuple[float, ...]
    wrong: int
    """The number of wrong elements."""
    spans: tuple[tuple[int, int], ...]
    """Per axis, the range [begin, end) of indices that contains all wrong elements."""
    flat: tuple[int, int]
    """The range [begin, end) of flat (row-major) indices that contains all wrong elements."""
    core: tuple[tuple[int, int], ...] | None = None
    """Ranges like spans, of a much smaller block that contains nearly all wrong elements, or the largest errors."""
    core_wrong: int = 0
    """The number of wrong elements in the core."""
    value: float | None = None
    """The one value that all wrong elements have, or all wrong elements of the core."""
    factor: float | None = None
    """The factor by which nearly all wrong elements differ from the expected values."""
    offset: float | None = None
    """The difference between nearly all wrong elements and the expected values."""
    relative: float | None = None
    """The median relative error of the wrong elements."""
    large_from: float | None = None
    """The magnitude from which on nearly all elements are wrong; hardly any smaller element is."""
    rearranged: bool = False
    """Whether the output has the right values in other places."""
    around: Neighbourhood | None = None
    """The elements around the worst one."""

    def __post_init__(self) -> None:
        if not 0 < len(self.cells) == self.rows * self.columns <= MOST_CELLS or self.rows < 0 or self.wrong < 1:
            raise ValueError("An error map must have one number per cell and at least one wrong element.")

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether this can be the map of an output of this shape."""
        bounds = [self.spans, *([self.core] if self.core is not None else [])]
        inside = all(
            len(each) == len(shape) and all(0 <= begin < end <= size for (begin, end), size in zip(each, shape))
            for each in bounds
        )
        ranks = len(self.around.first) == len(shape) if self.around is not None else True
        height, width = math.prod(shape[: self.axis]), math.prod(shape[self.axis :])
        return inside and ranks and 0 <= self.axis <= len(shape) and self.rows <= height and self.columns <= width


@dataclass(frozen=True)
class FailedInputs:
    """Inputs on which an output is wrong or imprecise. inputs: their name, as "typical, at another address". wrong: how
    many of its elements, of `size`, are wrong there: 0 if they are imprecise only taken together. None: the output is
    wrong as a whole."""

    inputs: str
    verdict: Verdict
    wrong: int | None = None
    size: int = 0

    def __post_init__(self) -> None:
        if self.wrong is not None and not 0 <= self.wrong <= self.size:
            raise ValueError(f"{self.wrong} elements of an output of {self.size} cannot be wrong.")

    @property
    def words(self) -> str:
        """The inputs, with the number of wrong elements on them."""
        return f"{self.inputs}: {counted(self.wrong, self.size)}" if self.wrong else self.inputs


@dataclass(frozen=True)
class OutputAccuracy:
    """How one output compares with eager's, over all input sets. One of them is shown: the one on which it is worst.

    output: its position, from 0. smallest_t: the smallest t from -10 to 0 that the output is within on every input set;
    None: it is not even within 0. correct_at: every t in LEVELS with that property. max_error, mean_error: absolute,
    the largest of all input sets; None where no error can be computed, as for another shape.

    index, expected, actual: the worst element, with eager's value and the candidate's; None: no element differs.
    profile: the name of the shown input set. wrong: the number of wrong elements on it; None: the output is wrong as a
    whole, as one of another shape, or was stored when only shares were. wrong_fraction: their share of all elements; 1
    for an output that is wrong as a whole; where wrong is None and there is no map, the largest of all input sets.
    problem: what is wrong, in words; empty: nothing. verdict: what this output alone would lead to; None: it is right.
    wrong_in: the inputs on which the output is wrong or imprecise. failed: the same with more facts; empty if it was
    stored without. map: its error map; None: no element is wrong."""

    output: int
    shape: tuple[int, ...]
    dtype: str
    smallest_t: int | None
    correct_at: tuple[int, ...]
    max_error: float | None
    mean_error: float | None
    index: tuple[int, ...] | None = None
    expected: float | None = None
    actual: float | None = None
    profile: str = ""
    wrong_fraction: float = 0.0
    problem: str = ""
    verdict: Verdict | None = None
    wrong_in: tuple[str, ...] = ()
    map: ErrorMap | None = None
    wrong: int | None = None
    failed: tuple[FailedInputs, ...] = ()

    def __post_init__(self) -> None:
        if self.map is not None and not self.map.fits(self.shape):
            raise ValueError(f"The error map does not fit an output of the shape {list(self.shape)}.")
        if self.wrong is not None and not 0 <= self.wrong <= self.size:
            raise ValueError(f"{self.wrong} elements of an output of {self.size} cannot be wrong.")
        if self.map is not None and self.wrong not in (None, self.map.wrong):
            raise ValueError(f"{self.wrong} elements are wrong, but {self.map.wrong} in the error map.")

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def wrong_elements(self) -> int | None:
        """The number of wrong elements on the shown input set; None: they were not counted."""
        return self.map.wrong if self.wrong is None and self.map is not None else self.wrong

    @property
    def wrong_share(self) -> float:
        """The share of wrong elements on the shown input set, or wrong_fraction where they were not counted."""
        wrong = self.wrong_elements
        return self.wrong_fraction if wrong is None else wrong / max(1, self.size)

    @property
    def fails(self) -> bool:
        """Whether the output is wrong or imprecise, as far as the record tells."""
        return bool(self.verdict or self.problem or self.wrong_in or self.wrong_share)

    @property
    def wrong_words(self) -> str:
        """The number of wrong elements on the shown input set, in words; empty for a right output."""
        wrong = self.wrong_elements
        if wrong:
            return counted(wrong, self.size)
        if not self.fails:
            return ""
        if wrong == 0:
            return "no element by itself"
        if 0 < self.wrong_fraction < 1:
            return f"at most {percent(self.wrong_fraction, 1)} on any input set"
        return "as a whole" if self.wrong_fraction else "not counted"

    @property
    def failed_sets(self) -> tuple[str, ...]:
        """The input sets on which the output is wrong or imprecise, each once."""
        return tuple(dict.fromkeys(map(base_set, self.wrong_in or (each.inputs for each in self.failed))))

    @property
    def level(self) -> str:
        """The smallest t in words."""
        if self.smallest_t is None and self.index is None and self.max_error is None:
            return NOT_COMPARED
        return _level(self.smallest_t)


@dataclass(frozen=True)
class Accuracy:
    """How all outputs of a subgraph compare with eager's."""

    outputs: tuple[OutputAccuracy, ...]
    profiles: tuple[str, ...]
    """The names of the input sets that were compared."""
    reduced: str = ""
    """Why the inputs were made smaller, and to which sizes; empty: they have their recorded sizes."""

    def correct_at(self, t: int) -> bool:
        """Whether every output is within t on every input set."""
        return all(t in output.correct_at for output in self.outputs)

    @property
    def smallest_t(self) -> int | None:
        """The smallest t from -10 to 0 that every output is within on every input set; None: not even 0."""
        levels = [output.smallest_t for output in self.outputs]
        known = [t for t in levels if t is not None]
        return max(known, default=LEVELS[0]) if len(known) == len(levels) else None

    def failed_words(self, output: OutputAccuracy) -> str:
        """On how many input sets an output fails: "wrong on 7 of 7 input sets"; empty if none is known."""
        failed = output.failed_sets
        if not failed:
            return ""
        kinds = {each.verdict is Verdict.LOWER_PRECISION for each in output.failed} or {
            output.verdict is Verdict.LOWER_PRECISION
        }
        how = "wrong or imprecise" if len(kinds) > 1 else "imprecise" if True in kinds else "wrong"
        compared = len({*map(base_set, self.profiles), *failed})
        return f"{how} on {len(failed)} of {compared} input set{'' if compared == 1 else 's'}"


def level_of(accuracy: Accuracy | None) -> str:
    """The smallest t of all outputs in words."""
    if accuracy is None:
        return NOT_COMPARED
    unlike = next((each.level for each in accuracy.outputs if each.smallest_t is None), None)
    return unlike or _level(accuracy.smallest_t)


def _level(t: int | None) -> str:
    return BEYOND if t is None else f"{t} (loosest)" if t == LOOSEST else str(t)
