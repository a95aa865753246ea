"""Every element of an output against its references, slice by slice.

A comparison computes a dozen numbers of each element in float64. Of one slice they stay in the processor's cache, or
take little of a GPU's memory; of an output of a hundred million elements they would take more than there is. What an
element may be off by depends on all others, by way of three figures, which take a round of their own where they are
needed. The measures are comparing's.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch

from passnet_core.judge.numerics.error_map import Errors
from passnet_core.records import LEVELS
from passnet_core.scoring.tolerances import tolerance

FACTOR = 4.0
FALLBACK_T = -3
CANCELLED = 8.0
SIMILAR_BINADES = 1
"""Elements up to twice as large as one count among those of its size."""

SLACK_UNITS = {torch.float16: 1.0, torch.bfloat16: 1.0, torch.float32: 16.0, torch.float64: 16.0}
"""Half precision: computed in float32 and rounded once, a result is at most one unit off. Single precision: the order
of a sum and another form of exp or tanh cost a few units, while lower precision than asked costs thousands."""

COARSER = {torch.float16: 2.0**3, torch.bfloat16: 2.0, torch.float32: 2.0**16, torch.float64: 2.0**29}
"""By how much one unit of the next dtype down is larger: bfloat16 for float32 and float16, float32 for float64."""

COARSE_UNITS = 4.0
COARSEST = 0.25
"""Of an element or of the mean one, whichever is larger: what is off by more is no matter of precision."""

SENSITIVE = 2.0**-10
"""Of an element or of the mean one: what one unit of the inputs changes by more says nothing of other elements. It may
have tipped a decision."""

WHOLE = 0.5
"""Whole numbers are equal or wrong: by so much or more."""

TIPPED = 1e-4
"""The share of whole numbers that rounding may decide, or one: of two that are nearly alike, which is the larger."""

HALF = (torch.float16, torch.bfloat16)

SLICE = {"cpu": 1 << 18, "cuda": 1 << 25}
"""Elements of a slice."""

LEAST_EXPONENT, MOST_EXPONENT = -1100, 1100
"""Beyond those of float64."""

WIDER = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}


@dataclass(frozen=True)
class ElementSlice:
    """Some elements, in float64. same: equal, or both no number; these have no error."""

    start: int
    expected: torch.Tensor
    actual: torch.Tensor
    exact: torch.Tensor | None
    moved: Sequence[torch.Tensor]
    error: torch.Tensor
    same: torch.Tensor


@dataclass(frozen=True)
class Found:
    """Of a slice: which elements' errors mean something, which are wrong, whether all of those are only too coarse, by
    how much each is off, by how much it may be."""

    finite: torch.Tensor
    wrong: torch.Tensor
    coarse: bool
    off: torch.Tensor
    allowed: torch.Tensor | float


@dataclass
class ErrorCounts:
    """What is known of all elements. Places count them through; of the wrong one that is farthest off, of the first
    wrong one that is not finite, of the one that is farthest off."""

    close: dict[int, bool]
    wrong: int = 0
    coarse: bool = True
    masks: list[torch.Tensor] = field(default_factory=list)
    """Which elements are wrong, of each slice; empty where none is."""
    worst: int = 0
    first_not_finite: int | None = None
    farthest: int = 0
    max_error: float | None = None
    mean_error: float | None = None


class Elements:
    """An output's elements, as real numbers. exact and moved have its shape; actual has its dtype too."""

    def __init__(
        self,
        dtype: str,
        eager: torch.Tensor,
        actual: torch.Tensor,
        exact: torch.Tensor | None,
        moved: Sequence[torch.Tensor] = (),
        whole: int | None = None,
    ) -> None:
        """whole: how many elements the output has, where these are some of them."""
        self.dtype, self.kind = dtype, torch_dtype(dtype)
        self.floating = eager.is_floating_point()
        self.shape = eager.shape
        self.eager, self.actual = eager.reshape(-1), actual.reshape(-1)
        self.exact = None if exact is None else exact.reshape(-1)
        self.moved = [each.reshape(-1) for each in moved]
        self.whole = len(self) if whole is None else whole

    def __len__(self) -> int:
        return self.eager.numel()

    def _parts(self) -> Iterator[slice]:
        length = SLICE[self.eager.device.type]
        for start in range(0, len(self), length):
            yield slice(start, start + length)

    def slices(self) -> Iterator[ElementSlice]:
        for part in self._parts():
            expected, actual = self.eager[part].double(), self.actual[part].double()
            error = (actual - expected).abs()
            same = (expected == actual) | (expected.isnan() & actual.isnan())
            error[same] = 0.0
            yield ElementSlice(
                start=part.start,
                expected=expected,
                actual=actual,
                exact=None if self.exact is None else self.exact[part].double(),
                moved=[each[part].double() for each in self.moved],
                error=error,
                same=same,
            )

    def overflowed(self) -> bool:
        """Whether eager has infinity or no number where float64 has a number that eager's dtype could hold: what it
        computed on the way was too large."""
        if self.exact is None or not self.floating:
            return False
        for part in self._parts():
            lost = ~self.eager[part].double().isfinite()
            if bool(lost.any()):
                exact = self.exact[part].double()
                if bool((lost & exact.isfinite() & ~_beyond(exact, self.eager.dtype)).any()):
                    return True
        return False

    # --- figures of all elements ---

    @cached_property
    def tipped(self) -> bool:
        """Whether so few whole numbers differ that rounding may have decided these, as it decided some of eager's:
        inputs moved by one unit tell."""
        if self.exact is None or self.floating:
            return False
        own = int((self.eager != self.exact).sum())
        return 0 < int(self.differing.sum()) <= FACTOR * own + max(1.0, TIPPED * self.whole)

    @cached_property
    def differing(self) -> torch.Tensor:
        """Which whole numbers are neither eager's nor, where eager was thrown by its rounding, float64's."""
        differing = self.eager != self.actual
        if self.exact is not None:
            differing &= self.exact != self.actual
        return differing

    def accept(self, others: Iterable[torch.Tensor]) -> None:
        """Lets whole numbers be those of one of these, of which it takes no more than it needs."""
        for each in others:
            self.differing &= each.reshape(-1) != self.actual
            if not bool(self.differing.any()):
                return

    @cached_property
    def least(self) -> float:
        """The median size, by float64: smaller elements have the units of this one."""
        if self.exact is None or not len(self):
            return 0.0
        sampled = self.exact[:: max(1, len(self) // 100_000)].double()
        return float(_finite_size(sampled).median())

    @cached_property
    def typical(self) -> float:
        """The mean size, by float64."""
        total, count = 0.0, 0
        for each in self.slices():
            assert each.exact is not None
            finite = each.exact.isfinite()
            total += float(torch.where(finite, each.exact.abs(), 0.0).sum())
            count += int(finite.sum())
        return total / count if count else 0.0

    @cached_property
    def lost(self) -> bool:
        """Whether eager is anywhere off by more than the number and the mean one: rounding alone decides what it is."""
        for each in self.slices():
            assert each.exact is not None
            if bool((self._own(each, each.exact) > _finite_size(each.exact).clamp(min=self.typical)).any()):
                return True
        return False

    @cached_property
    def largest_errors(self) -> torch.Tensor:
        """Per binade, the largest error of eager among elements of that size or smaller, with what their inputs' own
        rounding does: in half precision where eager is lost, in single precision also elsewhere, but for what that
        changes beyond SENSITIVE."""
        lost = bool(self.moved) and self.lost
        size = MOST_EXPONENT - LEAST_EXPONENT + 2 + SIMILAR_BINADES
        largest = torch.zeros(size, dtype=torch.float64, device=self.eager.device)
        for each in self.slices():
            assert each.exact is not None
            own = self._own(each, each.exact)
            if self.moved and (lost or self.kind not in HALF):
                change = self._change(each, each.exact)
                level = _finite_size(each.exact).clamp(min=self.typical)
                own = own + (change if lost else torch.where(change <= SENSITIVE * level, change, 0.0))
            largest.scatter_reduce_(0, _binade(_finite_size(each.exact)), own, "amax")
        return largest.cummax(0).values

    # --- one slice ---

    def plain(self, part: ElementSlice) -> torch.Tensor:
        """Which elements pass the least bound: they are right, whatever the others are."""
        if not self.floating:
            return part.same
        if part.exact is None:
            return part.same | (self._finite(part) & (part.error <= self._close(part)))
        off = (part.actual - part.exact).abs()
        bound = SLACK_UNITS[self.kind] * self._units(part.exact)
        return part.same | (part.actual.isfinite() & part.exact.isfinite() & (off <= bound))

    def found(self, part: ElementSlice, *, bounded: bool = False) -> Found:
        """bounded: what each element may be off by is wanted, also where that need not be known."""
        if not self.floating:
            wrong = self.differing[part.start : part.start + part.expected.numel()]
            return Found(torch.ones_like(part.same), wrong, False, part.error, WHOLE)
        finite, right = self._finite(part), self.plain(part)
        if part.exact is None:
            return Found(finite, ~right, False, part.error, self._close(part))
        if not bounded and bool(right.all()):
            return Found(finite, ~right, False, part.error, part.error)
        size, units = _finite_size(part.exact), self._units(part.exact)
        off = (part.actual - part.exact).abs()
        own = self._own_errors(part, part.exact, size, units)
        bound = FACTOR * own + SLACK_UNITS[self.kind] * units
        right = part.same | (part.actual.isfinite() & part.exact.isfinite() & (off <= bound))
        # where eager overflowed and float64 did not, a finite result is the better one; and beyond the dtype's range
        # both infinity and the largest number will do
        alike = part.actual.sign() == part.exact.sign()
        right |= _beyond(part.exact, self.kind) & alike & _beyond(part.actual, self.kind, within=2**-6)
        if bool(right.all()):
            return Found(finite, ~right, False, off, bound)
        # small elements may be differences of large ones
        level = part.exact.abs().clamp(min=self.typical)
        coarser = COARSER[self.kind] * (FACTOR * own + COARSE_UNITS * _unit(self.kind, level))
        coarse = (off <= coarser.minimum(COARSEST * level)) | (part.error <= self._close(part))
        coarse &= finite & part.exact.isfinite()
        return Found(finite, ~right, bool((right | coarse).all()), off, bound)

    def _finite(self, part: ElementSlice) -> torch.Tensor:
        return part.expected.isfinite() & part.actual.isfinite()

    def _close(self, part: ElementSlice) -> torch.Tensor:
        allowed = tolerance(self.dtype, FALLBACK_T)
        return allowed.atol + allowed.rtol * part.expected.abs()

    def _closeness(self, part: ElementSlice) -> dict[int, bool]:
        """Per level, whether every element is close. NaN is close to NaN, infinity to the same infinity.

        A tolerance grows with t: who is close at one level is looked at no more.
        """
        if bool(part.same.all()):
            return dict.fromkeys(LEVELS, True)
        other = ~part.same
        off, size = part.error[other], part.expected[other].abs()
        # an infinite reference would make every value close to it
        if not bool((off.isfinite() & size.isfinite()).all()):
            return dict.fromkeys(LEVELS, False)
        found = {}
        for t in sorted(LEVELS):
            allowed = tolerance(self.dtype, t)
            if off.numel():
                far = off > allowed.atol + allowed.rtol * size
                off, size = off[far], size[far]
            found[t] = not off.numel()
        return found

    def _units(self, exact: torch.Tensor) -> torch.Tensor:
        return _unit(self.kind, _finite_size(exact).clamp(min=self.least))

    def _own(self, part: ElementSlice, exact: torch.Tensor) -> torch.Tensor:
        own = (part.expected - exact).abs()
        return torch.where(own.isfinite(), own, 0.0)

    def _change(self, part: ElementSlice, exact: torch.Tensor) -> torch.Tensor:
        """What its inputs' own rounding does."""
        change = torch.zeros_like(exact)
        for each in part.moved:
            # no number in one of them makes it none
            change = change.maximum((each - exact).abs())
        return torch.where(change.isfinite(), change, 0.0)

    def _own_errors(
        self, part: ElementSlice, exact: torch.Tensor, size: torch.Tensor, units: torch.Tensor
    ) -> torch.Tensor:
        """Per element, what eager is off by, with what its inputs' own rounding does."""
        own = self.largest_errors[_binade(size) + SIMILAR_BINADES]
        change = self._change(part, exact)
        if self.kind not in HALF:
            return own.maximum(self._own(part, exact) + change)
        return own.maximum(units / 2).maximum(torch.where(CANCELLED * change >= size, change, 0.0))

    # --- all slices ---

    def tally(self) -> ErrorCounts:
        tally = ErrorCounts(dict.fromkeys(LEVELS, True))
        worst, farthest, most, total, measured = -2.0, -2.0, -1.0, 0.0, 0
        for part in self.slices():
            found = self.found(part)
            for t, close in self._closeness(part).items():
                tally.close[t] &= close
            known = part.error.isfinite()
            shown, counts = torch.where(known, part.error, -1.0), found.finite & known
            if bool(found.wrong.any()):
                tally.wrong += int(found.wrong.sum())
                tally.coarse &= found.coarse
                if tally.first_not_finite is None and bool((found.wrong & ~found.finite).any()):
                    tally.first_not_finite = part.start + int((found.wrong & ~counts).double().argmax())
                here = torch.where(found.wrong, shown, -1.0)
                place = int(here.argmax())
                if float(here[place]) > worst:
                    worst, tally.worst = float(here[place]), part.start + place
            tally.masks.append(found.wrong)
            place = int(shown.argmax())
            if float(shown[place]) > farthest:
                farthest, tally.farthest = float(shown[place]), part.start + place
            total += float(torch.where(counts, part.error, 0.0).sum())
            measured += int(counts.sum())
            most = max(most, float(torch.where(counts, part.error, -1.0).max()))
        if measured:
            tally.max_error, tally.mean_error = most, total / measured
        if not tally.wrong:
            tally.masks.clear()
        return tally

    def wrong(self, tally: ErrorCounts) -> torch.Tensor:
        """Which elements are wrong, in the output's shape."""
        return torch.cat(tally.masks).reshape(self.shape)

    def errors(self) -> Errors:
        """All that a map of what is wrong is drawn from: of every element at once."""
        columns: dict[str, list[torch.Tensor]] = {
            name: [] for name in ("expected", "actual", "off", "allowed", "wrong")
        }
        for part in self.slices():
            found = self.found(part, bounded=True)
            allowed = found.allowed
            if not isinstance(allowed, torch.Tensor):
                allowed = torch.full_like(part.error, allowed)
            for column, value in zip(
                columns.values(), (part.expected, part.actual, found.off, allowed, found.wrong), strict=True
            ):
                column.append(value)
        whole = {name: torch.cat(column).reshape(self.shape) for name, column in columns.items()}
        return Errors(**whole, dtype=getattr(torch, self.dtype))

    def suspects(self, most: int) -> torch.Tensor:
        """The places of elements that the least bound does not let pass; about so many of more."""
        parts = -(-len(self) // SLICE[self.eager.device.type])
        most_here = max(1, most // max(1, parts))
        found = [torch.empty(0, dtype=torch.int64, device=self.eager.device)]
        for part in self.slices():
            places = (~self.plain(part)).nonzero().reshape(-1) + part.start
            found.append(places[:: -(-places.numel() // most_here) or 1])
        return torch.cat(found)


def torch_dtype(dtype: str) -> torch.dtype:
    """By whose units elements are judged: those of a complex number's parts; of 8 bits, bfloat16's."""
    found: torch.dtype = getattr(torch, WIDER.get(dtype, dtype))
    return found if found in SLACK_UNITS else torch.bfloat16


def _binade(size: torch.Tensor) -> torch.Tensor:
    """Of finite numbers of this size, which binade: of the smallest, 0."""
    _, exponent = torch.frexp(size)
    # zeros are the smallest of all
    exponent = torch.where(size == 0, LEAST_EXPONENT, exponent.long())
    return exponent.clamp(LEAST_EXPONENT, MOST_EXPONENT) - LEAST_EXPONENT


def _beyond(value: torch.Tensor, dtype: torch.dtype, within: float = 2**-8) -> torch.Tensor:
    """Which values are larger than the largest of this dtype, or smaller by no more than this share of it."""
    return value.abs() >= torch.finfo(dtype).max * (1 - within)


def _finite_size(exact: torch.Tensor) -> torch.Tensor:
    return torch.where(exact.isfinite(), exact.abs(), 0.0)


def _unit(dtype: torch.dtype, size: torch.Tensor) -> torch.Tensor:
    """One unit in the last place of finite numbers of this size, which are in float64, as is what it returns."""
    info = torch.finfo(dtype)
    _, exponent = torch.frexp(size.clamp(min=info.smallest_normal))
    # a power of two by its bits: torch.ldexp computes it in single precision
    return ((exponent.long() + 1022) << 52).view(torch.float64) * info.eps
