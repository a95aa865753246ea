"""Sizes for Triton's interpreter: if the recorded sizes are too much work, axes shrink together.

This is not a check. It decides at which sizes VERIFY makes its checks, by the work that a bundle's kernels ask for: not
by the time that a call takes, which a candidate could stretch, and which differs from machine to machine. No input draw
is ever left out. Each axis that shrinks keeps its recorded size in some input draw, if the others can shrink more."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from passnet_core.fx import modules
from passnet_core.graphs.ir import Graph, Slice, Value
from passnet_core.graphs.placement import placed
from passnet_core.judge.numerics.draws.drawing import dtype_of
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, InputRole
from passnet_core.records import TensorSpec

Shapes = tuple[tuple[int, ...], ...]

INTERPRETER_BUDGET_S = 3.0
"""How many seconds of work all calls together may be, in the interpreter and in comparing, before sizes are reduced."""
COMPARED_ELEMENT_S = 1e-6
"""What drawing, eager, its float64 form and comparing take for each input element of a call."""
LITTLE_WORK, MUCH_WORK = 0.25, 1.5
"""Below which share of the work that a call may be the sizes grow again, and above which they shrink."""
WHOLE_AXIS_SHARE = 1.5
"""How much more work than the other calls those may be in which a certain axis has its recorded size."""

PROBE_ELEMENTS = 8_192
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
LEAST_SAVED = 0.05
"""No axis shrinks to save less than this share of the elements: sums over a few elements differ more than others."""
MOST_BEFORE = 4
"""How many rows may be put before an image."""
MOST_STEPS = 40
"""How many ever smaller choices of sizes there are at most."""


@dataclass(frozen=True)
class Rescaled:
    """A subgraph of which numbers in the source shrank, with the axes of these sizes.

    numbers: what each became. recorded: the shapes of the inputs before. specs: with the shapes that they have now.
    rewritten: the graph after the passes."""

    numbers: Mapping[int, int]
    recorded: Shapes
    graph: Graph
    rewritten: Graph
    specs: tuple[TensorSpec, ...]

    @property
    def told(self) -> str:
        """A sentence about the numbers, after a space."""
        pairs = [f"{old} → {new}" for old, new in sorted(self.numbers.items())]
        return f" In the source, numbers shrank with them: {', '.join(pairs)}."


@dataclass(frozen=True)
class SizeStep:
    """One choice of sizes. shapes: per input. elements: in all inputs together."""

    shapes: Shapes
    elements: int


class Pace:
    """The sizes of a verification. interpreted: whether kernels run in Triton's interpreter; if not, the recorded sizes
    stay. rescaled: what shrank already, with numbers of the source.

    uncompared: at none of these sizes anything was compared yet."""

    def __init__(
        self,
        specs: Sequence[TensorSpec],
        *,
        interpreted: bool,
        rescaled: Rescaled | None = None,
        uncompared: bool = False,
    ) -> None:
        self.specs, self.interpreted, self.rescaled, self.uncompared = specs, interpreted, rescaled, uncompared
        self.recorded: Shapes = tuple(spec.shape for spec in specs)
        self.steps: tuple[SizeStep, ...] = (SizeStep(self.recorded, _elements(self.recorded)),)
        self.choices: tuple[Shapes, ...] = (self.recorded,)
        """The shapes of the inputs, which the input draws take in turn."""
        self.turn = 0
        self.affordable_s = INTERPRETER_BUDGET_S
        """How much work a call may be."""
        self.room: float | None = None
        """How many times the work of a call at the present sizes a call may be; None: no call of this turn has shown
        it."""
        self.dear: set[Shapes] = set()
        """Those among the further choices at which a call was more work than it may be: once is enough."""
        self.known_roles: Mapping[str, InputRole] = {}
        self.probe: Probe | None = None

    @property
    def shapes(self) -> Shapes:
        """The shape of each input in the present input draw."""
        return self.choices[self.turn % len(self.choices)]

    def consider(self, graph: Graph, known_roles: Mapping[str, InputRole]) -> SizeStep | None:
        """Find smaller sizes, if the interpreter may need them, and return those of the call whose work is counted.
        None: not needed."""
        self.known_roles = known_roles
        self.steps = (SizeStep(self.recorded, self._computed(self.recorded)),)
        if self.interpreted and self.steps[0].elements > PROBE_ELEMENTS:
            self.probe = Probe(graph, self.specs, known_roles)
            self.steps = (*self.steps, *smaller(graph, self.specs, known_roles))
        if len(self.steps) == 1:
            return None
        return next((step for step in self.steps if step.elements <= PROBE_ELEMENTS), self.steps[-1])

    def choose(self, work_per_element_s: float, share: float) -> None:
        """Choose the largest sizes at which a call is no more work than this share of INTERPRETER_BUDGET_S, and further
        ones in which each shrunk axis is whole. work_per_element_s: seconds per input element."""
        self.affordable_s = INTERPRETER_BUDGET_S * share
        self._choose(self.affordable_s / (work_per_element_s + COMPARED_ELEMENT_S))

    def note(self, work_s: float | None) -> None:
        """Note the work of a call in the present input draw."""
        if work_s is None or len(self.steps) == 1:
            return
        room = self.affordable_s / (work_s + COMPARED_ELEMENT_S * self._computed(self.shapes))
        if self.shapes == self.choices[0]:
            self.room = max(self.room or 0.0, room)
        elif room < 1 / MUCH_WORK:
            self.dear.add(self.shapes)

    def take_turn(self, turn: int) -> None:
        """Go on to another input draw. If a call was much less work than it may be, or much more, sizes are larger or
        smaller from now on: work need not follow the number of elements."""
        if self.room is not None and not 1 / MUCH_WORK <= self.room <= 1 / LITTLE_WORK:
            # work may grow with the square of the elements
            self._choose(self._computed(self.choices[0]) * (math.sqrt(self.room) if self.room > 1 else self.room))
        self.choices = (self.choices[0], *(each for each in self.choices[1:] if each not in self.dear))
        self.turn, self.room = turn, None

    def _choose(self, affordable: float) -> None:
        fitting = (step for step in self.steps if step.elements <= affordable)
        chosen = next(fitting, self.steps[-1]).shapes
        self.choices = (chosen, *self._with_a_whole_axis(chosen, affordable * WHOLE_AXIS_SHARE))

    def _with_a_whole_axis(self, chosen: Shapes, affordable: float) -> list[Shapes]:
        """For each axis that has shrunk: shapes in which it has not, and others have shrunk more, where that works.

        Axes of one size are first kept together; if that is too much, each of them is kept alone."""
        if self.probe is None or chosen == self.recorded:
            return []
        form = self.probe.form(self.recorded)
        now = dict(zip(_axes(self.recorded), itertools.chain(*chosen)))
        found: list[Shapes] = []
        pending = [{each for each in now if each.size == size} for size in sorted({each.size for each in now})]
        while pending:
            whole = pending.pop(0)
            if all(now[each] == each.size for each in whole):
                continue
            tried = {axis: axis.size if axis in whole else small for axis, small in now.items()}
            able = [each for each in set(now) - whole if each.size not in lengths(self.specs, self.known_roles)]
            others = sorted(able, key=lambda each: (each.place, -each.size))
            while others and self._computed(self._scaled(tried)) > affordable:
                smaller_one = {**tried, others[0]: max(LEAST_SIZE, tried[others[0]] // 2)}
                fits = others[0].size > LEAST_SIZE and smaller_one != tried
                if fits and self.probe.form(self._scaled(smaller_one)) == form:
                    tried = smaller_one
                else:
                    others = others[1:]
            shapes = self._scaled(tried)
            if self._computed(shapes) <= affordable and self.probe.form(shapes) == form:
                found.append(shapes)
            elif len(whole) > 1:
                pending += [{each} for each in sorted(whole, key=lambda each: each.place, reverse=True)]
        return found

    def larger(self, fits: Callable[[SizeStep], bool]) -> Shapes | None:
        """The recorded sizes, or the largest ones that fit; None if those that are compared are not smaller."""
        step = next(filter(fits, self.steps), None)
        if step is None or self.uncompared:
            return None if step is None else step.shapes
        return None if not self.reduced or step.shapes == self.choices[0] else step.shapes

    def _computed(self, shapes: Shapes) -> int:
        return computed(self.specs, shapes, self.known_roles)

    def _scaled(self, sizes: "Mapping[_Axis, int]") -> Shapes:
        axes = iter(_axes(self.recorded))
        return tuple(tuple(sizes[next(axes)] for _ in shape) for shape in self.recorded)

    @property
    def reduced(self) -> str:
        """A sentence that says to which sizes the inputs were reduced, or an empty string."""
        shapes, recorded = self.choices[0], self.rescaled.recorded if self.rescaled else self.recorded
        if shapes == recorded:
            return ""
        pairs = zip(self.specs, recorded, shapes)
        changed = [f"{spec.name} {list(old)} → {list(new)}" for spec, old, new in pairs if old != new]
        shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else "")
        shrunk = {old for olds, news in zip(recorded, shapes) for old, new in zip(olds, news) if old != new}
        kept = {size for each in self.choices[1:] for shape in each for size in shape}
        never = sorted(shrunk - kept)
        rest = f" No call had axes of {' or '.join(map(str, never))} elements." if never else ""
        return (
            f"The recorded sizes would be over {INTERPRETER_BUDGET_S:.0f} s of work for Triton's interpreter, so"
            f" smaller ones were compared: {shown}.{self.rescaled.told if self.rescaled else ''}{rest}"
        )


@dataclass(frozen=True)
class _Axis:
    """Axes that shrink together: those of one recorded size at the same place, counted from the last axis, -1."""

    size: int
    place: int


def _axes(shapes: Shapes) -> list[_Axis]:
    return [_Axis(size, place - len(shape)) for shape in shapes for place, size in enumerate(shape)]


def small_shapes(graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> Shapes:
    """Shapes with about SMALL_ELEMENTS elements, at which very many calls are cheap, or the recorded ones if these
    cannot shrink. The longest axes shrink first, so that no axis becomes trivial, and tables keep their length."""
    recorded: Shapes = tuple(spec.shape for spec in specs)
    now = {size: size for size in _sizes(recorded) if size not in lengths(specs, known_roles)}
    probe = Probe(graph, specs, known_roles)
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
    recorded: Shapes = tuple(spec.shape for spec in specs)
    elements = computed(specs, recorded, known_roles)
    if elements <= PROBE_ELEMENTS:
        return ()
    probe = Probe(graph, specs, known_roles)
    form = probe.form(recorded)
    kept = lengths(specs, known_roles)
    sizes = [size for size in _sizes(recorded) if size not in kept]
    sums = _sums(sizes)
    now = {size: size for size in sizes}
    steps: list[SizeStep] = []
    while form is not None and sizes and len(steps) < MOST_STEPS and elements > PROBE_ELEMENTS:
        halved = {**now, sizes[0]: max(LEAST_SIZE, now[sizes[0]] // 2)}
        together = {size: halved[one] * halved[other] + more for size, (one, other, more) in sums.items()}
        # sizes may also be such sums by chance
        for tried in ({**halved, **together}, halved) if sums else (halved,):
            shapes: Shapes = tuple(tuple(tried.get(size, size) for size in shape) for shape in recorded)
            fewer = computed(specs, shapes, known_roles)
            if fewer <= elements * (1 - LEAST_SAVED) and probe.form(shapes) == form:
                now, elements = tried, fewer
                steps.append(SizeStep(shapes, fewer))
                break
        else:
            sizes = sizes[1:]
    return tuple(steps)


def _sums(sizes: Sequence[int]) -> dict[int, tuple[int, int, int]]:
    """Sizes that are a product of two others and a little more, each with these: so many elements has an image with a
    few rows put before it, of which all shrink together or none."""
    found: dict[int, tuple[int, int, int]] = {}
    for one, other in itertools.combinations_with_replacement(sizes, 2):
        for more in range(1, MOST_BEFORE + 1):
            if one * other + more in sizes and min(one, other) > LEAST_SIZE:
                found.setdefault(one * other + more, (one, other, more))
    return found


def _sizes(shapes: Shapes) -> list[int]:
    """The distinct sizes that can shrink, ordered by axis, the farthest from the last one first, and then from large to
    small."""
    places: dict[int, int] = {}
    for shape in shapes:
        for axis, size in enumerate(shape, -len(shape)):
            if size > LEAST_SIZE:
                places[size] = min(places.get(size, axis), axis)
    return sorted(places, key=lambda size: (places[size], -size))


def lengths(specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> frozenset[int]:
    """The sizes of the axes along which something is looked up."""
    axes = [(spec.shape, axis) for spec in specs for axis in known_roles.get(spec.name, PLAIN_ROLE).looked_up]
    return frozenset(shape[axis] for shape, axis in axes if -len(shape) <= axis < len(shape))


def computed(specs: Sequence[TensorSpec], shapes: Shapes, known_roles: Mapping[str, InputRole]) -> int:
    """The number of elements that a call computes with: of all inputs but those that are indexed by others, and of what
    is taken out of these. An index that the graph computes counts like the integers among the inputs."""
    known = {spec.name: shape for spec, shape in zip(specs, shapes)}
    given = {name: known_roles.get(name, PLAIN_ROLE) for name in known}
    integers = [spec.name for spec in specs if spec.dtype.startswith("int") and not given[spec.name].number]
    counted = dict(known)
    taken: list[tuple[int, ...]] = []
    for name, shape in known.items():
        for axis in (each % len(shape) for each in given[name].looked_up if -len(shape) <= each < len(shape)):
            by = [each for each, role in given.items() if (name, axis) in role.tables] or integers
            taken += [(*known[each], *shape[:axis], *shape[axis + 1 :]) for each in by]
            if by:
                counted.pop(name, None)
    return _elements([*counted.values(), *taken])


def _elements(shapes: Sequence[Sequence[int]]) -> int:
    return max(1, sum(math.prod(shape) for shape in shapes))


_CONVOLVED = ("input", "weight", "bias", "stride", "padding", "", "groups")
"""Parameters of convolutions by position; the sixth is another in transposed ones."""
_CONVOLUTIONS = frozenset(f"{name}{dimensions}d" for name in ("conv", "conv_transpose") for dimensions in (1, 2, 3))
_VIEWS = frozenset({"view", "reshape", "unflatten"})
"""The operations that take sizes, of which one may be -1."""


class _SizesFit(TorchFunctionMode):
    """Refuses convolutions whose sizes do not fit, which torch lets pass if tensors are on the meta device, and notes
    the shapes before and after each view, the windows of convolutions, and for each subscript whether it takes nothing
    or everything."""

    def __init__(self) -> None:
        super().__init__()
        self.views: list[tuple[torch.Size, torch.Size]] = []
        self.windows: list[torch.Size] = []
        self.taken: list[tuple[bool, bool]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in _CONVOLUTIONS:
            self._check(name, {**dict(zip(_CONVOLVED, args)), **(kwargs or {})})
        result = func(*args, **(kwargs or {}))
        if name in _VIEWS:
            operand = next(iter((*args, *(kwargs or {}).values())))
            self.views.append((operand.shape, result.shape))
        if name == "__getitem__" and isinstance(result, torch.Tensor):
            self.taken.append((not result.numel(), result.numel() == args[0].numel()))
        return result

    def _check(self, name: str, given: Mapping[str, Any]) -> None:
        weight, bias, groups = given["weight"], given.get("bias"), given.get("groups", 1)
        if weight.shape[0] < groups or weight.shape[0] % groups:
            raise RuntimeError(f"A weight of {weight.shape[0]} does not fall into {groups} groups.")
        outputs = weight.shape[0]
        if name.startswith("conv_transpose"):
            outputs = weight.shape[1] * groups
            if given["input"].shape[1 - weight.dim()] != weight.shape[0]:
                raise RuntimeError("The input has not as many channels as the weight.")
        if bias is not None and len(bias) != outputs:
            raise RuntimeError("The bias is not as long as there are channels.")
        self.windows.append(weight.shape[2:])


def _joints(before: Sequence[int], after: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Where a view joins no axes: up to which axis of the operand it has as many elements as up to which of the
    result."""
    one, other = ([math.prod(shape[:end]) for end in range(len(shape) + 1)] for shape in (before, after))
    return frozenset((i, j) for i, count in enumerate(one) for j, more in enumerate(other) if count == more)


class Probe:
    """Runs the subgraph on meta tensors, to see whether sizes fit."""

    def __init__(self, graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> None:
        self.module = modules.module_of(placed(graph, "meta"), {})
        self.specs = specs
        self.numbers = {spec.name for spec in specs if known_roles.get(spec.name, PLAIN_ROLE).number}
        self.recorded: Shapes = tuple(spec.shape for spec in specs)

    @cached_property
    def _at_recorded_sizes(self) -> tuple[tuple[Any, ...] | None, _SizesFit]:
        return self._run(self.recorded, self.module)

    def form(self, shapes: Shapes, graph: Graph | None = None) -> tuple[Any, ...] | None:
        """The rank and dtype of every output, or None if the subgraph does not run at these sizes, or does something
        else there that no pass need expect: if a view joins other axes than at the recorded sizes, a convolution has
        another window, or a slice takes nothing or everything that takes a part there. graph: with other numbers than
        the subgraph's, if it is not that.

        A view does so where a number in the source was an axis that shrinks: x.view(4, 256, -1, 128) of (2, 256, 256)
        would take one axis to be both the batch and the rest of the last one. Windows are often written out."""
        _, wanted = self._at_recorded_sizes
        if graph is not None:
            outputs, found = self._run(shapes, modules.module_of(placed(graph, "meta"), {}))
        else:
            outputs, found = self._at_recorded_sizes if shapes == self.recorded else self._run(shapes, self.module)
        joined = all(_joints(*one) <= _joints(*other) for one, other in zip(wanted.views, found.views))
        return outputs if joined and (found.windows, found.taken) == (wanted.windows, wanted.taken) else None

    def _run(self, shapes: Shapes, module: Any) -> tuple[tuple[Any, ...] | None, _SizesFit]:
        """The rank and dtype of every output, or None, and what was noted until then."""
        fitting = _SizesFit()
        try:
            with torch.device("meta"), torch.no_grad(), fitting:
                result = module(*(self._input(spec, shape) for spec, shape in zip(self.specs, shapes)))
        except MISFITS:
            return None, fitting
        finally:
            # the subgraph may have switched gradients off
            torch.set_grad_enabled(True)
        outputs = result if isinstance(result, tuple | list) else (result,)
        kinds = ((each.dim(), each.dtype) if isinstance(each, torch.Tensor) else type(each) for each in outputs)
        return tuple(kinds), fitting

    def _input(self, spec: TensorSpec, shape: tuple[int, ...]) -> Any:
        if spec.name in self.numbers:
            return int(spec.data[0]) if spec.data else 1
        return torch.empty(shape, dtype=dtype_of(spec))
