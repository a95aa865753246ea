"""Compare what a call returned with what eager returned.

Two measures serve two purposes. *Closeness at t* is GraphNet's (arXiv 2510.24035), for every element: |actual - eager|
<= atol(t) + rtol(t) |eager|. It goes into the score. The *verdict* compares each element with the float64 result, which
asks less of an honest fusion and more of a sloppy one: |actual - float64| may be at most FACTOR times the sum of two
errors, plus SLACK_UNITS ulps of the dtype, at the size of the element or of the median element, whichever is larger.
- Eager's own error, |eager - float64|: the largest one among elements of similar or smaller size.
- What rounding can change: the float64 result when the inputs are perturbed by one ulp (in half precision by a few ulps
  of float32), and eager's when its intermediate results in half precision are moved (see perturbing.py). In single
  precision the largest change counts as well (eager may be exact by luck), but one beyond SENSITIVE counts for its own
  element alone. In half precision this term is at least half an ulp, the cost of one rounding, and the change counts
  only if it is an eighth of the element or more, as in what a cancellation leaves.
  If eager is lost (some element is off by more than its own size and more than the mean size), the largest change
  counts, whatever its size.
If every wrong element is within that bound for a coarser dtype, and off by at most a quarter of its own or of the mean
size, the verdict is lower precision. Integers and booleans must equal eager's or float64's. A few may instead equal
what eager or float64 gives for perturbed inputs: FACTOR times as many as those in which eager differs from float64,
plus a share of TIPPED. Without a float64 result the verdict is closeness at FALLBACK_T. See elements.py.

Memory: strides may differ from eager's, because an optimiser is free to choose layouts. A consumer could fail on two
other things, which are wrong unless eager's output has them as well: elements that overlap in memory, and memory that
is shared with an input or another output."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from passnet_core.judge.numerics.elements import Elements, ErrorCounts
from passnet_core.judge.numerics.error_map import error_map, spans
from passnet_core.judge.protocol.messages import Produced, Returned
from passnet_core.judge.protocol.reference_bench import Layout, OutputDifference
from passnet_core.records import LEVELS, FailedInputs, OutputAccuracy, Verdict, counted

LEAST_T, MOST_T = -10, 0

ALIKE, ALIKE_IN_HALF = 0.005, 0.02
"""Elements are about the same if they differ by this share of the element and of the mean size: of the dtype that holds
the right ones."""

MOST_BROADCAST = 1 << 26
"""Most elements of two outputs that are broadcast against each other, unless one of them has as many."""


MOST_INTEGER = 1 << 63
NUMBERS = {"float": "float64", "int": "int64", "bool": "bool"}
"""Types of plain numbers, and the widest dtype of tensors that they are read from."""


@dataclass(frozen=True)
class References:
    """The results that one output is compared with. exact: the float64 result, if there is one. perturbed: computes the
    float64 results on perturbed inputs, for whole numbers eager's as well; called only if the output looks wrong."""

    eager: Produced
    exact: Produced | None = None
    perturbed: Callable[[], Iterable[Produced]] = tuple


def as_tensors(references: References) -> References:
    """The references of a number as those of the tensor without axes that it was read from, as far as its digits tell
    its dtype; of anything else as they are."""
    eager, exact = references.eager, references.exact
    if not _fits(eager):
        return references
    dtype = wide = NUMBERS[eager.type]
    if isinstance(eager.value, float):
        rounded = exact is not None and _holds("float32", exact.value, eager.value)
        kinds = ("float32",) if rounded or not math.isfinite(eager.value) else ("float16", "bfloat16", "float32")
        dtype = next((each for each in kinds if _holds(each, eager.value, eager.value)), wide)
    return References(
        _as_tensor(eager, dtype),
        exact and _as_tensor(exact, wide),
        lambda: (_as_tensor(each, wide) for each in references.perturbed()),
    )


def _fits(produced: Produced) -> bool:
    """Whether it is a number that a tensor can hold."""
    value = produced.value
    return isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < MOST_INTEGER)


def _holds(dtype: str, value: object, rounded: float) -> bool:
    """Whether a number in this dtype is the other one."""
    found = float(torch.tensor(value, dtype=getattr(torch, dtype)))
    return found == rounded or found != found


def _as_tensor(number: Produced, dtype: str) -> Produced:
    if not _fits(number):
        return number
    value = torch.tensor(number.value, dtype=getattr(torch, dtype))
    return Produced("torch.Tensor", value, dtype, device="cpu")


def broadcast(eager: Produced, actual: Produced) -> tuple[Produced, Produced]:
    """Both outputs in the shape in which torch.allclose compares them, as PassNet does: it asks for no equal shapes.
    Unchanged if there is no such shape, or if it is too large to be compared."""
    wanted, given = eager.value, actual.value
    if not isinstance(wanted, torch.Tensor) or not isinstance(given, torch.Tensor):
        return eager, actual
    try:
        shape = torch.broadcast_shapes(wanted.shape, given.shape)
    except RuntimeError:
        return eager, actual
    if math.prod(shape) > max(MOST_BROADCAST, wanted.numel(), given.numel()):
        return eager, actual
    return (
        replace(eager, value=wanted.expand(shape), shape=tuple(shape)),
        replace(actual, value=given.expand(shape), shape=tuple(shape)),
    )


def alike(actual: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Which elements are about the same: a quick answer, on which no verdict rests alone."""
    if not right.is_floating_point():
        return actual == right
    given, wanted = actual.float(), right.float()
    size = wanted.abs()
    known = size[size.isfinite()]
    share = ALIKE_IN_HALF if right.dtype.itemsize <= 2 else ALIKE
    bound = share * (size + (known.mean() if known.numel() else 0.0))
    return ((given - wanted).abs() <= bound) | (given == wanted) | (given.isnan() & wanted.isnan())


def structure_problem(eager: Returned, actual: Returned) -> str:
    """Say why the two returns cannot be compared output by output; empty if they can."""
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
    wants_map: Callable[[OutputDifference], bool] = lambda found: False,
    output_size: int | None = None,
) -> OutputDifference:
    """Compare one output with its references. memory: overlapping and shared memory count as well. wants_map: says
    whether a wrong output gets an error map. output_size: elements of the whole output, if only a sample is passed."""
    eager = references.eager
    if eager.type == actual.type and _fits(eager) and _fits(actual):
        tensors = as_tensors(references)
        found = compare(tensors, _as_tensor(actual, tensors.eager.dtype), wants_map=wants_map)
        return replace(found, dtype=eager.type)
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
    if actual.value.dtype is torch.bool and bool((actual.value.view(torch.uint8) > 1).any()):
        return unlike(Verdict.WRONG_VALUES, "its bytes are not all 0 or 1, as a boolean's must be", eager)
    elements = _elements(references, actual.value, output_size=output_size)
    found = _compare_tensors(elements, eager.shape)
    if references.exact is not None and found.verdict in (Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION):
        if elements.floating:
            elements = _elements(references, actual.value, references.perturbed())
            found = _compare_tensors(elements, eager.shape)
        elif elements.tipped:
            elements.accept(_alike(references.perturbed(), eager.value))
            found = _compare_tensors(elements, eager.shape)
    if found.verdict is not None and found.index is not None and wants_map(found):
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
    """Describe how an output's elements overlap in memory; empty if they do not, or if eager's overlap as well."""
    if not overlaps_itself(actual) or overlaps_itself(eager):
        return ""
    return f"its elements overlap in memory (strides {list(actual.strides)}), eager's do not"


def sharing_problem(eager: Produced | Layout, actual: Produced) -> str:
    """Name a tensor whose memory an output shares and eager's output does not; empty if there is none."""
    shared = [each for each in actual.shares if each not in eager.shares]
    return f"it shares the memory of {shared[0]}, eager's does not" if shared else ""


def overlaps_itself(produced: Produced | Layout) -> bool:
    """Whether shape and strides show at once that two elements have the same address."""
    steps = [(size, stride) for size, stride in zip(produced.shape, produced.strides) if size > 1]
    if not steps or 0 in produced.shape:
        return False
    reach = 1 + sum((size - 1) * stride for size, stride in steps)
    return any(stride == 0 for _, stride in steps) or reach < math.prod(produced.shape)


def other_strides(eager: Produced | Layout, actual: Produced) -> str:
    """Describe strides that differ from eager's in axes longer than 1; empty if none do."""
    if eager.shape != actual.shape or not eager.strides or not actual.strides or 0 in eager.shape:
        return ""
    pairs = zip(eager.shape, actual.strides, eager.strides)
    seen = any(stride != wanted for size, stride, wanted in pairs if size > 1)
    return f"strides {list(actual.strides)}, eager's {list(eager.strides)}" if seen else ""


def unlike(verdict: Verdict, problem: str, eager: Produced) -> OutputDifference:
    """An output that is wrong as a whole, and close at no t."""
    return OutputDifference(verdict, problem, eager.shape, eager.dtype or eager.type, (), None, wrong_fraction=1.0)


def _compare_plain(eager: Produced, actual: Produced) -> OutputDifference:
    """Compare numbers, None and the like, which must be equal."""
    if actual.type != eager.type:
        return unlike(Verdict.WRONG_TYPE, f"it is {_a(actual.type)}, eager's {_a(eager.type)}", eager)
    left, right = eager.value, actual.value
    both_nan = left != left and right != right
    if left == right or both_nan:
        return OutputDifference(None, "", (), eager.type, tuple(sorted(LEVELS)), LEAST_T, 0.0, 0.0, wrong=0)
    return unlike(Verdict.WRONG_VALUES, f"it is {right!r}, eager's {left!r}", eager)


def _a(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _elements(
    references: References, actual: torch.Tensor, perturbed: Iterable[Produced] = (), output_size: int | None = None
) -> Elements:
    """Join eager's output, an actual one of its shape and dtype, and those of the references that have its shape."""
    eager = references.eager.value
    assert isinstance(eager, torch.Tensor)
    if eager.is_complex():
        eager, actual = torch.view_as_real(eager.resolve_conj()), torch.view_as_real(actual.resolve_conj())
    others = tuple(_alike(perturbed, eager))
    return Elements(references.eager.dtype, eager, actual, _values(references.exact, eager), others, output_size)


def _alike(perturbed: Iterable[Produced], eager: torch.Tensor) -> Iterator[torch.Tensor]:
    return (value for each in perturbed if (value := _values(each, eager)) is not None)


def _compare_tensors(elements: Elements, shape: tuple[int, ...]) -> OutputDifference:
    counts = elements.count_errors()
    verdict = None
    place: int | None = counts.farthest if len(elements) else None
    if counts.wrong:
        verdict = Verdict.LOWER_PRECISION if counts.coarse else Verdict.WRONG_VALUES
        place = counts.worst
        if counts.first_not_finite is not None:
            verdict, place = Verdict.NON_FINITE, counts.first_not_finite
    index = _index(place, tuple(elements.shape))
    wrong = _count(elements, counts, shape)
    expected, given = (None if place is None else float(each[place]) for each in (elements.eager, elements.actual))
    none = 0.0 if verdict is None else None
    difference = OutputDifference(
        verdict=verdict,
        problem="",
        shape=shape,
        dtype=elements.dtype,
        correct_at=tuple(sorted(t for t, close in counts.close.items() if close)),
        smallest_t=next((t for t in sorted(counts.close) if t <= MOST_T and counts.close[t]), None),
        max_error=none if counts.max_error is None else counts.max_error,
        mean_error=none if counts.mean_error is None else counts.mean_error,
        index=index[: len(shape)] if index is not None else None,
        expected=expected,
        actual=given,
        wrong_fraction=wrong / max(1, math.prod(shape)),
        wrong=wrong,
    )
    if verdict is not None:
        said = counted(wrong, math.prod(shape)) + (" is " if wrong == 1 else " are ")
        problem = said + _sentence(verdict, list(index or ()), expected, given, _where(elements.wrong(counts)))
        difference = replace(difference, problem=problem)
    return difference


def _count(elements: Elements, counts: ErrorCounts, shape: tuple[int, ...]) -> int:
    """How many elements are wrong. A complex one is if its real or its imaginary part is."""
    if not counts.wrong or len(elements.shape) == len(shape):
        return counts.wrong
    return int(elements.wrong(counts).any(-1).sum())


def overflowed(references: References) -> bool:
    """Whether eager overflowed in an element whose float64 value its dtype could hold."""
    value = references.eager.value
    return isinstance(value, torch.Tensor) and _elements(references, value).overflowed()


def suspects(references: References, actual: torch.Tensor, most: int) -> torch.Tensor:
    """Flat indices of the elements that the ulp slack alone does not excuse; about `most` of them if there are more.
    actual: has the shape and dtype of eager's output."""
    elements = _elements(references, actual)
    parts = elements.shape.numel() // max(1, math.prod(references.eager.shape))
    return elements.suspects(most) // max(1, parts)


def _values(produced: Produced | None, like: torch.Tensor) -> torch.Tensor | None:
    """A reference's values as real numbers; None if it is no tensor of the shape of `like`."""
    value = produced.value if produced is not None else None
    if not isinstance(value, torch.Tensor):
        return None
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    return value if value.shape == like.shape else None


def _index(place: int | None, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    if place is None:
        return None
    return tuple(int(each) for each in torch.unravel_index(torch.tensor(place), shape))


def _sentence(verdict: Verdict, index: Sequence[int], expected: float | None, actual: float | None, where: str) -> str:
    how = "less precise than eager and the dtype allow" if verdict is Verdict.LOWER_PRECISION else "wrong"
    element = f"element {list(index)} is {actual:.6g}" if index else f"it is {actual:.6g}"
    return f"{how}{where}: {element}, eager's {expected:.6g}"


def _where(wrong: torch.Tensor) -> str:
    """Name the slice that holds all wrong elements; empty if it is the whole output or a single element."""
    if wrong.dim() == 0 or int(wrong.sum()) == 1:
        return ""
    ranges, narrow = [], False
    for (first, last), size in zip(spans(wrong), wrong.shape):
        whole = (first, last) == (0, size)
        narrow = narrow or not whole
        ranges.append(":" if whole else f"{first}:{last}")
    return f", all in [{', '.join(ranges)}]" if narrow else ""


def gather(differences: Sequence[tuple[str, OutputDifference]], output: int) -> OutputAccuracy:
    """Combine the differences of one output on all input draws, each with its draw's name. The worst one is shown, the
    first of equals."""
    found = [difference for _, difference in differences]
    levels = [each.smallest_t for each in found]
    passing = [t for t in levels if t is not None]
    correct = frozenset(LEVELS).intersection(*(each.correct_at for each in found))
    profile, worst = max(differences, key=lambda each: badness(each[1]))
    return OutputAccuracy(
        output=output,
        shape=worst.shape,
        dtype=worst.dtype,
        smallest_t=max(passing) if len(passing) == len(levels) else None,
        correct_at=tuple(sorted(correct)),
        max_error=max((each.max_error for each in found if each.max_error is not None), default=None),
        mean_error=max((each.mean_error for each in found if each.mean_error is not None), default=None),
        index=worst.index,
        expected=worst.expected,
        actual=worst.actual,
        profile=profile,
        wrong_fraction=worst.wrong_fraction,
        problem=worst.problem,
        verdict=worst.verdict,
        wrong_in=tuple(dict.fromkeys(name for name, each in differences if each.verdict is not None)),
        map=worst.map,
        wrong=worst.wrong,
        failed=tuple(_failed(differences)),
    )


def _failed(differences: Sequence[tuple[str, OutputDifference]]) -> Iterator[FailedInputs]:
    """The inputs on which the output fails, each once, with the worst difference on them."""
    worst: dict[str, OutputDifference] = {}
    for name, each in differences:
        if each.verdict is not None and (name not in worst or badness(each) > badness(worst[name])):
            worst[name] = each
    for name, each in worst.items():
        assert each.verdict is not None
        yield FailedInputs(name, each.verdict, each.wrong, math.prod(each.shape))


def worse(found: OutputDifference, before: Iterable[OutputDifference]) -> bool:
    """Whether gather would show this difference instead of all those before it."""
    return all(badness(found)[:-1] > badness(each)[:-1] for each in before)


ORDER = (
    None,
    Verdict.LOWER_PRECISION,
    Verdict.WRONG_VALUES,
    Verdict.NON_FINITE,
    Verdict.WRONG_SHAPE,
    Verdict.WRONG_TYPE,
)


def badness(difference: OutputDifference) -> tuple[int, bool, float, float, bool]:
    """How bad a difference is: the worst is shown. Of one verdict, wrong elements tell more than an output that is
    wrong as a whole; of equals, one with an error map."""
    error = difference.max_error if difference.max_error is not None else math.inf
    has_map = difference.map is not None
    return ORDER.index(difference.verdict), bool(difference.wrong), difference.wrong_fraction, error, has_map
