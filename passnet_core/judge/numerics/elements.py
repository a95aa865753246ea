"""Compare every element of an output with its references, slice by slice. comparing.py states the measures.

A comparison computes a dozen float64 numbers per element. Those of one slice stay in the processor's cache, or take
little of a GPU's memory; those of a hundred million elements would not fit. The bound of an element depends on all
others through four figures (least, typical, lost, largest_errors), each of which takes a pass of its own when needed.
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
"""An element's bound includes eager's errors in elements up to this many binades larger."""

SLACK_UNITS = {torch.float16: 1.0, torch.bfloat16: 1.0, torch.float32: 16.0, torch.float64: 16.0}
"""The ulp slack per dtype. A half-precision result that was computed in float32 and rounded once is off by at most one
ulp. In float32, another summation order or another form of exp or tanh costs a few ulps, lower precision thousands."""

COARSER = {torch.float16: 2.0**3, torch.bfloat16: 2.0, torch.float32: 2.0**16, torch.float64: 2.0**29}
"""How many ulps make one of the next coarser dtype: bfloat16 for float32 and float16, float32 for float64."""

COARSE_UNITS = 4.0
COARSEST = 0.25
"""An error above this share of the element or of the mean element, whichever is larger, is not one of precision."""

SENSITIVE = 2.0**-10
"""A perturbation that changes an element by more than this share of it or of the mean element, whichever is larger, may
have tipped a decision. The change then counts for this element alone."""

WHOLE = 0.5
"""The allowed error of integers and booleans: they are equal, or off by at least 1."""

TIPPED = 1e-4
"""The share of whole numbers (at least one) that rounding may decide, such as which of two nearly equal values wins."""

HALF = (torch.float16, torch.bfloat16)

SLICE = {"cpu": 1 << 18, "cuda": 1 << 25}
"""Elements per slice, by type of device."""

LEAST_EXPONENT, MOST_EXPONENT = -1100, 1100
"""Beyond those of float64."""

WIDER = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}


@dataclass(frozen=True)
class ElementSlice:
    """A run of elements in float64. error: |actual - expected|. same: equal, or both NaN; these have error 0."""

    start: int
    expected: torch.Tensor
    actual: torch.Tensor
    exact: torch.Tensor | None
    perturbed: Sequence[torch.Tensor]
    error: torch.Tensor
    same: torch.Tensor


@dataclass(frozen=True)
class Found:
    """The judgement over a slice. finite: eager and actual are both finite. coarse: every wrong element would be right
    in a coarser dtype. off: the error per element, from float64 if there is such a result. allowed: its bound."""

    finite: torch.Tensor
    wrong: torch.Tensor
    coarse: bool
    off: torch.Tensor
    allowed: torch.Tensor | float


@dataclass
class ErrorCounts:
    """The judgement over all elements. close: whether all are, per t. Flat indices: worst is the wrong element with the
    largest error, first_not_finite the first wrong one with NaN or infinity on either side, farthest the largest
    error."""

    close: dict[int, bool]
    wrong: int = 0
    coarse: bool = True
    masks: list[torch.Tensor] = field(default_factory=list)
    """Which elements are wrong, per slice; empty if none is."""
    worst: int = 0
    first_not_finite: int | None = None
    farthest: int = 0
    max_error: float | None = None
    mean_error: float | None = None


class Elements:
    """One output's elements as real numbers. exact and perturbed have eager's shape; actual has its dtype as well."""

    def __init__(
        self,
        dtype: str,
        eager: torch.Tensor,
        actual: torch.Tensor,
        exact: torch.Tensor | None,
        perturbed: Sequence[torch.Tensor] = (),
        output_size: int | None = None,
    ) -> None:
        """output_size: elements of the whole output, if these are only a sample of them."""
        self.dtype, self.kind = dtype, torch_dtype(dtype)
        self.floating = eager.is_floating_point()
        self.shape = eager.shape
        self.eager, self.actual = eager.reshape(-1), actual.reshape(-1)
        self.exact = None if exact is None else exact.reshape(-1)
        self.perturbed = [each.reshape(-1) for each in perturbed]
        self.output_size = len(self) if output_size is None else output_size

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
                perturbed=[each[part].double() for each in self.perturbed],
                error=error,
                same=same,
            )

    def overflowed(self) -> bool:
        """Whether eager is NaN or infinite in an element whose float64 value its dtype could hold: an intermediate
        value was too large."""
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
        """Whether so few whole numbers differ that rounding may have decided them, as it did for some of eager's.
        Results on perturbed inputs then settle it."""
        if self.exact is None or self.floating:
            return False
        own = int((self.eager != self.exact).sum())
        return 0 < int(self.differing.sum()) <= FACTOR * own + max(1.0, TIPPED * self.output_size)

    @cached_property
    def differing(self) -> torch.Tensor:
        """Which whole numbers equal neither eager's nor float64's."""
        differing = self.eager != self.actual
        if self.exact is not None:
            differing &= self.exact != self.actual
        return differing

    def accept(self, others: Iterable[torch.Tensor]) -> None:
        """Accept whole numbers that equal those of one of these results; take no more results than needed."""
        for each in others:
            self.differing &= each.reshape(-1) != self.actual
            if not bool(self.differing.any()):
                return

    @cached_property
    def least(self) -> float:
        """The median of |float64|: smaller elements are given the ulp of this size."""
        if self.exact is None or not len(self):
            return 0.0
        sampled = self.exact[:: max(1, len(self) // 100_000)].double()
        return float(_finite_size(sampled).median())

    @cached_property
    def typical(self) -> float:
        """The mean of |float64| over the finite elements."""
        total, count = 0.0, 0
        for each in self.slices():
            assert each.exact is not None
            finite = each.exact.isfinite()
            total += float(torch.where(finite, each.exact.abs(), 0.0).sum())
            count += int(finite.sum())
        return total / count if count else 0.0

    @cached_property
    def lost(self) -> bool:
        """Whether in some element |eager - float64| exceeds both |float64| and its mean: rounding alone decides it."""
        for each in self.slices():
            assert each.exact is not None
            if bool((self._own(each, each.exact) > _finite_size(each.exact).clamp(min=self.typical)).any()):
                return True
        return False

    @cached_property
    def largest_errors(self) -> torch.Tensor:
        """Per binade, the largest error of eager among elements of that size or smaller. Each error includes the change
        by perturbed inputs: in half precision only if eager is lost; in single precision also otherwise, except for
        changes beyond SENSITIVE."""
        lost = bool(self.perturbed) and self.lost
        size = MOST_EXPONENT - LEAST_EXPONENT + 2 + SIMILAR_BINADES
        largest = torch.zeros(size, dtype=torch.float64, device=self.eager.device)
        for each in self.slices():
            assert each.exact is not None
            own = self._own(each, each.exact)
            if self.perturbed and (lost or self.kind not in HALF):
                change = self._change(each, each.exact)
                level = _finite_size(each.exact).clamp(min=self.typical)
                own = own + (change if lost else torch.where(change <= SENSITIVE * level, change, 0.0))
            largest.scatter_reduce_(0, _binade(_finite_size(each.exact)), own, "amax")
        return largest.cummax(0).values

    # --- one slice ---

    def plain(self, part: ElementSlice) -> torch.Tensor:
        """Which elements are within the ulp slack alone, and so are right whatever the others are."""
        if not self.floating:
            return part.same
        if part.exact is None:
            return part.same | (self._finite(part) & (part.error <= self._close(part)))
        off = (part.actual - part.exact).abs()
        bound = SLACK_UNITS[self.kind] * self._units(part.exact)
        return part.same | (part.actual.isfinite() & part.exact.isfinite() & (off <= bound))

    def found(self, part: ElementSlice, *, bounded: bool = False) -> Found:
        """Judge a slice. bounded: compute every bound, even if the ulp slack alone shows that all elements are
        right."""
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
        # Only float64 decides, so a finite result is right although eager overflowed. For a value near the end of the
        # dtype's range, both infinity and the largest number are right.
        alike = part.actual.sign() == part.exact.sign()
        # where neither float64 nor eager leaves the range, perhaps because the graph clamps, infinity is wrong
        most = torch.finfo(self.kind).max
        leaves = (part.exact.abs() > most) | part.expected.isinf()
        # and a number is right only if eager has one too, or if rounding alone could have kept it from infinity
        reached = part.actual.isinf() | part.expected.isfinite() | (part.exact.abs() - bound <= most * (1 + 2**-8))
        right |= (
            reached & leaves & _beyond(part.exact, self.kind) & alike & _beyond(part.actual, self.kind, within=2**-6)
        )
        if bool(right.all()):
            return Found(finite, ~right, False, off, bound)
        # a small element may be the difference of large ones: measure it by the mean size
        level = part.exact.abs().clamp(min=self.typical)
        coarser = COARSER[self.kind] * (FACTOR * own + COARSE_UNITS * ulp(self.kind, level))
        coarse = (off <= coarser.minimum(COARSEST * level)) | (part.error <= self._close(part))
        coarse &= finite & part.exact.isfinite()
        return Found(finite, ~right, bool((right | coarse).all()), off, bound)

    def _finite(self, part: ElementSlice) -> torch.Tensor:
        return part.expected.isfinite() & part.actual.isfinite()

    def _close(self, part: ElementSlice) -> torch.Tensor:
        allowed = tolerance(self.dtype, FALLBACK_T)
        return allowed.atol + allowed.rtol * part.expected.abs()

    def _closeness(self, part: ElementSlice) -> dict[int, bool]:
        """Whether every element is close, for each t. NaN is close to NaN, infinity to the same infinity.

        The tolerance grows with t: an element that is close at one level is not looked at again."""
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
        return ulp(self.kind, _finite_size(exact).clamp(min=self.least))

    def _own(self, part: ElementSlice, exact: torch.Tensor) -> torch.Tensor:
        own = (part.expected - exact).abs()
        return torch.where(own.isfinite(), own, 0.0)

    def _change(self, part: ElementSlice, exact: torch.Tensor) -> torch.Tensor:
        """The largest |perturbed - float64| per element; 0 if it is not finite."""
        change = torch.zeros_like(exact)
        for each in part.perturbed:
            # a NaN in any of them makes the maximum NaN
            change = change.maximum((each - exact).abs())
        return torch.where(change.isfinite(), change, 0.0)

    def _own_errors(
        self, part: ElementSlice, exact: torch.Tensor, size: torch.Tensor, units: torch.Tensor
    ) -> torch.Tensor:
        """The sum of the two errors per element that comparing.py describes: eager's own, and that of rounded
        inputs."""
        own = self.largest_errors[_binade(size) + SIMILAR_BINADES]
        change = self._change(part, exact)
        if self.kind not in HALF:
            return own.maximum(self._own(part, exact) + change)
        return own.maximum(units / 2).maximum(torch.where(CANCELLED * change >= size, change, 0.0))

    # --- all slices ---

    def count_errors(self) -> ErrorCounts:
        counts = ErrorCounts(dict.fromkeys(LEVELS, True))
        worst, farthest, most, total, measured = -2.0, -2.0, -1.0, 0.0, 0
        for part in self.slices():
            found = self.found(part)
            for t, close in self._closeness(part).items():
                counts.close[t] &= close
            known = part.error.isfinite()
            shown, measurable = torch.where(known, part.error, -1.0), found.finite & known
            if bool(found.wrong.any()):
                counts.wrong += int(found.wrong.sum())
                counts.coarse &= found.coarse
                if counts.first_not_finite is None and bool((found.wrong & ~found.finite).any()):
                    counts.first_not_finite = part.start + int((found.wrong & ~measurable).double().argmax())
                here = torch.where(found.wrong, shown, -1.0)
                place = int(here.argmax())
                if float(here[place]) > worst:
                    worst, counts.worst = float(here[place]), part.start + place
            counts.masks.append(found.wrong)
            place = int(shown.argmax())
            if float(shown[place]) > farthest:
                farthest, counts.farthest = float(shown[place]), part.start + place
            total += float(torch.where(measurable, part.error, 0.0).sum())
            measured += int(measurable.sum())
            most = max(most, float(torch.where(measurable, part.error, -1.0).max()))
        if measured:
            counts.max_error, counts.mean_error = most, total / measured
        if not counts.wrong:
            counts.masks.clear()
        return counts

    def wrong(self, counts: ErrorCounts) -> torch.Tensor:
        """Which elements are wrong, in the output's shape; count_errors found some."""
        return torch.cat(counts.masks).reshape(self.shape)

    def errors(self) -> Errors:
        """The columns from which an error map is made, of all elements at once."""
        rows: list[tuple[torch.Tensor, ...]] = []
        for part in self.slices():
            found = self.found(part, bounded=True)
            allowed = found.allowed
            if not isinstance(allowed, torch.Tensor):
                allowed = torch.full_like(part.error, allowed)
            rows.append((part.expected, part.actual, found.off, allowed, found.wrong))
        expected, actual, off, bound, wrong = (torch.cat(column).reshape(self.shape) for column in zip(*rows))
        return Errors(expected, actual, off, bound, wrong, dtype=getattr(torch, self.dtype))

    def suspects(self, most: int) -> torch.Tensor:
        """Flat indices of the elements beyond the ulp slack; about `most` of them if there are more."""
        parts = -(-len(self) // SLICE[self.eager.device.type])
        most_here = max(1, most // max(1, parts))
        found = [torch.empty(0, dtype=torch.int64, device=self.eager.device)]
        for part in self.slices():
            places = (~self.plain(part)).nonzero().reshape(-1) + part.start
            found.append(places[:: -(-places.numel() // most_here) or 1])
        return torch.cat(found)


def torch_dtype(dtype: str) -> torch.dtype:
    """The dtype whose ulps elements are judged in: of a complex number its parts'; of 8-bit floats bfloat16."""
    found: torch.dtype = getattr(torch, WIDER.get(dtype, dtype))
    return found if found in SLACK_UNITS else torch.bfloat16


def _binade(size: torch.Tensor) -> torch.Tensor:
    """The binade of finite numbers of this size, counted from 0 for the smallest."""
    _, exponent = torch.frexp(size)
    # frexp gives zero the exponent of 0.5; it belongs below the smallest number
    exponent = torch.where(size == 0, LEAST_EXPONENT, exponent.long())
    return exponent.clamp(LEAST_EXPONENT, MOST_EXPONENT) - LEAST_EXPONENT


def _beyond(value: torch.Tensor, dtype: torch.dtype, within: float = 2**-8) -> torch.Tensor:
    """Which values exceed the largest number of this dtype, or lie below it by at most the share `within`."""
    return value.abs() >= torch.finfo(dtype).max * (1 - within)


def _finite_size(exact: torch.Tensor) -> torch.Tensor:
    return torch.where(exact.isfinite(), exact.abs(), 0.0)


def is_whole(value: object) -> bool:
    """Whether this is a tensor of whole numbers or booleans."""
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and not value.is_complex()


def ulp(dtype: torch.dtype, size: torch.Tensor) -> torch.Tensor:
    """One ulp of the dtype at each finite float64 size, as float64."""
    info = torch.finfo(dtype)
    _, exponent = torch.frexp(size.clamp(min=info.smallest_normal))
    # build the power of two from its bits: torch.ldexp computes in single precision
    return ((exponent.long() + 1022) << 52).view(torch.float64) * info.eps
