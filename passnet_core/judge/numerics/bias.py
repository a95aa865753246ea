"""Find errors that have a direction. Rounding has none: in half precision one ulp of slack hides a factor of 0.99, or
the tanh form of GELU, but over many elements their errors add up, and those of rounding cancel.

An error is (actual - float64) in ulps of the output's dtype at the element's own size, positive away from zero, and
limited to MOST_UNITS either way, so that the few large errors which a cancellation leaves decide nothing. Elements are
told apart by the sign and the binade of float64: an approximation may be off in one range alone, and small elements may
be the rests of cancellations. Over a range of values the mean error is *one-sided* if it exceeds the sum of

- UNITS, half of what truncation leaves (a constant that a kernel rounds to half precision, where eager keeps it in
  float32, may leave as much),
- |eager's own mean error|,
- MIMICKED times what eager's errors exceed those of one rounding by: a kernel may round intermediate values as well,
  and an error of an intermediate value that many elements share has a direction,
- SIGMAS standard errors of the mean; together with UNITS these are never less than 11 standard errors of rounding.

The standard error is that of eager's errors, or of one rounding if that is larger. It counts equal float64 results
once, since equal values have equal errors. Not counted at all are: ties, which a kernel may round either way; values
outside the dtype's normal range, which it may flush or clamp; and values so small beside those of inputs and output
that the float32 rounding of larger intermediate values shows in them.

Two kinds of error are not found: one whose direction alternates from element to element, and one in an output whose
range of values holds fewer than LEAST_INDEPENDENT different elements.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch

from passnet_core.judge.numerics.elements import HALF, ulp
from passnet_core.judge.protocol.reference_bench import SignedErrors

UNITS = 0.25
MIMICKED = 1.25
SIGMAS = 5.0
MOST_UNITS = 2.0

LEAST_INDEPENDENT = 64.0
"""The fewest elements with different float64 results in a range of values."""

SAMPLED = 1 << 16
"""How many elements of an output are looked at."""

SAMPLED_FOR_SIZE = 1 << 12
"""How many elements of a tensor are looked at for its median size."""

ONE_ROUNDING = 1 / 12
"""The mean square of the errors of rounding to nearest, in ulps."""

FLOAT32_UNITS = 8.0
"""Ulps of float32, at the size of the typical input or output, which an intermediate value may be off by."""
LEAST_SHARE = 0.125
"""The largest share of an element's ulp that they may make."""

HASH_BITS = 20
HASH_FACTOR = -7046029254386353131
"""2**64 divided by the golden ratio, as a signed number: Knuth's multiplicative hash."""

LEAST_BINADE, MOST_BINADE = -60, 60
"""Smaller and larger values are not counted."""


Key: TypeAlias = tuple[int, int | None, bool, bool, bool]


@dataclass(frozen=True)
class OneSided:
    """A range of values in which the errors of a call have a direction. sign: of its values, 0 for both. binade: None
    for all sizes. large: only the binades that hold the larger half of the elements. upwards: errors are counted
    upwards, not away from zero. mean and eager: mean errors in ulps."""

    sign: int
    binade: int | None
    large: bool
    upwards: bool
    count: int
    mean: float
    eager: float

    @property
    def key(self) -> Key:
        """What calls must agree in for the same direction in the same range."""
        return self.sign, self.binade, self.large, self.upwards, self.mean > 0


def typical_size(inputs: Iterable[object]) -> float:
    """The largest of the median sizes of these values, those that are floating-point tensors; 0 without any."""
    return max((_median(each) for each in inputs if isinstance(each, torch.Tensor)), default=0.0)


def signed_errors(
    eager: torch.Tensor, actual: torch.Tensor, exact: torch.Tensor, input_size: float = 0.0
) -> tuple[SignedErrors, ...]:
    """Sum the errors of one output, per sign and binade; nothing unless it is in half precision. The tensors have one
    shape and device. input_size: the typical_size of the inputs."""
    if eager.dtype not in HALF or not eager.numel():
        return ()
    # an odd step reaches every one of 2^n columns
    step = 1 if eager.numel() <= SAMPLED else (eager.numel() // SAMPLED) | 1
    wanted, own, given = (each.reshape(-1)[::step].double() for each in (exact, eager, actual))
    size = wanted.abs()
    info = torch.finfo(eager.dtype)
    unit = ulp(eager.dtype, torch.where(size.isfinite(), size, 0.0))
    noise = 2.0**-24 * FLOAT32_UNITS * max(_median(exact), input_size)
    counted = own.isfinite() & given.isfinite() & (size < info.max) & (size >= info.smallest_normal)
    counted &= (size / unit).frac() != 0.5
    counted &= unit * LEAST_SHARE >= noise
    _, exponent = torch.frexp(size)
    counted &= (exponent > LEAST_BINADE) & (exponent <= MOST_BINADE)
    wanted, own, given, unit = (each[counted] for each in (wanted, own, given, unit))
    if not wanted.numel():
        return ()
    bands = _band(wanted)
    off, own_off = (((each - wanted) / unit * wanted.sign()).clamp(-MOST_UNITS, MOST_UNITS) for each in (given, own))
    weights = (torch.ones_like(off), _multiplicities(wanted), off, own_off, own_off**2)
    columns = [torch.bincount(bands, weights=each) for each in weights]
    return tuple(
        SignedErrors(*_range(band), int(count), *sums)
        for band, (count, *sums) in enumerate(zip(*(each.tolist() for each in columns), strict=True))
        if count
    )


def one_sided(found: Sequence[SignedErrors]) -> Iterator[OneSided]:
    """The ranges of values in which the errors of one call have a direction. The ranges are all values, the larger half
    of them, and those of each binade; with both signs, and with each."""
    yield from (tried for tried, limit in directions(found) if abs(tried.mean) > limit)


def joined(found: Sequence[OneSided]) -> OneSided:
    """The mean errors of several calls in one range of values."""
    count = sum(each.count for each in found)
    mean, eager = (
        sum(value * each.count for value, each in zip(values, found)) / count
        for values in ([each.mean for each in found], [each.eager for each in found])
    )
    return replace(found[0], count=count, mean=mean, eager=eager)


def directions(found: Sequence[SignedErrors]) -> Iterator[tuple[OneSided, float]]:
    """Each range of values that holds enough elements, and the limit of its mean error."""
    binades = sorted({each.binade for each in found})
    middle = _middle(found)
    ranges: list[tuple[int | None, bool]] = [(None, False), (None, True), *((binade, False) for binade in binades)]
    for binade, large in ranges:
        here = [each for each in found if binade in (None, each.binade) and not (large and each.binade < middle)]
        signs = {each.sign for each in here}
        for sign in (0, *sorted(signs)) if len(signs) == 2 else signs:
            some = [each for each in here if sign in (0, each.sign)]
            for upwards in (False, True) if not sign else (False,):
                tried = _mean_errors(some, OneSided(sign, binade, large, upwards, 0, 0.0, 0.0))
                if (limit := _limit(some, tried)) is not None:
                    yield tried, limit


def _middle(found: Sequence[SignedErrors]) -> int:
    """The binade of the median size."""
    left = sum(each.count for each in found) / 2
    for each in sorted(found, key=lambda each: each.binade):
        left -= each.count
        if left <= 0:
            return each.binade
    return MOST_BINADE


def _mean_errors(found: Sequence[SignedErrors], like: OneSided) -> OneSided:
    count = sum(each.count for each in found)
    mean, eager = (
        sum(total * (each.sign if like.upwards else 1) for total, each in zip(totals, found)) / count
        for totals in ([each.actual for each in found], [each.eager for each in found])
    )
    return replace(like, count=count, mean=mean, eager=eager)


def _limit(found: Sequence[SignedErrors], tried: OneSided) -> float | None:
    """The limit of the mean error; None for too few elements."""
    independent = tried.count**2 / max(1.0, sum(each.squared_multiplicities for each in found))
    if independent < LEAST_INDEPENDENT:
        return None
    square = sum(each.eager_squares for each in found) / tried.count
    mimicked = MIMICKED * math.sqrt(max(0.0, square - ONE_ROUNDING))
    return UNITS + abs(tried.eager) + mimicked + SIGMAS * math.sqrt(max(square, ONE_ROUNDING) / independent)


def _median(value: torch.Tensor) -> float:
    if not value.is_floating_point() or not value.numel():
        return 0.0
    sampled = value.reshape(-1)[:: (value.numel() // SAMPLED_FOR_SIZE) | 1].double().abs()
    return float(torch.where(sampled.isfinite(), sampled, 0.0).median())


def _multiplicities(values: torch.Tensor) -> torch.Tensor:
    """How many of the values are equal to each. Unequal ones with the same hash, one in a thousand, count as equal:
    sorting would take ten times as long."""
    hashes = ((values.view(torch.int64) * HASH_FACTOR) >> (64 - HASH_BITS)) & ((1 << HASH_BITS) - 1)
    return torch.bincount(hashes)[hashes].double()


def _band(values: torch.Tensor) -> torch.Tensor:
    _, exponent = torch.frexp(values.abs())
    return 2 * (exponent.long() - LEAST_BINADE) + (values < 0)


def _range(band: int) -> tuple[int, int]:
    """The sign and the binade of a band: 2**binade <= |value| < 2**(binade + 1)."""
    exponent, negative = divmod(band, 2)
    return -1 if negative else 1, exponent + LEAST_BINADE - 1
