"""Sizes for Triton's interpreter: if the recorded sizes would take too long, axes shrink together.

This is not a check. It decides at which sizes VERIFY makes its checks, and when its time has run out."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.graphs.ir import Graph, Slice, Value
from passnet_core.graphs.placement import placed
from passnet_core.judge.numerics.input_draws import dtype_of
from passnet_core.judge.protocol.reference_bench import InputRole
from passnet_core.judge.worker import building
from passnet_core.records import TensorSpec

Shapes = tuple[tuple[int, ...], ...]

INTERPRETER_BUDGET_S = 20.0
"""How many seconds all input draws together may take in the interpreter, by estimate, before sizes are reduced."""

PROBE_ELEMENTS = 32_768
"""About how many input elements the call has that the estimate is made from. Smaller subgraphs need no estimate."""

SMALL_ELEMENTS = 8_192
"""About how many input elements the calls have that input draws are chosen by."""
LEAST_SMALL = (16, 4)
"""No axis shrinks below the first of these for that, or below the second if there still are too many elements."""

MISFITS = (
    RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, AssertionError, ArithmeticError,
)  # fmt: skip
"""The exceptions that torch raises if sizes do not fit an operation."""

LEAST_SIZE = 2
"""No axis shrinks below this size."""
MOST_STEPS = 40
"""How many ever smaller choices of sizes there are at most."""


@dataclass(frozen=True)
class SizeStep:
    """One choice of sizes. shapes: per input. elements: in all inputs together."""

    shapes: Shapes
    elements: int


class Pace:
    """Chooses the sizes of a verification by the time that its input draws have taken.

    interpreted: whether kernels run in Triton's interpreter; if not, the recorded sizes stay and time does not matter.
    """

    def __init__(self, specs: Sequence[TensorSpec], input_draws: Sequence[str], *, interpreted: bool) -> None:
        self.specs, self.input_draws, self.interpreted = specs, input_draws, interpreted
        recorded: Shapes = tuple(spec.shape for spec in specs)
        self.steps: tuple[SizeStep, ...] = (SizeStep(recorded, _elements(recorded)),)
        self.at = 0
        self.done = 0
        self.spent = self.began = 0.0
        self.last: float | None = None
        self.reduced = ""
        """A sentence that says what was reduced or left out, or empty."""

    @property
    def shapes(self) -> Shapes:
        """The shape of each input, at the sizes chosen now."""
        return self.steps[self.at].shapes

    def consider(self, graph: Graph, known_roles: Mapping[str, InputRole]) -> SizeStep | None:
        """Find smaller sizes, if the interpreter may need them, and return those for the call that is timed. None: not
        needed."""
        recorded = self.steps[0].shapes
        self.steps = (SizeStep(recorded, _computed(self.specs, recorded, known_roles)),)
        if self.interpreted and self.steps[0].elements > PROBE_ELEMENTS:
            self.steps = (*self.steps, *smaller(graph, self.specs, known_roles))
        if len(self.steps) == 1:
            return None
        return next((step for step in self.steps if step.elements <= PROBE_ELEMENTS), self.steps[-1])

    def choose(self, per_element_s: float, calls: int) -> None:
        """Choose the largest sizes at which so many calls should finish in time. per_element_s: seconds per input
        element."""
        affordable = INTERPRETER_BUDGET_S / calls
        fitting = (index for index, step in enumerate(self.steps) if per_element_s * step.elements <= affordable)
        self.at = next(fitting, len(self.steps) - 1)

    def begin(self) -> None:
        """Start the clock for the next input draw."""
        self.began, self.last = time.monotonic(), None

    def affords(self, extra: int) -> bool:
        """Whether this many extra calls, each as long as this input draw took, leave time for the input draws to
        come."""
        last = self._lap()
        calls = extra + len(self.input_draws) - self.done - 1
        return not (self.interpreted and self.spent + last * (1 + calls) > 2 * INTERPRETER_BUDGET_S)

    def ended(self) -> bool:
        """Count an input draw. If time runs short, shrink the sizes, or return True to leave out the other input
        draws."""
        last = self._lap()
        self.spent += time.monotonic() - self.began
        self.done += 1
        left = len(self.input_draws) - self.done
        if not (self.interpreted and left and self.spent + left * last > 2 * INTERPRETER_BUDGET_S):
            return False
        if self.at + 1 < len(self.steps):
            self.at += 1
            return False
        self.reduced = (
            f"Triton's interpreter has taken {self.spent:.0f} s and the sizes cannot be reduced further, so these input"
            f" draws were left out: {', '.join(self.input_draws[self.done :])}."
        )
        return True

    def conclude(self) -> None:
        """Write down to which sizes the inputs were reduced, if they were."""
        if not self.at or self.reduced:
            return
        changed = [
            f"{spec.name} {list(spec.shape)} → {list(shape)}"
            for spec, shape in zip(self.specs, self.shapes)
            if spec.shape != shape
        ]
        shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else "")
        self.reduced = (
            f"The recorded sizes would take Triton's interpreter over {INTERPRETER_BUDGET_S:.0f} s, so smaller ones"
            f" were compared: {shown}."
        )

    def _lap(self) -> float:
        """Seconds that this input draw had taken when first asked: its call and negative controls, not the extra
        calls."""
        if self.last is None:
            self.last = time.monotonic() - self.began
        return self.last


def small_shapes(graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> Shapes:
    """Shapes with about SMALL_ELEMENTS elements, at which very many calls are cheap, or the recorded ones if these
    cannot shrink. The longest axes shrink first, so that no axis becomes trivial, and tables keep their length."""
    recorded: Shapes = tuple(spec.shape for spec in specs)
    now = {size: size for size in _sizes(recorded) if size not in _lengths(specs, known_roles)}
    probe = _Probe(graph, specs, known_roles)
    form = probe.form(recorded) if _elements(recorded) > SMALL_ELEMENTS else None
    found = recorded
    # twice as long as the longest slice, so that slices stay parts
    slices = 2 * _longest_slice(graph)
    for least in (max(each, slices) for each in LEAST_SMALL):
        able = {size for size in now if now[size] > least}
        while form is not None and able and _elements(found) > SMALL_ELEMENTS:
            longest = max(able, key=lambda size: (now[size], size))
            tried = {**now, longest: max(least, now[longest] // 2)}
            smaller: Shapes = tuple(tuple(tried.get(size, size) for size in shape) for shape in recorded)
            if probe.form(smaller) == form:
                now, found = tried, smaller
                able = {size for size in able if now[size] > least}
            else:
                able.discard(longest)
    return found


def _longest_slice(graph: Graph) -> int:
    """The largest number at which the source slices an axis."""
    places = (place for node in graph.operations for place in _slices(node.args))
    return max((abs(end) for place in places for end in (place.start, place.stop) if isinstance(end, int)), default=0)


def _slices(values: tuple[Value, ...]) -> Iterator[Slice]:
    for value in values:
        if isinstance(value, Slice):
            yield value
        elif isinstance(value, tuple):
            yield from _slices(value)


def smaller(graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> tuple[SizeStep, ...]:
    """Find ever smaller sizes, down to about PROBE_ELEMENTS, at which the subgraph still has outputs of the same form.

    All axes of the same recorded size shrink together, leading axes first. Sizes that the source has as literals cannot
    shrink, because then the subgraph does not run. Tables keep their length: only the indexed rows are computed with,
    and a kernel that knows a part of the rows must be found out."""
    probe = _Probe(graph, specs, known_roles)
    recorded: Shapes = tuple(spec.shape for spec in specs)
    form = probe.form(recorded)
    lengths = _lengths(specs, known_roles)
    sizes = [size for size in _sizes(recorded) if size not in lengths]
    now = {size: size for size in sizes}
    steps: list[SizeStep] = []
    while form is not None and sizes and len(steps) < MOST_STEPS:
        tried = {**now, sizes[0]: max(LEAST_SIZE, now[sizes[0]] // 2)}
        shapes: Shapes = tuple(tuple(tried.get(size, size) for size in shape) for shape in recorded)
        if tried != now and probe.form(shapes) == form:
            now = tried
            steps.append(SizeStep(shapes, _computed(specs, shapes, known_roles)))
            if steps[-1].elements <= PROBE_ELEMENTS:
                break
        else:
            sizes = sizes[1:]
    return tuple(steps)


def _sizes(shapes: Shapes) -> list[int]:
    """The distinct sizes that can shrink, ordered by axis, leading axes first, and then from large to small."""
    places: dict[int, int] = {}
    for shape in shapes:
        for axis, size in enumerate(shape):
            if size > LEAST_SIZE:
                places[size] = min(places.get(size, axis), axis)
    return sorted(places, key=lambda size: (places[size], -size))


def _lengths(specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> frozenset[int]:
    """The sizes of the axes that inputs index."""
    shapes = {spec.name: spec.shape for spec in specs}
    tables = [(shapes[name], axis) for role in known_roles.values() for name, axis in role.tables if name in shapes]
    return frozenset(shape[axis] for shape, axis in tables if -len(shape) <= axis < len(shape))


def _computed(specs: Sequence[TensorSpec], shapes: Shapes, known_roles: Mapping[str, InputRole]) -> int:
    """The number of elements that a call computes with: of all inputs but those that are only looked up."""
    tables = {name for role in known_roles.values() for name, _ in role.tables}
    return _elements([shape for spec, shape in zip(specs, shapes) if spec.name not in tables])


def _elements(shapes: Sequence[Sequence[int]]) -> int:
    return max(1, sum(math.prod(shape) for shape in shapes))


class _Probe:
    """Runs the subgraph on meta tensors, to see whether sizes fit."""

    def __init__(self, graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> None:
        self.module = building.module_of(placed(graph, "meta"), {})
        self.specs = specs
        self.numbers = {spec.name for spec in specs if known_roles.get(spec.name, InputRole()).number}

    def form(self, shapes: Shapes) -> tuple[Any, ...] | None:
        """The rank and dtype of every output, or None if the subgraph does not run at these sizes."""
        try:
            with torch.device("meta"), torch.no_grad():
                result = self.module(*(self._input(spec, shape) for spec, shape in zip(self.specs, shapes)))
        except MISFITS:
            return None
        finally:
            # the subgraph may have switched gradients off
            torch.set_grad_enabled(True)
        outputs = result if isinstance(result, tuple | list) else (result,)
        return tuple((each.dim(), each.dtype) if isinstance(each, torch.Tensor) else type(each) for each in outputs)

    def _input(self, spec: TensorSpec, shape: tuple[int, ...]) -> Any:
        if spec.name in self.numbers:
            return int(spec.data[0]) if spec.data else 1
        return torch.empty(shape, dtype=dtype_of(spec))
