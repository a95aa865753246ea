"""Find errors that rounding does not explain. The slack and the bound of a single element hide a factor of 0.99, a
result of which two bits are missing, or a formula that is wrong in one range; over many elements they show.

An honest kernel computes in float32 and rounds once, or as often as eager does, to nearest. So two figures are taken
over groups of elements, of all input draws of a verification together:

- The *spread*, the root mean square of (actual - float64), may be SPREAD times what eager's errors and ONE_MORE
  rounding leave.
- The *direction*, the mean of (actual - float64) and of (actual - float64 rounded once), upwards or away from zero, may
  be eager's own plus the largest of UNITS, MIMICKED times what eager's errors exceed those of one rounding by, and
  DRAW_SIGMAS standard errors of a mean over input draws: a value that many elements share may be rounded.
- Both may be larger by so many standard errors of a mean over the elements that chance alone does not exceed them.

The groups are all elements; those of one sign; those whose float64 result, or whose input in the same place, lies in a
range of values, of an eighth of a binade or of 2^n of them; even and odd indices of an axis; single indices of an axis,
and aligned blocks of 2^n of them.

Errors are counted in ulps of the output's dtype at the element's own size, divided by eager's typical error in this
binade and draw if that is larger than one rounding, and limited to MOST. A result in float32 is counted in ulps of the
half precision of the inputs, where eager's typical error is of that size: eager has rounded to it.

How sensitive an element is to its inputs is seen from float64 results on inputs changed at random. If it changes more
than they do, larger intermediate values cancel in it, and one rounding counts for more. It is not counted if it changes
CANCELLED times as much, or so much that rounding in float32 shows. Nor are ties, which a kernel may round either way,
and values outside the dtype's normal range, which it may flush or clamp.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from passnet_core.judge.numerics.elements import HALF, is_whole, ulp
from passnet_core.judge.numerics.perturbing import SHAKEN
from passnet_core.judge.protocol.reference_bench import Drawn, SystematicError

SPREAD = 1.5
ONE_MORE = 1.5
"""The mean square of one rounding more than eager's: the rounded value may lie in a binade twice as coarse."""
OWN_SIGMAS, ROUNDING_SIGMAS = 4.0, 5.0
"""By how many times 1 / sqrt(elements) the mean square of a few errors may exceed eager's and that of a rounding, which
for nearly equal values is the same error again and again."""

UNITS = 0.25
"""Half of what truncation leaves; a constant that a kernel rounds to half precision may leave as much."""
LOCAL_UNITS = 0.6
"""The same in a range of values within a binade, where an intermediate value may hardly change and be rounded alike."""
MIMICKED = 0.5
SIGMAS = 4.0
DRAW_SIGMAS = 3.0

MOST = 6.0
CLEAR = 0.75
"""A group shows an error clearly if its ratio is this share of the largest."""

LEAST_FOR_DIRECTION = LEAST_FOR_SPREAD = 5.0
"""The fewest elements of a group, those with equal float64 results counted once."""
LEAST_IF_SENSITIVE = 16.0
SENSITIVE = 1.2
"""The fewest for the spread if one rounding is on average more than this many times as large: how sensitive an element
is, is known from two samples."""
LEAST_DRAWS = 2.0
"""Of equally many elements; draws with fewer ones count less."""

SAMPLED = 1 << 14
"""How many elements of an output are looked at on each draw."""

ONE_ROUNDING = math.sqrt(1 / 12)
"""The root mean square of the errors of rounding to nearest, in ulps."""

TYPICAL = 1.3
"""The root mean square of evenly distributed errors, divided by the square of their mean square root."""
MOST_TYPICAL = 16.0
"""Larger errors of eager count as this many ulps."""
FEW = 16
"""With fewer elements of a binade, eager's typical error is that of all."""
HALF_PRECISION = 0.1
"""A result in float32 was computed in half precision if eager's typical error is this many of its ulps."""

FLOAT32_UNITS = 4.0
"""Ulps of float32 by which rounding in a kernel may seem to change the inputs."""
LEAST_SHARE = 0.125
"""The largest share of an element's ulp that they may make."""

CANCELLED = 32.0
"""Elements that are more sensitive are what remains of a cancellation."""

ROUNDED_ONCE = 0.6
"""Errors up to so many ulps are within all limits."""

MOST_SENSITIVE = 1.5
"""If random relative changes of the inputs change an element by more than so many times their size, an intermediate
value was larger than it, and the error of rounding that once is larger in proportion."""

LEAST_DIFFERENT, MOST_DIFFERENT = 25, 1 << 14
"""The fewest different elements that are off by one, for a direction of whole numbers, and how many are counted."""
LEAST_OFF = 1e-3
"""The least share of such elements: a quotient and the product with an inverse differ in fewer."""
LEANING = 0.25
"""How far the mean of differences of 1 and -1 may lie from zero, beyond eager's and chance."""

ALIKE = 16
"""Parts of an ulp: results in the same one count as equal."""
HASH_BITS = 16
HASH_FACTOR = -7046029254386353131
"""2**64 divided by the golden ratio, as a signed number: Knuth's multiplicative hash."""

EIGHTHS = 8
"""Ranges of values per binade."""
BINADES = 64
LEAST_BINADE = -32
"""Smaller and larger values count as of the first or the last binade."""
VALUES = BINADES * EIGHTHS
INDICES = 1024
"""Ranges of indices per axis."""
MOST_INPUTS = 3
MOST_AXES = 3


@dataclass(frozen=True)
class _Key:
    """What elements are grouped by. ranges: a power of two. kind: size, value, input, parity, index. number: of the
    input or of the axis, from the last one."""

    kind: str
    ranges: int
    number: int = 0


KEYS = (
    _Key("value", 2 * VALUES),
    _Key("size", VALUES),
    *(_Key("input", 2 * VALUES, each) for each in range(MOST_INPUTS)),
    *(_Key("parity", 2, each) for each in range(MOST_AXES)),
    *(_Key("index", INDICES, each) for each in range(MOST_AXES)),
)

COUNT, MULTIPLICITY, UP, AWAY, EAGER_UP, EAGER_AWAY, LEAST_UP, LEAST_AWAY = range(8)
SQUARE, EAGER_SQUARE, LEAST_SQUARE, ROUNDING, UNIT, SENSITIVITY = range(8, 14)


@dataclass(frozen=True)
class _Sample:
    """Counted elements of an output on one draw. off, own: errors of the result and of eager in ulps, counted from
    float64. least: those of float64 rounded once. scale: eager's typical error; one: that of one rounding. groups: per
    key, the range that an element is in."""

    exact: torch.Tensor
    off: torch.Tensor
    own: torch.Tensor
    least: torch.Tensor
    share: torch.Tensor
    """One ulp as a share of the element."""
    scale: torch.Tensor
    one: torch.Tensor
    groups: torch.Tensor


@dataclass(frozen=True)
class Results:
    """The results for one output on one draw, in tensors of one shape and device. exact: float64's. inputs: those of
    the call. shaken: computes float64 results on inputs changed at random by SHAKEN; called only if an error is that of
    more than one rounding."""

    eager: torch.Tensor
    actual: torch.Tensor
    exact: torch.Tensor
    inputs: Sequence[Drawn]
    shaken: Callable[[], Iterable[torch.Tensor]]

    @cached_property
    def beside(self) -> list[torch.Tensor]:
        """The inputs that have an element for each of the output's, in its shape."""
        tensors = [each for each in self.inputs if isinstance(each, torch.Tensor)]
        return [each.expand(self.exact.shape) for each in tensors if _spreads_over(each, self.exact.shape)]


class ErrorPool:
    """The errors of one output on all input draws so far."""

    def __init__(self) -> None:
        self.worst: SystematicError | None = None
        """The group whose figure is largest beside its limit."""
        self._samples: list[_Sample] = []
        self._seen = torch.zeros(1 << HASH_BITS, dtype=torch.float64)
        self._sums = torch.zeros(())
        self._draws = torch.zeros(())

    def add(self, results: Results) -> None:
        """Add the errors on one draw."""
        found = _sample(results)
        if found is None:
            return
        self._samples.append(found)
        sums = _window_sums(_columns(found, self._multiplicities(found)), found.groups)
        draws = sums[[COUNT, EAGER_UP, EAGER_AWAY]] ** 2
        self._sums, self._draws = self._sums + sums, self._draws + draws
        self.worst = self._worst()

    def _multiplicities(self, found: _Sample) -> torch.Tensor:
        """What each element adds to the sum of the squares of how often every value occurs. Values that differ by a
        small part of an ulp have nearly the same error of rounding, and count as equal; so do those of one hash."""
        part = found.share * found.exact.abs() / ALIKE
        bits = (torch.round(found.exact / part) * part).view(torch.int64)
        hashes = ((bits * HASH_FACTOR) >> (64 - HASH_BITS)) & ((1 << HASH_BITS) - 1)
        before = self._seen[hashes]
        self._seen += torch.bincount(hashes, minlength=1 << HASH_BITS)
        return before + self._seen[hashes]

    def _worst(self) -> SystematicError | None:
        count = self._sums[COUNT]
        enough = count**2 >= LEAST_FOR_DIRECTION * self._sums[MULTIPLICITY].clamp(min=1)
        windows = (enough & (count**2 >= LEAST_DRAWS * self._draws[0])).nonzero()[:, 0]
        if not windows.numel():
            return None
        everywhere = float(self._sums[EAGER_SQUARE, _ALL] / count[_ALL])
        ratios = _ratios(self._sums[:, windows], self._draws[:, windows], _WINDOWS.units[windows], everywhere)
        # a direction says more than that errors are large
        ratios = ratios[1:] if (directed := float(ratios[1:].max()) > 1) else ratios
        most = float(ratios.max())
        # of the groups that show it about as well the largest one says most
        clear = ratios >= max(CLEAR * most, min(most, 1.0))
        figure, place = divmod(int(torch.where(clear, count[windows], 0.0).argmax()), len(windows))
        return self._described(figure + directed, int(windows[place]), float(ratios[figure, place]))

    def _described(self, figure: int, window: int, ratio: float) -> SystematicError:
        """Describe a group. figure: 0 for the spread, 1 for the direction upwards, 2 for that away from zero."""
        key, first, last = _WINDOWS.at(window)
        parts = []
        for each in self._samples:
            inside = (each.groups[key] >= first) & (each.groups[key] < last)
            if bool(inside.any()):
                sign = each.exact[inside].sign() if figure != 1 else 1.0
                # errors beyond these say how large they are, and nothing about their number
                most = MOST_TYPICAL
                off, own = ((each_off[inside] * sign).clamp(-most, most) for each_off in (each.off, each.own))
                parts.append((off, own, each.share[inside]))
        off, own, share = (torch.cat(column) for column in zip(*parts))
        if figure:
            mean, eager = float(off.mean()), float(own.mean())
        else:
            mean, eager = float((off**2).mean().sqrt()), float((own**2).mean().sqrt())
        return SystematicError(
            ratio=ratio,
            where=_where(KEYS[key], first, last),
            direction=("", "upwards", "away from zero")[figure],
            mean=mean,
            eager=eager,
            share=float((off * share).mean() if figure else ((off * share) ** 2).mean().sqrt()),
            count=off.numel(),
            of=sum(each.exact.numel() for each in self._samples),
            draws=len(parts),
        )


class CodePool:
    """The whole numbers of one output that are off by one from float64's, on all input draws so far. Where rounding
    decides such codes it has no direction, unless eager's has."""

    def __init__(self) -> None:
        self.worst: SystematicError | None = None
        """The direction, if enough are off."""
        self._elements = self._draws = 0
        self._different = torch.empty(0, dtype=torch.int64)
        """Hashes of what elements that are off come from: their float64 codes, and the inputs in the same places."""
        self._off, self._own = torch.zeros(3), torch.zeros(3)
        """How many elements are off, and the sums upwards and away from zero: of the result and of eager."""

    def add(self, results: Results) -> None:
        """Add the elements of one draw."""
        wanted, own, given = (each.reshape(-1).long() for each in (results.exact, results.eager, results.actual))
        off = given - wanted
        self._elements += wanted.numel()
        self._draws += 1
        self._off += _off_by_one(off, wanted)
        self._own += _off_by_one(own - wanted, wanted)
        near = off.abs() == 1
        origin = wanted[near]
        for each in results.beside:
            origin = origin * HASH_FACTOR + each.reshape(-1)[near].double().view(torch.int64)
        self._different = torch.cat([self._different, origin.cpu()]).unique()[:MOST_DIFFERENT]
        self.worst = self._direction()

    def _direction(self) -> SystematicError | None:
        count = float(self._off[0])
        # elements that come from equal inputs are off alike
        if len(self._different) < LEAST_DIFFERENT or count < LEAST_OFF * self._elements:
            return None
        found, eager = (each[1:] / each[0].clamp(min=1) for each in (self._off, self._own))
        ratios = found.abs() / (eager.abs() + LEANING + SIGMAS / math.sqrt(len(self._different)))
        way = int(ratios.argmax())
        return SystematicError(
            ratio=float(ratios[way]),
            where="",
            direction=("upwards", "away from zero")[way],
            mean=float(found[way]),
            eager=float(eager[way]),
            share=count / self._elements,
            count=int(count),
            of=self._elements,
            draws=self._draws,
            whole=True,
        )


def _off_by_one(off: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """How many differences are of 1, and their sums upwards and away from zero."""
    near = off * (off.abs() == 1)
    return torch.stack([near.abs().sum(), near.sum(), (near * wanted.sign()).sum()]).cpu().float()


def pool_for(output: object) -> "ErrorPool | CodePool":
    """A pool for an output like this one."""
    return CodePool() if is_whole(output) else ErrorPool()


def _ratios(sums: torch.Tensor, draws: torch.Tensor, units: torch.Tensor, everywhere: float) -> torch.Tensor:
    """The figures of each group, divided by their limits: spread, direction upwards and away from zero; 3 x groups.
    everywhere: the mean square of eager's errors over all elements, as a few may by chance show less of them."""
    count = sums[COUNT]
    independent = count**2 / sums[MULTIPLICITY]
    means = sums / count
    rounding = means[ROUNDING]
    own = torch.maximum(means[EAGER_SQUARE], means[LEAST_SQUARE]).clamp(min=everywhere)
    few = 1 / independent.sqrt()
    allowed = own * (1 + OWN_SIGMAS * few) + ONE_MORE * rounding * (1 + ROUNDING_SIGMAS * few)
    least = torch.where(means[SENSITIVITY] > SENSITIVE, LEAST_IF_SENSITIVE, LEAST_FOR_SPREAD)
    ratios = [torch.where(independent >= least, (means[SQUARE] / allowed).sqrt() / SPREAD, 0.0)]
    chance = SIGMAS * few * (own + ONE_MORE * rounding).sqrt()
    formula = torch.maximum(means[UNIT] * units, MIMICKED * (own - rounding).clamp(min=0).sqrt())
    # an intermediate value that all elements share may be rounded, on each draw in another way
    shared = rounding * draws[0]
    for way, eager in enumerate(draws[1:]):
        drawn = DRAW_SIGMAS * torch.maximum(eager, shared).sqrt() / count
        limit = means[EAGER_UP + way].abs() + torch.maximum(formula, drawn) + chance
        # beyond both: float64 results may all lie at the same place between two values of the dtype
        rounded = means[UP + way]
        exact = rounded + means[LEAST_UP + way]
        mean = torch.where(rounded * exact > 0, torch.minimum(rounded.abs(), exact.abs()), 0.0)
        ratios.append(mean / limit)
    return torch.stack(ratios)


def _sample(results: Results) -> _Sample | None:
    """The elements that count; None if there are none."""
    eager, exact = results.eager, results.exact
    unit_of = _precision(eager.dtype, results.inputs)
    if unit_of is None or not eager.numel():
        return None
    half = eager.dtype in HALF
    # an odd step reaches every one of 2^n columns
    step = 1 if eager.numel() <= SAMPLED else (eager.numel() // SAMPLED) | 1
    places = torch.arange(0, eager.numel(), step, device=eager.device)
    wanted, own, given = (each.reshape(-1)[places].double() for each in (exact, eager, results.actual))
    size = wanted.abs()
    info = torch.finfo(unit_of)
    unit = ulp(unit_of, torch.where(size.isfinite(), size, 0.0))
    counted = own.isfinite() & given.isfinite() & wanted.isfinite() & (size >= torch.finfo(eager.dtype).smallest_normal)
    if half:
        counted &= (size < info.max) & ((size / unit).frac() != 0.5)
    sensitivity: torch.Tensor | None = torch.ones_like(wanted)
    # what is rounded once is right however sensitive it is
    if bool((counted & ((given - wanted).abs() > ROUNDED_ONCE * unit)).any()):
        sensitivity = _sensitivity(wanted, places, (each for each in results.shaken() if each.shape == exact.shape))
    if sensitivity is None:
        return None
    counted &= sensitivity <= CANCELLED
    counted &= sensitivity * size * (FLOAT32_UNITS * 2.0**-24) <= LEAST_SHARE * unit
    wanted, own, given, unit, places, sensitivity = (
        each[counted] for each in (wanted, own, given, unit, places, sensitivity)
    )
    if not wanted.numel():
        return None
    groups = torch.stack([_group(key, wanted, places, results) for key in KEYS])
    off, own = (given - wanted) / unit, (own - wanted) / unit
    least = torch.round(wanted / unit) - wanted / unit if half else torch.zeros_like(wanted)
    binades, sizes = groups[0] // EIGHTHS, own.abs().clamp(max=MOST_TYPICAL)
    scale = TYPICAL * _typical(sizes, binades, sizes.sqrt().mean() ** 2)
    sensitivity = sensitivity.maximum(_typical(sensitivity, binades, 0.0))
    one = ONE_ROUNDING * (sensitivity / MOST_SENSITIVE).clamp(min=1) if half else scale
    found = _Sample(wanted, off, own, least, unit / wanted.abs(), scale.maximum(one), one, groups)
    if not half:
        computed = scale >= HALF_PRECISION
        found = _each(found, lambda column: column[..., computed])
    return _each(found, torch.Tensor.cpu) if found.exact.numel() else None


def _precision(dtype: torch.dtype, inputs: Sequence[Drawn]) -> torch.dtype | None:
    """The dtype in whose ulps the errors are counted: the output's, or that of the inputs in half precision."""
    if dtype in HALF or not dtype.is_floating_point:
        return dtype if dtype in HALF else None
    if dtype not in (torch.float32, torch.float64):
        return None
    used = {each.dtype for each in inputs if isinstance(each, torch.Tensor)}
    return next((each for each in HALF if each in used), None)


def _sensitivity(wanted: torch.Tensor, places: torch.Tensor, shaken: Iterable[torch.Tensor]) -> torch.Tensor | None:
    """The change of each element when the inputs change by SHAKEN at random, both as a share; None if it is not
    known."""
    changes = [(each.reshape(-1)[places].double() - wanted) ** 2 for each in shaken]
    if not changes:
        return None
    found = torch.stack(changes).mean(0).sqrt() / (wanted.abs() * SHAKEN)
    return torch.where(found.isfinite(), found, math.inf)


def _typical(figures: torch.Tensor, binades: torch.Tensor, otherwise: float | torch.Tensor) -> torch.Tensor:
    """The typical figure of each element's binade; a few large ones hardly change it. otherwise: that of a binade with
    fewer than FEW elements."""
    roots = figures.sqrt()
    counts = torch.bincount(binades, minlength=2 * BINADES)
    means = torch.bincount(binades, weights=roots, minlength=2 * BINADES) / counts.clamp(min=1)
    return torch.where(counts >= FEW, means**2, otherwise)[binades]


def _each(found: _Sample, change: Callable[[torch.Tensor], torch.Tensor]) -> _Sample:
    return _Sample(**{name: change(column) for name, column in vars(found).items()})


def _group(key: _Key, wanted: torch.Tensor, places: torch.Tensor, results: Results) -> torch.Tensor:
    """Per element, the range of this key that it is in; 0 for all if the output has no such axis or input."""
    none, shape = torch.zeros_like(places), results.exact.shape
    if key.kind in ("value", "size"):
        found = _value_range(wanted)
        return found if key.kind == "value" else found % VALUES
    if key.kind == "input":
        if key.number >= len(results.beside):
            return none
        return _value_range(results.beside[key.number][torch.unravel_index(places, shape)].double())
    axis = len(shape) - 1 - key.number
    if axis < 0 or shape[axis] < 2:
        return none
    index = (places // math.prod(shape[axis + 1 :])) % shape[axis]
    return index % 2 if key.kind == "parity" else index // -(-shape[axis] // INDICES)


def _spreads_over(value: torch.Tensor, shape: Sequence[int]) -> bool:
    """Whether an input has an element for each of the output's: it is of its shape, or is broadcast to it."""
    if not value.is_floating_point() or value.numel() < 2 or value.dim() > len(shape):
        return False
    return all(size in (1, wanted) for size, wanted in zip(reversed(value.shape), reversed(shape)))


def _value_range(value: torch.Tensor) -> torch.Tensor:
    mantissa, exponent = torch.frexp(torch.where(value.isfinite(), value.abs(), 0.0))
    eighth = ((mantissa - 0.5) * (2 * EIGHTHS)).long().clamp(min=0)
    binade = torch.where(value == 0, 0, exponent.long() - 1 - LEAST_BINADE).clamp(0, BINADES - 1)
    return (value < 0).long() * VALUES + binade * EIGHTHS + eighth


def _columns(found: _Sample, multiplicities: torch.Tensor) -> Iterator[torch.Tensor]:
    """What is summed over the elements of a group."""

    def scaled(errors: torch.Tensor) -> torch.Tensor:
        return (errors / found.scale).clamp(-MOST, MOST)

    one = found.one / found.scale
    up, own = scaled(found.off - found.least), scaled(found.own - found.least)
    sign = found.exact.sign()
    yield torch.ones_like(sign)
    yield multiplicities
    least = scaled(found.least)
    yield from (up, up * sign, own, own * sign, least, least * sign)
    yield from (scaled(each) ** 2 for each in (found.off, found.own, found.least))
    yield one**2
    yield one / ONE_ROUNDING
    yield found.one / ONE_ROUNDING


class _Windows:
    """The aligned runs of 2^n ranges of each key, one after the other."""

    def __init__(self) -> None:
        self.starts: list[tuple[int, int, int]] = []
        """Per key and n: the number of the first run, the key, and the length of the runs."""
        self.offsets: list[int] = []
        """Per key: the number of its first range."""
        count = ranges = 0
        for number, key in enumerate(KEYS):
            self.offsets.append(ranges)
            ranges += key.ranges
            length = 1
            while length <= key.ranges:
                self.starts.append((count, number, length))
                count += key.ranges // length
                length *= 2
        self.ranges = ranges
        self.units = torch.full((count,), UNITS)
        for start, number, length in self.starts:
            if KEYS[number].kind in ("value", "size", "input") and length < EIGHTHS:
                self.units[start : start + KEYS[number].ranges // length] = LOCAL_UNITS

    def at(self, window: int) -> tuple[int, int, int]:
        """The key of a run, its first range, and the one after its last."""
        start, key, length = max(each for each in self.starts if each[0] <= window)
        return key, (window - start) * length, (window - start + 1) * length


_WINDOWS = _Windows()
_ALL = 2 * (2 * VALUES) - 2
"""The run of all ranges of the first key."""


def _window_sums(columns: Iterable[torch.Tensor], groups: torch.Tensor) -> torch.Tensor:
    """The sum of each column over the elements of every run: columns x runs."""
    offsets = torch.tensor(_WINDOWS.offsets)[:, None]
    places = (groups + offsets).flatten()
    ranges = torch.stack(
        [torch.bincount(places, weights=each.repeat(len(KEYS)), minlength=_WINDOWS.ranges) for each in columns]
    )
    sums = []
    for key, offset in zip(KEYS, _WINDOWS.offsets):
        level = ranges[:, offset : offset + key.ranges]
        sums.append(level)
        while level.shape[1] > 1:
            level = level[:, ::2] + level[:, 1::2]
            sums.append(level)
    return torch.cat(sums, dim=1)


def _where(key: _Key, first: int, last: int) -> str:
    """Words for a group; empty if it is all elements."""
    if last - first == key.ranges:
        return ""
    if key.kind == "parity":
        return f" at {'odd' if first else 'even'} indices of {_axis(key)}"
    if key.kind == "index":
        indices = f"index {first}" if last - first == 1 else f"indices {first} to {last - 1}"
        return f" at {indices} of {_axis(key)}"
    subject = f"whose {_ORDER[key.number]} input is" if key.kind == "input" else "with values of"
    sign = "" if key.kind == "size" else ("negative" if first >= VALUES else "positive")
    if last - first == VALUES:
        return f" {subject} {sign}" if key.kind == "input" else f" with {sign} values"
    start = first % VALUES
    low, high = (
        2.0 ** (LEAST_BINADE + at // EIGHTHS) * (1 + at % EIGHTHS / EIGHTHS) for at in (start, start + last - first)
    )
    # the first range holds all smaller values
    low = low if start else 0.0
    if key.kind == "size":
        subject += " size"
    low, high = (-high, -low) if sign == "negative" else (low, high)
    return f" {subject} {low:.4g} to {high:.4g}"


_ORDER = ("first", "second", "third")


def _axis(key: _Key) -> str:
    return ("the last axis", "the second-to-last axis", "the third-to-last axis")[key.number]
