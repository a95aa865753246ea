"""Outputs compared: what a call had to return, and what it did return.

Two measures, with two purposes. *Closeness at t* is GraphNet's: |actual - eager| <= atol(t) + rtol(t) |eager|, and goes
into the score. The judge's own verdict asks less of an honest fusion and more of a sloppy one: against float64, an
element may be off by FACTOR times the sum of two errors, plus a slack of a few units in the last place:
- eager's own error, the largest one among elements of similar or smaller size;
- the change of the float64 result when every input moves by one unit in its last place. In single precision the
  largest one likewise (eager may be exact by luck), but one beyond SENSITIVE for its own element alone. In half
  precision at least half a unit, which one rounding costs, and that change only where it is an eighth of the element or
  more, since what is left of a cancellation is hardly more than rounding; but the largest one, whatever its size, where
  eager is lost: anywhere off by more than the number and the mean one;
- SLACK_UNITS units of the element's dtype, at the size of the element or of the median element, whichever is larger.
What is off by more, but by no more than the same in a coarser dtype and a quarter of itself or of the mean element, is
of lower precision and not otherwise wrong. Whole numbers are equal to eager or to float64; few may instead be what
either gives for moved inputs: FACTOR times as many as eager has that float64 has not, plus a share of TIPPED. Without
a float64 reference the verdict is closeness at FALLBACK_T. All of this is computed in elements, which has the figures.

Memory: strides may differ from eager's, since layouts are an optimiser's to choose. What the consumer of a result could
fall over may not: elements that overlap in memory, or memory shared with an input or another output, unless eager's do.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from passnet_core.judge.numerics.elements import Elements
from passnet_core.judge.numerics.error_map import error_map, spans
from passnet_core.judge.protocol.messages import Produced, Returned
from passnet_core.judge.protocol.reference_bench import Layout, OutputDifference
from passnet_core.records import LEVELS, OutputAccuracy, Verdict

LEAST_T, MOST_T = -10, 0


@dataclass(frozen=True)
class References:
    """What an output is judged by. exact: by the float64 form. moved: asks for that of inputs moved by one unit, and of
    whole numbers for eager's too; worth computing only where a result is not plainly right."""

    eager: Produced
    exact: Produced | None = None
    moved: Callable[[], Iterable[Produced]] = tuple


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
    mapped: Callable[[OutputDifference], bool] = lambda found: False,
    whole: int | None = None,
) -> OutputDifference:
    """How one output differs from its references. memory: whether where its elements lie counts too. mapped: whether a
    map of what is wrong is wanted. whole: how many elements the output has, where these are some of them."""
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
    elements = _elements(references, actual.value, whole=whole)
    found = _compare_tensors(elements, eager.shape)
    if references.exact is not None and found.verdict in (Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION):
        if elements.floating:
            elements = _elements(references, actual.value, references.moved())
            found = _compare_tensors(elements, eager.shape)
        elif elements.tipped:
            elements.accept(_alike(references.moved(), eager.value))
            found = _compare_tensors(elements, eager.shape)
    if found.verdict is not None and found.index is not None and mapped(found):
        found = replace(found, map=error_map(elements.errors(), found.shape, found.index))
    if memory and found.verdict is None:
        if problem := overlap_problem(eager, actual):
            return unlike(Verdict.WRONG_SHAPE, problem, eager)
        if problem := sharing_problem(eager, actual):
            return unlike(Verdict.WRONG_VALUES, problem, eager)
    return found


def layout(produced: Produced) -> Layout:
    return Layout(produced.shape, produced.strides, produced.shares)


def overlap_problem(eager: Produced | Layout, actual: Produced) -> str:
    """How an output's elements overlap, unless eager's do; empty: they do not."""
    if not overlaps_itself(actual) or overlaps_itself(eager):
        return ""
    return f"its elements overlap in memory (strides {list(actual.strides)}), eager's do not"


def sharing_problem(eager: Produced | Layout, actual: Produced) -> str:
    """In whose memory an output lies, unless eager's does; empty: in its own."""
    shared = [each for each in actual.shares if each not in eager.shares]
    return f"it lies in the memory of {shared[0]}, eager's does not" if shared else ""


def overlaps_itself(produced: Produced | Layout) -> bool:
    """Whether two of its elements lie at one address, as far as shape and strides tell at once."""
    steps = [(size, stride) for size, stride in zip(produced.shape, produced.strides) if size > 1]
    if not steps or 0 in produced.shape:
        return False
    reach = 1 + sum((size - 1) * stride for size, stride in steps)
    return any(stride == 0 for _, stride in steps) or reach < math.prod(produced.shape)


def other_strides(eager: Produced | Layout, actual: Produced) -> str:
    """How the strides differ where the consumer could see it; empty: they do not."""
    if eager.shape != actual.shape or not eager.strides or not actual.strides or 0 in eager.shape:
        return ""
    pairs = zip(eager.shape, actual.strides, eager.strides)
    seen = any(stride != wanted for size, stride, wanted in pairs if size > 1)
    return f"strides {list(actual.strides)}, eager's {list(eager.strides)}" if seen else ""


def unlike(verdict: Verdict, problem: str, eager: Produced) -> OutputDifference:
    """What is wrong as a whole, and close at no t."""
    return OutputDifference(verdict, problem, eager.shape, eager.dtype or eager.type, (), None, wrong_fraction=1.0)


def _compare_plain(eager: Produced, actual: Produced) -> OutputDifference:
    """Numbers, None and the like are equal or wrong."""
    if actual.type != eager.type:
        return unlike(Verdict.WRONG_TYPE, f"it is {_a(actual.type)}, eager's {_a(eager.type)}", eager)
    left, right = eager.value, actual.value
    both_nan = left != left and right != right
    if left == right or both_nan:
        return OutputDifference(None, "", (), eager.type, tuple(sorted(LEVELS)), LEAST_T, 0.0, 0.0)
    return unlike(Verdict.WRONG_VALUES, f"it is {right!r}, eager's {left!r}", eager)


def _a(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _elements(
    references: References, actual: torch.Tensor, moved: Iterable[Produced] = (), whole: int | None = None
) -> Elements:
    """The elements of eager's output, of this one of its shape and dtype, and of what references have that shape."""
    eager = references.eager.value
    assert isinstance(eager, torch.Tensor)
    if eager.is_complex():
        eager, actual = torch.view_as_real(eager.resolve_conj()), torch.view_as_real(actual.resolve_conj())
    others = tuple(_alike(moved, eager))
    return Elements(references.eager.dtype, eager, actual, _values(references.exact, eager), others, whole)


def _alike(moved: Iterable[Produced], eager: torch.Tensor) -> Iterator[torch.Tensor]:
    return (value for each in moved if (value := _values(each, eager)) is not None)


def _compare_tensors(elements: Elements, shape: tuple[int, ...]) -> OutputDifference:
    tally = elements.tally()
    verdict = None
    place: int | None = tally.farthest if len(elements) else None
    if tally.wrong:
        verdict = Verdict.LOWER_PRECISION if tally.coarse else Verdict.WRONG_VALUES
        place = tally.worst
        if tally.first_not_finite is not None:
            verdict, place = Verdict.NON_FINITE, tally.first_not_finite
    index = _index(place, tuple(elements.shape))
    fraction = tally.wrong / max(1, len(elements))
    expected, given = (None if place is None else float(each[place]) for each in (elements.eager, elements.actual))
    none = 0.0 if verdict is None else None
    difference = OutputDifference(
        verdict=verdict,
        problem="",
        shape=shape,
        dtype=elements.dtype,
        correct_at=tuple(sorted(t for t, close in tally.close.items() if close)),
        smallest_t=next((t for t in sorted(tally.close) if t <= MOST_T and tally.close[t]), None),
        max_error=none if tally.max_error is None else tally.max_error,
        mean_error=none if tally.mean_error is None else tally.mean_error,
        index=index[: len(shape)] if index is not None else None,
        expected=expected,
        actual=given,
        wrong_fraction=fraction,
    )
    if verdict is not None:
        problem = _sentence(verdict, fraction, list(index or ()), expected, given, _where(elements.wrong(tally)))
        difference = replace(difference, problem=problem)
    return difference


def overflowed(references: References) -> bool:
    """Whether eager lost numbers of this output that its dtype could hold."""
    value = references.eager.value
    return isinstance(value, torch.Tensor) and _elements(references, value).overflowed()


def suspects(references: References, actual: torch.Tensor, most: int) -> torch.Tensor:
    """The places, counted through, of elements that are not plainly right; about so many of more. actual: of the shape
    and dtype of eager's output."""
    elements = _elements(references, actual)
    parts = elements.shape.numel() // max(1, math.prod(references.eager.shape))
    return elements.suspects(most) // max(1, parts)


def _values(produced: Produced | None, like: torch.Tensor) -> torch.Tensor | None:
    """A reference, where it has the form of eager's output."""
    value = produced.value if produced is not None else None
    if not isinstance(value, torch.Tensor):
        return None
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    return value if value.shape == like.shape else None


def _index(place: int | None, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    if place is None:
        return None
    index: list[int] = []
    for size in reversed(shape):
        place, rest = divmod(place, size)
        index.append(rest)
    return tuple(reversed(index))


def _sentence(
    verdict: Verdict, fraction: float, index: Sequence[int], expected: float | None, actual: float | None, where: str
) -> str:
    how = "less precise than eager and the dtype allow" if verdict is Verdict.LOWER_PRECISION else "wrong"
    there = f"at {list(index)} it is {actual:.6g}, eager's {expected:.6g}"
    return f"{percent(fraction)} of its elements are {how}{where}: {there}"


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


def gather(differences: Sequence[tuple[str, OutputDifference]], output: int) -> OutputAccuracy:
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


def worse(found: OutputDifference, before: Iterable[OutputDifference]) -> bool:
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


def _badness(difference: OutputDifference) -> tuple[int, float, float]:
    error = difference.max_error if difference.max_error is not None else math.inf
    return ORDER.index(difference.verdict), difference.wrong_fraction, error
