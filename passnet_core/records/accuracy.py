"""How a candidate's outputs compare with eager's, and where they are wrong."""

import math
from dataclasses import dataclass

from passnet_core.records.enums import Verdict

LEVELS = tuple(range(-10, 5))
"""The tolerance levels t of ES(t) in the default interpretation."""

MOST_CELLS = 4096
"""The most cells that an error map may have."""


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
    """Where an output is wrong and what its errors have in common, for the input draw on which it is worst.

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
class OutputAccuracy:
    """How one output compares with eager's, over all input draws.

    output: its position, from 0. smallest_t: the smallest t from -10 to 0 at which the output is within tolerance on
    every draw; None: not even at 0. correct_at: every t in LEVELS with that property. max_error, mean_error: absolute,
    from the worst draw; None where no error can be computed, as for another shape.

    index, expected, actual: the worst element, with eager's value and the candidate's; None: no element differs.
    profile: the name of the draw with the worst element. wrong_fraction: the share of wrong elements on the worst draw.
    problem: what is wrong, in words; empty: nothing. verdict: what this output alone would lead to; None: it is right.
    wrong_in: the draws on which the output is wrong or imprecise. map: its error map; None: no element is wrong."""

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

    def __post_init__(self) -> None:
        if self.map is not None and not self.map.fits(self.shape):
            raise ValueError(f"The error map does not fit an output of the shape {list(self.shape)}.")


@dataclass(frozen=True)
class Accuracy:
    """How all outputs of a subgraph compare with eager's."""

    outputs: tuple[OutputAccuracy, ...]
    profiles: tuple[str, ...]
    """The names of the input draws that were compared."""
    reduced: str = ""
    """Why the inputs were made smaller, and to which sizes; empty: they have their recorded sizes."""

    def correct_at(self, t: int) -> bool:
        return all(t in output.correct_at for output in self.outputs)

    @property
    def smallest_t(self) -> int | None:
        """The smallest t at which every output is within tolerance; None: not even at 0."""
        levels = [output.smallest_t for output in self.outputs]
        known = [t for t in levels if t is not None]
        return max(known) if known and len(known) == len(levels) else None
