"""How a candidate's outputs compare with eager's, and where they are wrong."""

import math
from dataclasses import dataclass

from passnet_core.records.enums import Verdict

LEVELS = tuple(range(-10, 5))
"""The tolerance levels t of ES(t) in the default interpretation."""


MOST_CELLS = 4096
"""Of a map of errors."""


@dataclass(frozen=True)
class Neighbourhood:
    """The elements around one of an output, row by row along its last two axes. first: the index of the first one.

    wrong: which of them are.
    """

    first: tuple[int, ...]
    expected: tuple[tuple[float, ...], ...]
    actual: tuple[tuple[float, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]

    def __post_init__(self) -> None:
        widths = {len(row) for table in (self.expected, self.actual, self.wrong) for row in table}
        if len(widths) != 1 or not len(self.expected) == len(self.actual) == len(self.wrong):
            raise ValueError("The tables of a neighbourhood are of one size.")


@dataclass(frozen=True)
class ErrorMap:
    """Where an output is wrong, and what its errors have in common, in the drawing in which it is worst.

    The output is laid out as a table: its columns run over the axes from `axis` on, its rows over those before. Of the
    table's cells, `rows` times `columns` and each as large as the others but for the last ones, `cells` has the largest
    error over what is allowed there, row by row, in two digits: above 1 is wrong, infinity is a NaN or an infinity that
    should not be, or should. Whole numbers may be off by less than one half.
    """

    axis: int
    rows: int
    columns: int
    cells: tuple[float, ...]
    wrong: int
    """How many elements are."""
    spans: tuple[tuple[int, int], ...]
    """Per axis, the first place at which some element is wrong, and one past the last."""
    flat: tuple[int, int]
    """The same of the elements one after the other."""
    core: tuple[tuple[int, int], ...] | None = None
    """The same of a much smaller part that holds nearly all of them, or the largest errors; core_wrong: how many."""
    core_wrong: int = 0
    value: float | None = None
    """What all wrong elements are, of the core if there is one, where they are one value."""
    factor: float | None = None
    """What nearly all of them are multiplied by."""
    offset: float | None = None
    """By what nearly all of them are off."""
    relative: float | None = None
    """The median of their errors over what is expected."""
    large_from: float | None = None
    """Nearly all elements that are expected to be so large are wrong, and hardly any smaller one."""
    rearranged: bool = False
    """The output has the right values, in other places."""
    around: Neighbourhood | None = None
    """The worst element's."""

    def __post_init__(self) -> None:
        if not 0 < len(self.cells) == self.rows * self.columns <= MOST_CELLS or self.rows < 0 or self.wrong < 1:
            raise ValueError("A map has a number for each of its cells, and some element is wrong.")

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether it can be the map of an output of this shape."""
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
    """How one output compares with eager, over all drawings.

    smallest_t: the smallest t from -10 to 0 at which every drawing is close, None: not even at 0.
    correct_at: every t in LEVELS at which every drawing is close. Errors are absolute; None where they have no meaning.
    index: of the worst element; profile: the drawing it was in, and verdict what that alone would mean. wrong_in: the
    drawings in which it is wrong or imprecise.
    """

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
            raise ValueError(f"The map is not that of an output of the shape {list(self.shape)}.")


@dataclass(frozen=True)
class Accuracy:
    outputs: tuple[OutputAccuracy, ...]
    profiles: tuple[str, ...]
    """The drawings that were compared."""
    reduced: str = ""
    """Why and to what sizes the inputs were reduced; empty: recorded sizes."""

    def correct_at(self, t: int) -> bool:
        return all(t in output.correct_at for output in self.outputs)

    @property
    def smallest_t(self) -> int | None:
        levels = [output.smallest_t for output in self.outputs]
        known = [t for t in levels if t is not None]
        return max(known) if known and len(known) == len(levels) else None
