"""Outputs compared: what a call had to return, and what it did return.

Two measures, with two purposes. *Closeness at t* is GraphNet's: |actual - eager| <= atol(t) + rtol(t) |eager|, and goes
into the score. The judge's own verdict asks less of an honest fusion and more of a sloppy one: against float64, an
element may be off by FACTOR times the sum of two errors, plus a slack of a few units in the last place:
- eager's own error, the largest one among elements of similar or smaller size;
- in single precision, the change of the float64 result when every input moves by one unit in its last place, likewise
  (eager may be exact by luck); in half precision at least half a unit, which one rounding costs, and that change only
  where it is an eighth of the element or more: what is left of a cancellation is hardly more than rounding;
- SLACK_UNITS units of the element's dtype, at the size of the element or of the median element, whichever is larger.
What is off by more, but by no more than the same in a coarser dtype, is of lower precision and not otherwise wrong.
Without a float64 reference the verdict is closeness at FALLBACK_T.

Memory: strides may differ from eager's, since layouts are an optimiser's to choose. What the consumer of a result could
fall over may not: elements that overlap in memory, or memory shared with an input or another output, unless eager's do.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import torch

from passnet_core.judge.candidacy import Produced, Returned
from passnet_core.judge.mapping import Errors, error_map, spans
from passnet_core.records import LEVELS, ErrorMap, OutputAccuracy, Verdict
from passnet_core.scoring.tolerances import tolerance

FACTOR = 4.0
FALLBACK_T = -3
LEAST_T, MOST_T = -10, 0
CANCELLED = 8.0
SIMILAR_BINADES = 1
"""Elements up to twice as large as one count among those of its size."""

SLACK_UNITS = {torch.float16: 1.0, torch.bfloat16: 1.0, torch.float32: 16.0, torch.float64: 16.0}
"""Half precision: computed in float32 and rounded once, a result is at most one unit off. Single precision: the order
of a sum and another form of exp or tanh cost a few units, while lower precision than asked costs thousands."""

COARSER = {torch.float16: 2.0**3, torch.bfloat16: 2.0, torch.float32: 2.0**16, torch.float64: 2.0**29}
"""By how much one unit of the next dtype down is larger: bfloat16 for float32 and float16, float32 for float64."""

COARSE_UNITS = 4.0

WHOLE = 0.5
"""Whole numbers are equal or wrong: by so much or more."""

HALF = (torch.float16, torch.bfloat16)

SLICED = 1 << 20
"""Tensors from so many elements on are looked through in slices first."""
SLICE = {"cpu": 1 << 18, "cuda": 1 << 25}
"""Elements of a slice. What is computed of one stays in the processor's cache, or does not fill the GPU's memory."""

WIDER = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}


@dataclass(frozen=True)
class Difference:
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


@dataclass(frozen=True)
class References:
    """What an output is judged by. exact: by the float64 form. moved: asks for that of inputs moved by one unit, which
    is worth computing only where a result is not plainly right."""

    eager: Produced
    exact: Produced | None = None
    moved: Callable[[], Sequence[Produced]] = tuple


def structure_problem(eager: Returned, actual: Returned) -> str:
    """Why the two returns cannot be compared output by output; empty: they can."""
    if len(eager.outputs) != len(actual.outputs):
        return f"it returns {_counted(len(actual.outputs))}, eager returns {len(eager.outputs)}"
    if bool(eager.container) != bool(actual.container):
        expected = f"a {eager.container}" if eager.container else "a bare value"
        return f"it returns {f'a {actual.container}' if actual.container else 'a bare value'}, eager returns {expected}"
    return ""


def _counted(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def compare(
    references: References,
    actual: Produced,
    *,
    memory: bool = True,
    mapped: Callable[[Difference], bool] = lambda found: False,
) -> Difference:
    """How one output differs from its references. memory: whether where its elements lie counts too. mapped: whether a
    map of what is wrong is wanted."""
    eager = references.eager
    if not isinstance(eager.value, torch.Tensor):
        return _compare_plain(eager, actual)
    if actual.type != eager.type:
        return unlike(Verdict.WRONG_TYPE, f"it is a {actual.type}, eager's a {eager.type}", eager)
    if actual.dtype != eager.dtype:
        return unlike(Verdict.WRONG_TYPE, f"its dtype is {actual.dtype}, eager's {eager.dtype}", eager)
    if actual.shape != eager.shape:
        return unlike(Verdict.WRONG_SHAPE, f"its shape is {list(actual.shape)}, eager's {list(eager.shape)}", eager)
    if actual.device != eager.device:
        return unlike(Verdict.WRONG_TYPE, f"it is on {actual.device}, eager's on {eager.device}", eager)
    if not isinstance(actual.value, torch.Tensor) or actual.value.shape != eager.value.shape:
        return unlike(Verdict.WRONG_TYPE, f"its values cannot be read ({actual.type}, {actual.dtype})", eager)
    found, errors = _compare_tensors(references, eager.value, actual.value, ())
    if references.exact is not None and found.verdict in (Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION):
        found, errors = _compare_tensors(references, eager.value, actual.value, references.moved())
    if errors is not None and found.index is not None and mapped(found):
        found = replace(found, map=error_map(errors, found.shape, found.index))
    if memory and found.verdict is None:
        if overlaps_itself(actual) and not overlaps_itself(eager):
            problem = f"its elements overlap in memory (strides {list(actual.strides)}), eager's do not"
            return unlike(Verdict.WRONG_SHAPE, problem, eager)
        shared = [each for each in actual.shares if each not in eager.shares]
        if shared:
            return unlike(Verdict.WRONG_VALUES, f"it lies in the memory of {shared[0]}, eager's does not", eager)
    return found


def overlaps_itself(produced: Produced) -> bool:
    """Whether two of its elements lie at one address, as far as shape and strides tell at once."""
    steps = [(size, stride) for size, stride in zip(produced.shape, produced.strides) if size > 1]
    if not steps or 0 in produced.shape:
        return False
    reach = 1 + sum((size - 1) * stride for size, stride in steps)
    return any(stride == 0 for _, stride in steps) or reach < math.prod(produced.shape)


def other_strides(eager: Produced, actual: Produced) -> str:
    """How the strides differ where the consumer could see it; empty: they do not."""
    if eager.shape != actual.shape or not eager.strides or not actual.strides or 0 in eager.shape:
        return ""
    seen = [mine != theirs for size, mine, theirs in zip(eager.shape, actual.strides, eager.strides) if size > 1]
    return f"strides {list(actual.strides)}, eager's {list(eager.strides)}" if any(seen) else ""


def unlike(verdict: Verdict, problem: str, eager: Produced) -> Difference:
    """What is wrong as a whole, and close at no t."""
    return Difference(verdict, problem, eager.shape, eager.dtype or eager.type, (), None, wrong_fraction=1.0)


def _compare_plain(eager: Produced, actual: Produced) -> Difference:
    """Numbers, None and the like are equal or wrong."""
    if actual.type != eager.type:
        return unlike(Verdict.WRONG_TYPE, f"it is {_a(actual.type)}, eager's {_a(eager.type)}", eager)
    left, right = eager.value, actual.value
    both_nan = left != left and right != right
    if left == right or both_nan:
        return Difference(None, "", (), eager.type, tuple(sorted(LEVELS)), LEAST_T, 0.0, 0.0)
    return unlike(Verdict.WRONG_VALUES, f"it is {right!r}, eager's {left!r}", eager)


def _a(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _compare_tensors(
    references: References, eager: torch.Tensor, actual: torch.Tensor, nearby: Sequence[Produced]
) -> tuple[Difference, Errors | None]:
    """The difference, and where there is one, all that a map of it is drawn from."""
    dtype = references.eager.dtype
    shape = tuple(eager.shape)
    if eager.is_complex():
        eager, actual = torch.view_as_real(eager.resolve_conj()), torch.view_as_real(actual.resolve_conj())
    exact = _values(references.exact, eager)
    if eager.numel() >= SLICED:
        plain = _plainly_right(dtype, shape, eager, actual, exact)
        if plain is not None:
            return plain, None
    moved = [value for each in nearby if (value := _values(each, eager)) is not None]
    expected64, actual64 = eager.double(), actual.double()
    error = (actual64 - expected64).abs()
    same = (expected64 == actual64) | (expected64.isnan() & actual64.isnan())
    error[same] = 0.0
    closeness = _closeness(dtype, error, expected64, same)
    if eager.is_floating_point():
        finite, wrong, coarse, off, allowed = _wrong_floats(dtype, expected64, actual64, exact, moved, error, same)
    else:
        finite, wrong, coarse = torch.ones_like(same), _wrong_whole(eager, actual, exact), False
        off, allowed = error, WHOLE
    verdict = None
    if bool(wrong.any()):
        non_finite = wrong & ~(expected64.isfinite() & actual64.isfinite())
        verdict = Verdict.LOWER_PRECISION if coarse else Verdict.WRONG_VALUES
        verdict = Verdict.NON_FINITE if bool(non_finite.any()) else verdict
        finite = finite & ~non_finite
    place = _place(wrong, verdict, error, finite)
    measured = finite & error.isfinite()
    measurable = error if bool(measured.all()) else error[measured]
    index = _index(place, tuple(eager.shape))
    fraction = float(wrong.double().mean()) if wrong.numel() else 0.0
    difference = Difference(
        verdict=verdict,
        problem=_sentence(verdict, fraction, place, expected64, actual64, wrong),
        shape=shape,
        dtype=dtype,
        correct_at=tuple(sorted(t for t, close in closeness.items() if close)),
        smallest_t=next((t for t in sorted(closeness) if t <= MOST_T and closeness[t]), None),
        max_error=float(measurable.max()) if measurable.numel() else (0.0 if verdict is None else None),
        mean_error=float(measurable.mean()) if measurable.numel() else (0.0 if verdict is None else None),
        index=index[: len(shape)] if index is not None else None,
        expected=float(expected64.reshape(-1)[place]) if place is not None else None,
        actual=float(actual64.reshape(-1)[place]) if place is not None else None,
        wrong_fraction=fraction,
    )
    if verdict is None:
        return difference, None
    return difference, Errors(expected64, actual64, off, allowed, wrong, getattr(torch, dtype))


def _plainly_right(
    dtype: str, shape: tuple[int, ...], eager: torch.Tensor, actual: torch.Tensor, exact: torch.Tensor | None
) -> Difference | None:
    """The difference, where the least bound lets every element pass; None where more has to be known.

    It says the same as the rest of _compare_tensors, which needs a dozen times the output's memory, and most of its
    time to fetch it.
    """
    floating = eager.is_floating_point()
    sizes = (eager.reshape(-1), actual.reshape(-1), *([] if exact is None else [exact.reshape(-1)]))
    least = 0.0 if exact is None or not floating else _median(_finite_size(_sampled(exact.reshape(-1))))
    close = dict.fromkeys(LEVELS, True)
    greatest, place, total, measured = -2.0, 0, 0.0, 0
    length = SLICE[eager.device.type]
    for start in range(0, eager.numel(), length):
        expected, own, *precise = (each[start : start + length].double() for each in sizes)
        error = (own - expected).abs()
        same = (expected == own) | (expected.isnan() & own.isnan())
        error[same] = 0.0
        if not bool(same.all()):
            if not floating or not bool(_within_least(dtype, expected, own, precise, error, same, least).all()):
                return None
            close = {t: close[t] and here for t, here in _closeness(dtype, error, expected, same).items()}
        known = error.isfinite()
        means = known & expected.isfinite() & own.isfinite() if floating else known
        farthest = int(torch.where(known, error, -1.0).argmax())
        shown = float(error[farthest]) if bool(known[farthest]) else -1.0
        if shown > greatest:
            greatest, place = shown, start + farthest
        total += float(torch.where(means, error, 0.0).sum())
        measured += int(means.sum())
    index = _index(place, tuple(eager.shape))
    return Difference(
        verdict=None,
        problem="",
        shape=shape,
        dtype=dtype,
        correct_at=tuple(sorted(t for t, here in close.items() if here)),
        smallest_t=next((t for t in sorted(close) if t <= MOST_T and close[t]), None),
        max_error=max(greatest, 0.0),
        mean_error=total / measured if measured else 0.0,
        index=index[: len(shape)] if index is not None else None,
        expected=float(sizes[0][place].double()),
        actual=float(sizes[1][place].double()),
    )


def suspects(references: References, actual: torch.Tensor, most: int) -> torch.Tensor:
    """The places, counted through, of elements that the least bound does not let pass; about so many of more. The rest
    is right. actual: of the shape and dtype of eager's output."""
    dtype, eager = references.eager.dtype, references.eager.value
    assert isinstance(eager, torch.Tensor)
    parts = 1
    if eager.is_complex():
        eager, actual, parts = torch.view_as_real(eager.resolve_conj()), torch.view_as_real(actual.resolve_conj()), 2
    floating = eager.is_floating_point()
    exact = _values(references.exact, eager) if floating else None
    sizes = (eager.reshape(-1), actual.reshape(-1), *([] if exact is None else [exact.reshape(-1)]))
    least = 0.0 if exact is None else _median(_finite_size(_sampled(exact.reshape(-1))))
    length = SLICE[eager.device.type]
    most_here = max(1, most // -(-eager.numel() // length))
    found = []
    for start in range(0, eager.numel(), length):
        expected, own, *precise = (each[start : start + length].double() for each in sizes)
        same = (expected == own) | (expected.isnan() & own.isnan())
        if floating:
            same = _within_least(dtype, expected, own, precise, (own - expected).abs(), same, least)
        places = (~same).nonzero().reshape(-1) + start
        found.append(places[:: -(-places.numel() // most_here) or 1] // parts)
    return torch.cat(found)


def _within_least(
    dtype: str,
    expected: torch.Tensor,
    actual: torch.Tensor,
    exact: Sequence[torch.Tensor],
    error: torch.Tensor,
    same: torch.Tensor,
    least: float | torch.Tensor,
) -> torch.Tensor:
    """Which elements pass the least bound. exact: one, or none; least: the size below which all count alike."""
    if not exact:
        allowed = tolerance(dtype, FALLBACK_T)
        finite = expected.isfinite() & actual.isfinite()
        return same | (finite & (error <= allowed.atol + allowed.rtol * expected.abs()))
    (reference,) = exact
    kind = _torch_dtype(dtype)
    units = _unit(kind, _finite_size(reference).clamp(min=float(least)))
    off = (actual - reference).abs()
    return same | (actual.isfinite() & reference.isfinite() & (off <= SLACK_UNITS[kind] * units))


def _values(produced: Produced | None, like: torch.Tensor) -> torch.Tensor | None:
    """A reference in float64, where it has the form of eager's output."""
    value = produced.value if produced is not None else None
    if not isinstance(value, torch.Tensor):
        return None
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    return value.double() if value.shape == like.shape else None


def _closeness(dtype: str, error: torch.Tensor, expected: torch.Tensor, same: torch.Tensor) -> dict[int, bool]:
    """Per level, whether every element is close. NaN is close to NaN, infinity to the same infinity.

    A tolerance grows with t: who is close at one level is looked at no more.
    """
    if bool(same.all()):
        return dict.fromkeys(LEVELS, True)
    other = ~same
    off, size = error[other], expected[other].abs()
    # an infinite reference would make every value close to it
    if not bool((off.isfinite() & size.isfinite()).all()):
        return dict.fromkeys(LEVELS, False)
    found = {}
    for t in sorted(LEVELS):
        allowed = tolerance(dtype, t)
        if off.numel():
            far = off > allowed.atol + allowed.rtol * size
            off, size = off[far], size[far]
        found[t] = not off.numel()
    return found


def _wrong_floats(
    dtype: str,
    expected: torch.Tensor,
    actual: torch.Tensor,
    exact: torch.Tensor | None,
    moved: Sequence[torch.Tensor],
    error: torch.Tensor,
    same: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, bool, torch.Tensor, torch.Tensor]:
    """(elements whose error means something, elements that are wrong, whether all of those are only too coarse, by how
    much an element is off, by how much it may be)."""
    finite = expected.isfinite() & actual.isfinite()
    if exact is None:
        allowed = tolerance(dtype, FALLBACK_T)
        bound = allowed.atol + allowed.rtol * expected.abs()
        return finite, ~(same | (finite & (error <= bound))), False, error, bound
    if bool(same.all()):
        return finite, ~same, False, error, error
    off = (actual - exact).abs()
    size = _finite_size(exact)
    units = _unit(_torch_dtype(dtype), size.clamp(min=_median(_sampled(size.reshape(-1)))))
    slack = SLACK_UNITS[_torch_dtype(dtype)]
    # what the least bound lets pass needs no other
    bound = slack * units
    right = same | (actual.isfinite() & exact.isfinite() & (off <= bound))
    if bool(right.all()):
        return finite, ~right, False, off, bound
    own = _own_errors(dtype, expected, exact, moved, size, units)
    bound = FACTOR * own + slack * units
    right = same | (actual.isfinite() & exact.isfinite() & (off <= bound))
    # where eager overflowed and float64 did not, a finite result is the better one; and beyond the dtype's range
    # both infinity and the largest number will do
    largest = torch.finfo(_torch_dtype(dtype)).max
    beyond = exact.abs() >= largest * (1 - 2**-8)
    right |= beyond & (actual.sign() == exact.sign()) & (actual.abs() >= largest * (1 - 2**-6))
    if bool(right.all()):
        return finite, ~right, False, off, bound
    allowed = tolerance(dtype, FALLBACK_T)
    # small elements may be differences of large ones
    typical = float(exact[exact.isfinite()].abs().mean().nan_to_num())
    units = _unit(_torch_dtype(dtype), exact.abs().clamp(min=typical))
    coarser = COARSER[_torch_dtype(dtype)] * (FACTOR * own + COARSE_UNITS * units)
    coarse = finite & exact.isfinite() & ((off <= coarser) | (error <= allowed.atol + allowed.rtol * expected.abs()))
    return finite, ~right, bool((right | coarse).all()), off, bound


def _own_errors(
    dtype: str,
    eager: torch.Tensor,
    exact: torch.Tensor,
    moved: Sequence[torch.Tensor],
    size: torch.Tensor,
    unit: torch.Tensor,
) -> torch.Tensor:
    """Per element, what eager is off by, with what its inputs' own rounding does."""
    own = (eager - exact).abs()
    half = is_half(dtype)
    change = torch.stack([(each - exact).abs() for each in moved]).amax(0) if moved else torch.zeros_like(own)
    change = torch.where(change.isfinite(), change, torch.zeros_like(change))
    own = torch.where(own.isfinite(), own, torch.zeros_like(own))
    if not half:
        return _envelope(own + change, size)
    own = _envelope(own, size).maximum(unit / 2)
    return own.maximum(torch.where(CANCELLED * change >= size, change, torch.zeros_like(change)))


def _envelope(own: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """Per element the largest error among elements of similar or smaller size."""
    if not own.numel():
        return own
    _, exponent = torch.frexp(size)
    # zeros are the smallest of all
    exponent = torch.where(size == 0, torch.full_like(exponent, -1100), exponent).clamp(-1100, 1100).long() + 1100
    largest = torch.zeros(2202 + SIMILAR_BINADES, dtype=own.dtype, device=own.device)
    largest.scatter_reduce_(0, exponent.reshape(-1), own.reshape(-1), "amax")
    upto = largest.cummax(0).values
    return upto[exponent + SIMILAR_BINADES]


def _finite_size(exact: torch.Tensor) -> torch.Tensor:
    return torch.where(exact.isfinite(), exact.abs(), 0.0)


def _sampled(flat: torch.Tensor) -> torch.Tensor:
    """Of a million elements, every tenth: they tell the same of the median."""
    return flat[:: max(1, flat.numel() // 100_000)]


def _median(size: torch.Tensor) -> float:
    return float(size.median()) if size.numel() else 0.0


def _unit(dtype: torch.dtype, size: torch.Tensor) -> torch.Tensor:
    """One unit in the last place of finite numbers of this size, which are in float64, as is what it returns."""
    info = torch.finfo(dtype)
    _, exponent = torch.frexp(size.clamp(min=info.smallest_normal))
    # a power of two by its bits: torch.ldexp computes it in single precision
    return ((exponent.long() + 1022) << 52).view(torch.float64) * info.eps


def is_half(dtype: str) -> bool:
    """Whether outputs of this dtype are judged as half precision."""
    return _torch_dtype(dtype) in HALF


def _torch_dtype(dtype: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, WIDER.get(dtype, dtype))
    return found if found in SLACK_UNITS else torch.bfloat16


def _wrong_whole(eager: torch.Tensor, actual: torch.Tensor, exact: torch.Tensor | None) -> torch.Tensor:
    """Integers and booleans: equal to eager, or to float64 where eager itself was thrown by its rounding."""
    wrong = eager != actual
    if exact is not None:
        wrong &= actual.double() != exact
    return wrong


def _place(wrong: torch.Tensor, verdict: Verdict | None, error: torch.Tensor, finite: torch.Tensor) -> int | None:
    """The element to show: the first non-finite wrong one, else the wrong one farthest off, else the farthest off."""
    if not error.numel():
        return None
    flat = error.reshape(-1)
    if verdict is Verdict.NON_FINITE:
        return int((wrong & ~(finite & error.isfinite())).reshape(-1).double().argmax())
    shown = torch.where(flat.isfinite(), flat, torch.full_like(flat, -1.0))
    if verdict is not None:
        shown = torch.where(wrong.reshape(-1), shown, torch.full_like(flat, -1.0))
    return int(shown.argmax())


def _index(place: int | None, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    if place is None:
        return None
    index: list[int] = []
    for size in reversed(shape):
        place, rest = divmod(place, size)
        index.append(rest)
    return tuple(reversed(index))


def _sentence(
    verdict: Verdict | None,
    fraction: float,
    place: int | None,
    expected: torch.Tensor,
    actual: torch.Tensor,
    wrong: torch.Tensor,
) -> str:
    if verdict is None or place is None:
        return ""
    index = list(_index(place, tuple(expected.shape)) or ())
    there = f"at {index} it is {float(actual.reshape(-1)[place]):.6g}, eager's {float(expected.reshape(-1)[place]):.6g}"
    how = "less precise than eager and the dtype allow" if verdict is Verdict.LOWER_PRECISION else "wrong"
    return f"{percent(fraction)} of its elements are {how}{_where(wrong)}: {there}"


def _where(wrong: torch.Tensor) -> str:
    """The slice that holds all wrong elements, where that is not the whole nor a single one."""
    if wrong.dim() == 0 or int(wrong.sum()) == 1:
        return ""
    ranges, narrow = [], False
    for (first, last), size in zip(spans(wrong), wrong.shape):
        whole = (first, last) == (0, size)
        narrow = narrow or not whole
        ranges.append(":" if whole else f"{first}:{last}")
    return f", all in [{', '.join(ranges)}]" if narrow else ""


def percent(fraction: float) -> str:
    """A share for people: never 0 % or 100 % of what is only nearly so."""
    if fraction in (0.0, 1.0):
        return f"{fraction:.0%}"
    return f"{min(max(fraction, 0.0001), 0.9999):.2%}"


def gather(differences: Sequence[tuple[str, Difference]], output: int) -> OutputAccuracy:
    """One output over all its drawings, each with the name of its drawing; the worst one is shown."""
    found = [difference for _, difference in differences]
    levels = [each.smallest_t for each in found]
    passing = [t for t in levels if t is not None]
    correct = frozenset(LEVELS).intersection(*(each.correct_at for each in found))
    profile, worst = max(differences, key=lambda each: _badness(each[1]))
    errors = [each.max_error for each in found if each.max_error is not None]
    means = [each.mean_error for each in found if each.mean_error is not None]
    return OutputAccuracy(
        output=output,
        shape=worst.shape,
        dtype=worst.dtype,
        smallest_t=max(passing) if len(passing) == len(levels) else None,
        correct_at=tuple(sorted(correct)),
        max_error=max(errors) if errors else None,
        mean_error=max(means) if means else None,
        index=worst.index,
        expected=worst.expected,
        actual=worst.actual,
        profile=profile,
        wrong_fraction=max(each.wrong_fraction for each in found),
        problem=worst.problem,
        verdict=worst.verdict,
        wrong_in=tuple(dict.fromkeys(name for name, each in differences if each.verdict is not None)),
        map=worst.map,
    )


def worse(found: Difference, before: Iterable[Difference]) -> bool:
    """Whether it would be shown instead of all of these."""
    return all(_badness(found) > _badness(each) for each in before)


ORDER = (
    None,
    Verdict.LOWER_PRECISION,
    Verdict.WRONG_VALUES,
    Verdict.NON_FINITE,
    Verdict.WRONG_SHAPE,
    Verdict.WRONG_TYPE,
)


def _badness(difference: Difference) -> tuple[int, float, float]:
    error = difference.max_error if difference.max_error is not None else math.inf
    return ORDER.index(difference.verdict), difference.wrong_fraction, error
