"""Mutants of a subgraph: the same computation with one slip, as a pass may make it.

Inputs that tell a mutant from eager tell a pass with that slip as well."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.effects import is_one_of, is_random, is_switch, last_part
from passnet_core.graphs.ir import (
    Graph,
    Listed,
    Node,
    NodeKind,
    Ref,
    Slice,
    Symbol,
    Value,
    items_of,
    reading,
    substituted,
)
from passnet_core.graphs.source import emit
from passnet_core.graphs.spelling import Names
from passnet_core.judge.numerics.input_roles import (
    HUGE,
    MOST_EPSILON,
    converts,
    extreme,
    rounds,
    slope_of,
    squared_difference,
    widened,
)
from passnet_core.judge.numerics.integer_ranges import dtypes, indexings, whole_ranges
from passnet_core.judge.numerics.parameters import parameters
from passnet_core.operations.binding import ALIASES, bind, regular
from passnet_core.operations.kinds import mapping, named, several
from passnet_core.records import TensorSpec

MOST_MUTANTS = 60
"""At most this many mutants are made of a graph."""

UNARY = several("activations")

COUSINS = several("cousins")

WHOLES = (("int32", 1 << 31), ("int16", 1 << 15), ("int8", 1 << 7))
"""Narrower integers, and from which number on they are not enough."""
HALVES = (("float16", 1 << 11), ("bfloat16", 1 << 8))
"""Half precision, and from which whole number on it is not enough."""
MOST_ANGLE = 1_000.0
"""Where an angle is cut off."""

LEAST = -10_000.0
"""What is taken for the least of all numbers."""

USUAL_EPSILONS = (1e-3, 1e-5, 1e-12)
"""Those that libraries take if nothing is said."""


@dataclass(frozen=True)
class Mutant:
    """A graph with one slip. name: says which, to people."""

    name: str
    graph: Graph

    @property
    def source(self) -> str:
        return emit(self.graph)


@dataclass(frozen=True)
class Setting:
    """One argument of a call, a literal or a node. path: where it stands in the node."""

    name: str
    value: Value
    path: tuple[str, int | str]


def mutants(graph: Graph, specs: Sequence[TensorSpec]) -> tuple[Mutant, ...]:
    """At most MOST_MUTANTS mutants of a graph, the likeliest slips of each sort first, always in the same order.

    specs: its inputs, in the shapes that will be given. A mutant may fail, or return another shape or dtype."""
    graph = regular(graph)
    maker = _Maker(graph, specs)
    sorts: list[Iterator[tuple[str, Graph]]] = [
        maker.literals(),
        maker.ignored_inputs(),
        maker.flags(),
        maker.cut_indices(),
        maker.guards(),
        maker.far_rows(),
        maker.short_cuts(),
        maker.unguarded(),
        maker.narrowed(),
        maker.dropped(),
        maker.cousins(),
        maker.exchanged(),
        maker.inverted(),
        maker.off_by_one(),
        maker.axes(),
    ]
    found: dict[str, Mutant] = {}
    sources = {emit(graph)}
    while sorts and len(found) < MOST_MUTANTS:
        for sort in list(sorts):
            made = next(sort, None)
            if made is None:
                sorts.remove(sort)
                continue
            try:
                source = emit(made[1])
            except BadInput:
                continue
            if source not in sources and len(found) < MOST_MUTANTS:
                sources.add(source)
                name = next(each for each in _names(made[0]) if each not in found)
                found[name] = Mutant(name, made[1])
    return tuple(found.values())


def _names(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({turn})" for turn in range(2, MOST_MUTANTS + 2))


class _Steps:
    """Nodes that are added to a graph one after the other."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.names, self.nodes = graph, Names(graph.by_name), list[Node]()

    def call(self, target: str, *args: Value, **kwargs: Value) -> Ref:
        return self.add(Node("", NodeKind.CALL, target, args, tuple(kwargs.items())))

    def method(self, target: str, *args: Value, **kwargs: Value) -> Ref:
        return self.add(Node("", NodeKind.METHOD, target, args, tuple(kwargs.items())))

    def like(self, node: Node, *args: Value) -> Ref:
        """The node's operation with other positional arguments."""
        return self.add(replace(node, args=args))

    def add(self, node: Node) -> Ref:
        self.nodes.append(replace(node, name=self.names.free(f"mutant_{len(self.nodes)}")))
        return Ref(self.nodes[-1].name)

    def in_place_of(self, node: Node) -> Graph:
        """The graph with these nodes in the place of one; the last of them has its name."""
        new = [*self.nodes[:-1], replace(self.nodes[-1], name=node.name)]
        nodes = [each for old in self.graph.nodes for each in (new if old.name == node.name else [old])]
        return Graph(tuple(nodes), self.graph.result)

    def after_input(self, name: str) -> Graph:
        """The graph that reads the last of these nodes wherever it reads this input."""
        instead = {name: Ref(self.nodes[-1].name)}
        operations = [reading(each, instead) for each in self.graph.operations]
        result = substituted(self.graph.result, instead)
        return Graph((*self.graph.inputs, *self.nodes, *operations), result)


Slip: TypeAlias = Callable[[_Steps, Node, Ref], object]
"""Adds the steps that are taken for a node, whose operand is given as well."""

ONE_SIDED: Mapping[str, Mapping[str, Slip]] = {
    "isinf": {
        "isinf for minus only": lambda steps, node, x: steps.call("torch.isneginf", x),
        "isinf for plus only": lambda steps, node, x: steps.call("torch.isposinf", x),
    },
    "isnan": {"isnan never": lambda steps, node, x: steps.call("torch.lt", x, -math.inf)},
    "isfinite": {
        "isfinite for NaN only": lambda steps, node, x: steps.call("torch.eq", x, x),
        "isfinite for infinities only": lambda steps, node, x: steps.call(
            "torch.ne", steps.call("torch.abs", x), math.inf
        ),
        "isfinite for minus only": lambda steps, node, x: steps.call("torch.ne", x, -math.inf),
    },
    "nan_to_num": {
        "nan_to_num for infinities only": lambda steps, node, x: steps.call(
            "torch.nan_to_num", x, **{**dict(node.kwargs), "nan": math.nan}
        ),
        "nan_to_num for NaN only": lambda steps, node, x: steps.call(
            "torch.nan_to_num", x, **{**dict(node.kwargs), "posinf": math.inf, "neginf": -math.inf}
        ),
    },
}
"""Tests for NaN and infinities that see some of them only, by what each is called."""

ROUNDINGS: Mapping[str, Mapping[str, Slip]] = {
    "round": {
        "halves rounded up": lambda steps, node, x: steps.call("torch.floor", steps.call("operator.add", x, 0.5)),
        "halves rounded away from zero": lambda steps, node, x: steps.call(
            "torch.trunc", steps.call("operator.add", x, steps.call("operator.mul", steps.call("torch.sign", x), 0.5))
        ),
    },
    "floor": {
        "ceil less one for floor": lambda steps, node, x: steps.call("operator.sub", steps.call("torch.ceil", x), 1)
    },
    "ceil": {
        "floor plus one for ceil": lambda steps, node, x: steps.call("operator.add", steps.call("torch.floor", x), 1)
    },
}
"""Ways to round that differ at halves or at whole numbers only."""
WHOLE = frozenset({"round", "floor", "ceil", "trunc"})


SMALL = 1e-6
"""Numbers below this one may seem to be nothing."""

NEAR_ZERO: Mapping[str, Slip] = {
    "tanh": lambda steps, node, x: steps.call(
        "operator.sub",
        1.0,
        steps.call(
            "operator.truediv",
            2.0,
            steps.call("operator.add", steps.call("torch.exp", steps.call("operator.mul", x, 2.0)), 1.0),
        ),
    ),
    "expm1": lambda steps, node, x: steps.call("operator.sub", steps.call("torch.exp", x), 1.0),
    "log1p": lambda steps, node, x: steps.call("torch.log", steps.call("operator.add", x, 1.0)),
}
"""Formulas that lose all digits near zero."""


class _Maker:
    """Makes the mutants of one graph. Each method yields those of one sort: (name, graph)."""

    def __init__(self, graph: Graph, specs: Sequence[TensorSpec]) -> None:
        self.graph = graph
        self.specs = {spec.name: spec for spec in specs}
        self.tensors = [spec for spec in specs if spec.name in graph.by_name and not self._is_number(spec)]
        self.operations = [node for node in graph.operations if not is_switch(node)]
        self.applied = [(node, node.operand) for node in self.operations if node.operand is not None]
        self.sites = [(node, setting) for node in self.operations for setting in settings(node)]
        self.types = dtypes(graph, specs)
        self.parameters = parameters(graph, specs)

    def _is_number(self, spec: TensorSpec) -> bool:
        return self.graph.by_name[spec.name].target.startswith("torch.Sym")

    # --- literals ---

    def literals(self) -> Iterator[tuple[str, Graph]]:
        """Each literal altered, in turns: the first alteration of every literal, then the second one."""
        sites = [(node, setting, list(_alterations(node, setting))) for node, setting in self.sites]
        for turn in range(max((len(made) for _, _, made in sites), default=0)):
            for node, setting, made in sites:
                if turn < len(made):
                    yield self._altered(node, setting, made[turn])

    def off_by_one(self) -> Iterator[tuple[str, Graph]]:
        for node, setting in self.sites:
            for value in _shifts(node, setting):
                yield self._altered(node, setting, value)

    def axes(self) -> Iterator[tuple[str, Graph]]:
        for node in self.operations:
            for setting in settings(node):
                for value in _other_axes(setting):
                    yield self._altered(node, setting, value)
            if last_part(node) == "permute" and all(isinstance(each, int) for each in node.args[1:]):
                for at in range(1, len(node.args) - 1):
                    turned = _exchanged(node.args, at)
                    said = f"dims {_shown(node.args[1:])} -> {_shown(turned[1:])} in permute"
                    yield said, self.graph.with_node(replace(node, args=turned))

    def _altered(self, node: Node, setting: Setting, value: Value) -> tuple[str, Graph]:
        said = f"{setting.name} {_shown(setting.value)} -> {_shown(value)} in {last_part(node)}"
        return said.strip(), self.graph.with_node(with_argument(node, setting.path, value))

    # --- inputs ---

    def ignored_inputs(self) -> Iterator[tuple[str, Graph]]:
        for spec in self.tensors:
            known = spec.name in self.parameters or not spec.original_name
            constant, steps = _constant_for(spec, parameter=known), _Steps(self.graph)
            steps.call("torch.full_like", Ref(spec.name), constant)
            yield f"{spec.name} ignored, taken for {_shown(constant)}", steps.after_input(spec.name)

    def flags(self) -> Iterator[tuple[str, Graph]]:
        for spec in self.tensors:
            if "int" in spec.dtype:
                steps = _Steps(self.graph)
                steps.method("type_as", steps.call("torch.ne", Ref(spec.name), 0), Ref(spec.name))
                yield f"{spec.name} taken for a flag", steps.after_input(spec.name)

    def cut_indices(self) -> Iterator[tuple[str, Graph]]:
        """Indices clamped to half of their table, and to the largest that was recorded."""
        for node in self.operations:
            for index, table, axis in indexings(node):
                spec, own = self.specs.get(table), self.specs.get(index)
                limits: dict[str, int] = {}
                if spec is not None and -len(spec.shape) <= axis < len(spec.shape):
                    limits["half of the table"] = (spec.shape[axis] - 1) // 2
                if own is not None and own.high is not None:
                    limits["what was recorded"] = max(int(own.high), 0)
                for said, limit in limits.items():
                    steps = _Steps(self.graph)
                    steps.add(reading(node, {index: steps.call("torch.clamp", Ref(index), max=limit)}))
                    yield f"index of {last_part(node)} clamped to {said}", steps.in_place_of(node)

    def narrowed(self) -> Iterator[tuple[str, Graph]]:
        """Integers that may be far from the recorded ones, in fewer bits; half precision that is widened too late."""
        ranges = whole_ranges(self.graph, self.tensors)
        for spec in self.tensors:
            far = ranges[spec.name].far if spec.name in ranges else None
            if far is not None:
                reach = max(-far[0], far[1])
                if far[0] < 0:
                    steps = _Steps(self.graph)
                    steps.call("torch.abs", Ref(spec.name))
                    yield f"{spec.name} without its sign", steps.after_input(spec.name)
                feeds_floats = any(kind is not None and kind.is_floating_point for kind in self._made_of(spec.name))
                for narrower in (WHOLES, HALVES) if feeds_floats else (WHOLES,):
                    wide = [name for name, least in narrower if reach >= least and name != spec.dtype]
                    for name in wide[:1]:
                        steps = _Steps(self.graph)
                        narrow = steps.method("to", Ref(spec.name), Symbol(f"torch.{name}"))
                        steps.method("type_as", narrow, Ref(spec.name))
                        yield f"{spec.name} narrowed to {name}", steps.after_input(spec.name)
        for node in self.operations:
            if sources := widened(node, self.graph, self.types):
                steps = _Steps(self.graph)
                early = steps.add(reading(node, {each.name: each.args[0] for each in sources}))
                steps.like(sources[0], early, *sources[0].args[1:])
                yield f"{last_part(node)} before {last_part(sources[0])} widens", steps.in_place_of(node)
        for node in self.operations:
            for name in ("float32", "int32", "float64"):
                steps = _Steps(self.graph)
                if self._counted_in(steps, node, name):
                    yield f"{last_part(node)} in {name}", steps.in_place_of(node)

    def _counted_in(self, steps: _Steps, node: Node, dtype: str) -> bool:
        """Add the comparison or difference of integers in another dtype, if the node is one."""
        known = {self.types.get(each) for each in node.inputs}
        if not known or not known <= {torch.int64, torch.int32} or known == {getattr(torch, dtype)} or node.kwargs:
            return False
        compares = is_one_of(node, "comparisons") or last_part(node) == "isin"
        if not compares and not is_one_of(node, "counting"):
            return False
        given = [
            steps.method("to", each, Symbol(f"torch.{dtype}")) if isinstance(each, Ref) else each for each in node.args
        ]
        found = steps.like(node, *given)
        if not compares:
            steps.method("to", found, Symbol("torch.int64"))
        return True

    def _made_of(self, name: str) -> Iterator[torch.dtype | None]:
        """The dtypes of what depends on the input."""
        depends = {name}
        for node in self.operations:
            if depends.intersection(node.inputs):
                depends.add(node.name)
                yield self.types.get(node.name)

    # --- operations ---

    def far_rows(self) -> Iterator[tuple[str, Graph]]:
        """Computations that are right only near zero: squares less squares, and the maximum of a neighbouring row."""
        return self._taken_for(self._far_row)

    def short_cuts(self) -> Iterator[tuple[str, Graph]]:
        """Computations that are right for usual sizes: a least number that is not minus infinity, a maximum for slopes
        up to 1, squares without scaling, whole numbers added as floats, and the other side of equal edges."""
        return self._taken_for(self._short_cut)

    def unguarded(self) -> Iterator[tuple[str, Graph]]:
        """Computations that make NaN of what is removed: a softmax by halves, and selection by arithmetic."""
        return self._taken_for(self._unguarded)

    def _taken_for(
        self, add: Callable[[_Steps, Node, str, Ref, Mapping[str, Value]], str | None]
    ) -> Iterator[tuple[str, Graph]]:
        """Each operation replaced by the steps of what it may be taken for. add: adds them, and returns what it is."""
        for node, first in self.applied:
            name, steps = last_part(node), _Steps(self.graph)
            if made := add(steps, node, name, first, dict(bind(node).arguments)):
                yield f"{made} in {name}", steps.in_place_of(node)

    def _far_row(self, steps: _Steps, node: Node, name: str, first: Ref, arguments: Mapping[str, Value]) -> str | None:
        dim = arguments.get("dim")
        if name in ("softmax", "log_softmax") and isinstance(dim, int):
            self._softmax_of(steps, name, first, dim, arguments.get("dtype"), of_two=True)
            return "maximum of two rows"
        if name in ("layer_norm", "group_norm", "instance_norm"):
            self._norm_by_squares(steps, node, name, first, arguments)
            return "mean of squares less square of mean"
        if name in ("var", "std") and dim is not None:
            self._spread_by_squares(steps, node, name, first, dim, arguments.get("keepdim", False))
            return "mean of squares less square of mean"
        if (difference := squared_difference(node, self.graph)) is not None:
            one, other = (
                steps.method("expand_as", self._wide(steps, each), Ref(difference.name)) for each in difference.args
            )
            sums = [
                steps.like(node, steps.call("operator.mul", left, right), *node.args[1:])
                for left, right in ((one, one), (other, other), (one, other))
            ]
            twice = steps.call("operator.mul", sums[2], 2)
            total = steps.call("operator.sub", steps.call("operator.add", *sums[:2]), twice)
            steps.method("type_as", total, first)
            return "product in place of the difference"
        return None

    def _short_cut(
        self, steps: _Steps, node: Node, name: str, first: Ref, arguments: Mapping[str, Value]
    ) -> str | None:
        known, dim = self.types.get(first.name), arguments.get("dim")
        if extreme(node, self.types) is not None:
            most = -LEAST if name in named("minima") else LEAST
            if name in named("softmaxes") and name != "logsumexp" and isinstance(dim, int):
                self._softmax_of(steps, name, first, dim, arguments.get("dtype"))
            else:
                limit = {"max": most} if name in named("minima") else {"min": most}
                steps.like(node, steps.method("clamp", first, **limit), *node.args[1:])
            return f"{most:,.0f} for infinity"
        if name == "prelu":
            below = steps.like(node, steps.call("operator.neg", steps.call("torch.abs", first)), *node.args[1:])
            sign = steps.call("torch.sign", steps.call("operator.neg", first))
            steps.call("torch.maximum", first, steps.call("operator.mul", below, sign))
            return "the maximum of both sides"
        if slope_of(node, self.graph) is not None:
            steps.call("torch.maximum", *node.args[1:])
            return "the maximum of both sides"
        if name == "hypot" and len(node.args) == 2:
            squares = [steps.call("torch.square", self._wide(steps, each)) for each in node.args]
            steps.method("type_as", steps.call("torch.sqrt", steps.call("operator.add", *squares)), first)
            return "squares that are not scaled"
        if name in ("sum", "cumsum", "prod") and known in (torch.int64, torch.int32):
            floats = steps.like(node, steps.method("float", first), *node.args[1:])
            steps.method("to", floats, Symbol("torch.int64"))
            return "float32"
        if name in named("searching") and arguments.get("side") is None:
            steps.like(with_argument(node, ("kwargs", "right"), not arguments.get("right")), *node.args)
            return "the other side"
        return None

    def _unguarded(
        self, steps: _Steps, node: Node, name: str, first: Ref, arguments: Mapping[str, Value]
    ) -> str | None:
        dim = arguments.get("dim")
        if name in ("softmax", "log_softmax") and isinstance(dim, int):
            self._softmax_by_halves(steps, name, first, dim, arguments.get("dtype"))
            return "halves without a guard"
        if name == "where" and node.kind is NodeKind.CALL and len(node.args) == 3:
            mask, kept, other = node.args
            like = next((each for each in (kept, other) if isinstance(each, Ref)), None)
            if like is None:
                return None
            inverse = steps.call("torch.logical_not", mask)
            both = steps.call("operator.mul", kept, mask), steps.call("operator.mul", other, inverse)
            steps.method("type_as", steps.call("operator.add", *both), like)
            return "arithmetic"
        if name.rstrip("_") == "masked_fill" and len(node.args) == 3:
            mask, filled = node.args[1:]
            if not isinstance(filled, int | float) or not math.isfinite(filled):
                return None
            both = steps.call("torch.logical_not", mask), steps.call("operator.mul", mask, filled)
            total = steps.call("operator.add", steps.call("operator.mul", first, both[0]), both[1])
            steps.method("type_as", total, first)
            return "arithmetic"
        if name.rstrip("_") in ("tril", "triu"):
            steps.call("operator.mul", first, steps.like(node, steps.call("torch.ones_like", first), *node.args[1:]))
            return "arithmetic"
        return None

    def _softmax_by_halves(self, steps: _Steps, name: str, value: Ref, dim: int, dtype: Value) -> None:
        """The softmax as it is computed block by block, in two blocks; it takes a block of minus infinities for NaN."""
        given: Value = steps.method("to", value, dtype) if isinstance(dtype, Symbol) else value
        wide = self._wide(steps, given)
        halves = steps.method("chunk", wide, 2, dim=dim)
        most: Value = -math.inf
        total: Value = 0.0
        for place in range(2):
            half = steps.call("operator.getitem", halves, place)
            own = steps.method("amax", half, dim=dim, keepdim=True)
            larger = steps.call("torch.maximum", own, most) if place else own
            powers = steps.call("torch.exp", steps.call("operator.sub", half, larger))
            sums = steps.method("sum", powers, dim=dim, keepdim=True)
            if place:
                before = steps.call("torch.exp", steps.call("operator.sub", most, larger))
                sums = steps.call("operator.add", steps.call("operator.mul", total, before), sums)
            most, total = larger, sums
        less = steps.call("operator.sub", wide, most)
        if name == "softmax":
            share = steps.call("operator.truediv", steps.call("torch.exp", less), total)
        else:
            share = steps.call("operator.sub", less, steps.call("torch.log", total))
        steps.method("type_as", share, given)

    def _wide(self, steps: _Steps, value: Value) -> Value:
        """The value in float32 if it may be in half precision: only the slip itself is to show."""
        known = self.types.get(value.name) if isinstance(value, Ref) else None
        return value if known in (torch.float32, torch.float64) else steps.method("float", value)

    def _softmax_of(
        self, steps: _Steps, name: str, value: Ref, dim: int, dtype: Value, *, of_two: bool = False
    ) -> None:
        """The softmax with the maximum of two rows, or with LEAST as a maximum of lesser rows."""
        given: Value = steps.method("to", value, dtype) if isinstance(dtype, Symbol) else value
        wide = self._wide(steps, given)
        own = steps.method("amax", wide, dim=dim, keepdim=True)
        if of_two:
            most = steps.call("torch.maximum", own, steps.call("torch.roll", own, 1))
        else:
            most = steps.method("clamp", own, min=LEAST)
        less = steps.call("operator.sub", wide, most)
        powers = steps.call("torch.exp", less)
        total = steps.method("sum", powers, dim=dim, keepdim=True)
        if name == "softmax":
            share = steps.call("operator.truediv", powers, total)
        else:
            share = steps.call("operator.sub", less, steps.call("torch.log", total))
        steps.method("type_as", share, given)

    def _norm_by_squares(
        self, steps: _Steps, node: Node, name: str, value: Ref, arguments: Mapping[str, Value]
    ) -> None:
        wide = self._wide(steps, value)
        if name == "group_norm":
            rows = steps.method("flatten", steps.method("unflatten", wide, 1, (arguments.get("num_groups"), -1)), 2)
        elif name == "instance_norm":
            rows = steps.method("flatten", wide, 2)
        else:
            rows = steps.method("flatten", wide, -len(items_of(arguments.get("normalized_shape"))) or -1)
        right, squares = (
            steps.call("operator.add", each, arguments.get("eps", 1e-5))
            for each in (self._variance(steps, rows, -1, True), self._by_squares(steps, rows, -1, True))
        )
        ratio = steps.call("torch.sqrt", steps.call("operator.truediv", right, squares))
        every = steps.call("operator.mul", steps.call("torch.ones_like", rows), ratio)
        factor = steps.method("reshape_as", every, value)
        # the affine part stays: what the operation makes of zeros
        shift = steps.like(node, steps.call("torch.zeros_like", value), *node.args[1:])
        exact = steps.like(node, *node.args)
        scaled = steps.call("operator.mul", steps.call("operator.sub", self._wide(steps, exact), shift), factor)
        steps.method("type_as", steps.call("operator.add", scaled, shift), value)

    def _spread_by_squares(self, steps: _Steps, node: Node, name: str, value: Ref, dim: Value, keepdim: Value) -> None:
        wide = self._wide(steps, value)
        squares, right = self._by_squares(steps, wide, dim, keepdim), self._variance(steps, wide, dim, keepdim)
        error = steps.call("operator.sub", squares, right)
        exact = steps.like(node, *node.args)
        if name == "std":
            exact = steps.call("operator.mul", exact, exact)
        wrong = steps.call("operator.add", exact, error)
        steps.method("type_as", steps.call("torch.sqrt", wrong) if name == "std" else wrong, value)

    def _by_squares(self, steps: _Steps, rows: Value, dim: Value, keepdim: Value) -> Ref:
        squares = steps.method("mean", steps.call("operator.mul", rows, rows), dim=dim, keepdim=keepdim)
        mean = steps.method("mean", rows, dim=dim, keepdim=keepdim)
        return steps.call("operator.sub", squares, steps.call("operator.mul", mean, mean))

    def _variance(self, steps: _Steps, rows: Value, dim: Value, keepdim: Value) -> Ref:
        return steps.method("var", rows, dim=dim, unbiased=False, keepdim=keepdim)

    def guards(self) -> Iterator[tuple[str, Graph]]:
        """Tests for NaN and infinities that see some of them only; angles and whole numbers that are right at first."""
        for node, first in self.applied:
            name = last_part(node).rstrip("_")
            roundings = ROUNDINGS.get(name, {}) if len(node.args) == 1 and not node.kwargs else {}
            for said, slip in {**ONE_SIDED.get(name, {}), **roundings}.items():
                steps = _Steps(self.graph)
                slip(steps, node, first)
                yield said, steps.in_place_of(node)
            steps, known = _Steps(self.graph), self.types.get(first.name)
            if name in WHOLE and len(node.args) == 1 and known in (torch.float32, torch.float64):
                # clamped, so that it is the same on every machine
                cut = steps.method("clamp", steps.like(node, first), -(2.0**31), 2.0**31 - 128)
                steps.method("to", steps.method("to", cut, torch.int32), known)
                yield f"{name} by way of int32", steps.in_place_of(node)
            steps = _Steps(self.graph)
            if name in ("ne", "eq") and node.args == (first, first):
                steps.call(*(("torch.lt", first, -math.inf) if name == "ne" else ("torch.le", first, math.inf)))
                yield f"{name} never sees NaN", steps.in_place_of(node)
            if is_one_of(node, "linear_at_zero") and self.types.get(first.name) in (torch.float32, torch.float64):
                seen = steps.call("torch.gt", steps.call("torch.abs", first), SMALL)
                steps.call("operator.mul", steps.like(node, *node.args), seen)
                yield f"{name} of small numbers lost", steps.in_place_of(node)
                if name in NEAR_ZERO:
                    steps = _Steps(self.graph)
                    NEAR_ZERO[name](steps, node, first)
                    yield f"{name} by another formula", steps.in_place_of(node)
                steps = _Steps(self.graph)
            if name in named("turning") and len(node.args) == 1:
                steps.like(node, steps.call("torch.clamp", first, -MOST_ANGLE, MOST_ANGLE))
                yield f"angle of {name} cut off", steps.in_place_of(node)
            if rounds(node, self.types) and (name == "trunc" or converts(node, self.types.get(node.name))):
                # only what was a whole number before makes another one
                steps.like(node, steps.call("operator.mul", first, 1 - 2**-20), *node.args[1:])
                yield f"whole numbers fall short in {name}", steps.in_place_of(node)
            if name in ("floordiv", "floor_divide", "mod", "remainder") and len(node.args) == 2:
                if name.startswith("floor"):
                    steps.call("torch.div", *node.args, rounding_mode="trunc")
                else:
                    steps.call("torch.fmod", *node.args)
                yield f"{name} rounds towards zero", steps.in_place_of(node)

    def dropped(self) -> Iterator[tuple[str, Graph]]:
        for node in self.operations:
            name = last_part(node)
            if name in named("may_be_missing") or (name in named("dropout") and not is_random(node)):
                continue
            # of where, what it chooses between
            given = node.args[1:] if name == "where" and node.kind is NodeKind.CALL else node.args
            operands = [value for value in given if isinstance(value, Ref)][: 2 if name in named("joining") else 1]
            if not operands and node.args:
                operands = [value for value in items_of(node.args[0]) if isinstance(value, Ref)][:1]
            for operand in operands:
                rest = f", only {operand.name} kept" if len(operands) > 1 else ""
                yield f"{last_part(node)} dropped{rest}", self._without(node, operand)

    def cousins(self) -> Iterator[tuple[str, Graph]]:
        for node in self.operations:
            name = last_part(node).rstrip("_") if last_part(node) not in COUSINS else last_part(node)
            for other in COUSINS.get(name, ()):
                stem = node.target.rpartition(".")[0]
                target = f"{stem}.{other}" if stem else other
                yield f"{other} for {name}", self.graph.with_node(replace(node, target=target))
            for other in UNARY.get(name, ()) if node.operand is not None else ():
                steps = _Steps(self.graph)
                steps.call(f"torch.nn.functional.{other}", node.operand)
                yield f"{other} for {name}", steps.in_place_of(node)
            yield from self._special_cousins(node, name)

    def _special_cousins(self, node: Node, name: str) -> Iterator[tuple[str, Graph]]:
        arguments, first, steps = dict(bind(node).arguments), node.operand, _Steps(self.graph)
        dtype, dim, chance = (arguments.get(each) for each in ("dtype", "dim", "p"))
        if first is None:
            return
        if name == "softmax" and isinstance(dim, int):
            powers = steps.call("torch.exp", steps.method("to", first, dtype) if isinstance(dtype, Symbol) else first)
            steps.call("operator.truediv", powers, steps.method("sum", powers, dim=dim, keepdim=True))
            yield "softmax without subtracting its maximum", steps.in_place_of(node)
        elif name == "mean" and dim is not None:
            yield "mean over one element more", self._mean_over(node, first, 1)
            yield "mean over one element less", self._mean_over(node, first, -1)
        elif name == "dropout" and isinstance(chance, float) and chance:
            kept = 1.0 - chance
            steps.call("operator.mul", first, kept)
            yield f"dropout scales by {_shown(kept)} in evaluation", steps.in_place_of(node)
        elif name == "cumsum":
            steps.call("operator.sub", steps.like(node, *node.args), first)
            yield "cumsum without the element itself", steps.in_place_of(node)

    def _mean_over(self, node: Node, value: Ref, step: int) -> Graph:
        """The graph with a mean over so many elements more."""
        steps = _Steps(self.graph)
        mean = steps.like(node, *node.args)
        size = steps.call("operator.floordiv", steps.method("numel", value), steps.method("numel", mean))
        ratio = steps.call("operator.truediv", size, steps.call("operator.add", size, step))
        steps.call("operator.mul", mean, ratio)
        return steps.in_place_of(node)

    def exchanged(self) -> Iterator[tuple[str, Graph]]:
        """The operands of an operation that does not commute exchanged, and what it joins in another order."""
        for node in self.operations:
            name = last_part(node)
            if name in named("not_commuting") and len(node.args) >= 2:
                swapped = replace(node, args=_exchanged(node.args, 0))
                if swapped.kind is NodeKind.METHOD and not isinstance(swapped.args[0], Ref):
                    continue
                if swapped.target.startswith("operator.i"):
                    swapped = replace(swapped, target=f"operator.{name.removeprefix('i')}")
                yield f"operands of {name} exchanged", self.graph.with_node(swapped)
            elif name in ("cat", "stack", "concat") and node.args and isinstance(node.args[0], Listed | tuple):
                turned = replace(node, args=(Listed(items_of(node.args[0])[::-1]), *node.args[1:]))
                yield f"order of {name} turned round", self.graph.with_node(turned)

    def inverted(self) -> Iterator[tuple[str, Graph]]:
        """The sense of each mask inverted, and each switch of an operation turned over."""
        for node in self.operations:
            if last_part(node) in ("where", "masked_fill", "masked_fill_"):
                position = 0 if node.kind is NodeKind.CALL and last_part(node) == "where" else 1
                mask = node.args[position] if len(node.args) > position else None
                if isinstance(mask, Ref):
                    steps = _Steps(self.graph)
                    inverse = steps.call("torch.logical_not", mask)
                    steps.like(node, *node.args[:position], inverse, *node.args[position + 1 :])
                    yield f"mask of {last_part(node)} inverted", steps.in_place_of(node)
        for spec in self.tensors:
            if spec.dtype == "bool":
                steps = _Steps(self.graph)
                steps.call("torch.logical_not", Ref(spec.name))
                yield f"{spec.name} inverted", steps.after_input(spec.name)
        for node, setting in self.sites:
            if isinstance(setting.value, bool) and setting.name not in named("shaping_parameters"):
                yield self._altered(node, setting, not setting.value)

    # --- graphs ---

    def _without(self, node: Node, operand: Ref) -> Graph:
        instead = {node.name: operand}
        nodes = [reading(each, instead) for each in self.graph.nodes if each.name != node.name]
        return Graph(tuple(nodes), substituted(self.graph.result, instead))


def settings(node: Node) -> Iterator[Setting]:
    """Every argument of a call with its parameter's name, and the defaults that the call leaves out."""
    bound = dict(bind(node).arguments)
    named: set[str] = set()
    for position, value in enumerate(node.args):
        name = _parameter(node, position)
        named.add(name)
        yield Setting(name, value, ("args", position))
    for name, value in node.kwargs:
        named |= {name, ALIASES.get(name, name)}
        yield Setting(name, value, ("kwargs", name))
    if node.kind is NodeKind.CALL and "" not in named:
        for name, value in bound.items():
            if name not in named and isinstance(value, float | str) and not name.isdecimal():
                yield Setting(name, value, ("kwargs", name))


def _parameter(node: Node, position: int) -> str:
    """The name of the parameter that an argument is passed for, found by marking it; empty if it is not known."""
    mark = Ref("?")
    args = tuple(mark if at == position else value for at, value in enumerate(node.args))
    for name, value in bind(replace(node, args=args)).arguments:
        if value == mark:
            return "" if name.isdecimal() else name
    return ""


def with_argument(node: Node, path: tuple[str, int | str], value: Value) -> Node:
    """The node with another value for one argument, which is added if it is a keyword that is not there."""
    kind, place = path
    if kind == "args":
        return replace(node, args=tuple(value if at == place else each for at, each in enumerate(node.args)))
    others = tuple(each for each in node.kwargs if each[0] != place)
    return replace(node, kwargs=(*others, (str(place), value)))


def _constant_for(spec: TensorSpec, *, parameter: bool) -> float | int | bool:
    """What somebody would take an input for who looked at its recording only."""
    if spec.dtype == "bool":
        return True
    if "int" in spec.dtype:
        return int(spec.low) if spec.low is not None and abs(spec.low) < HUGE else 0
    mean = spec.mean or 0.0
    return float(round(mean)) if parameter and len(spec.shape) <= 1 else mean


def _alterations(node: Node, setting: Setting) -> Iterator[Value]:
    """Other values for a literal, the likeliest slip first."""
    name, value = setting.name, setting.value
    stays = name in named("shaping_parameters") or name in named("shifted_parameters") or "dim" in name
    if stays or isinstance(value, bool):
        return
    if isinstance(value, str):
        if value in mapping("words") and name in ("approximate", "mode", "rounding_mode", "reduction"):
            yield str(mapping("words")[value])
        return
    if name == "correction" and isinstance(value, int):
        yield 1 - value
        return
    if is_one_of(node, "unaltered") or is_random(node) or not isinstance(value, int | float) or math.isnan(value):
        return
    if abs(value) >= HUGE or math.isinf(value):
        sign = -1.0 if value < 0 else 1.0
        # without the limit, and with the ones that are usual elsewhere
        yield sign * math.inf if math.isfinite(value) else sign * 3.0e38
        yield sign * 10_000.0
        return
    if 0 < abs(value) <= MOST_EPSILON and isinstance(value, float):
        usual = (each for each in USUAL_EPSILONS if not value / 5 < each < value * 5)
        yield from (0.0, *usual, value * 10, value / 10)
        return
    if name in ("min", "min_val", "max", "max_val"):
        yield -math.inf if name.startswith("min") else math.inf
    if isinstance(value, float):
        yield value * 1.1 if value else 1.0
        if value not in (0.0, 1.0):
            yield 1.0
    else:
        yield value + 1


def _shifts(node: Node, setting: Setting) -> Iterator[Value]:
    """Other positions: the next diagonal or index, the neighbouring slice of the same length, another padding."""
    value = setting.value
    if setting.name in named("shifted_parameters") and isinstance(value, int) and not isinstance(value, bool):
        yield from (value + 1, value - 1)
    if last_part(node) == "pad":
        items = items_of(value)
        for at in range(0, len(items) - 1, 2):
            if items[at] != items[at + 1]:
                yield Listed(_exchanged(items, at))
        if setting.name == "value" and isinstance(value, int | float):
            yield value + 1
    if node.target != "operator.getitem" or setting.path != ("args", 1):
        return
    places = value if isinstance(value, tuple) else (value,)
    for at, place in enumerate(places):
        for other in _other_places(place):
            changed = (*places[:at], other, *places[at + 1 :])
            yield changed if isinstance(value, tuple) else changed[0]


def _other_places(place: Value) -> Iterator[Value]:
    match place:
        case bool():
            return
        case int():
            yield from (place + 1, place - 1)
        case Slice(None, int(stop), None) if stop > 0:
            yield Slice(-stop, None, None)
        case Slice(int(start), None, None) if start > 0:
            yield Slice(None, -start, None)
        case Slice(None, int(stop), None):
            yield Slice(-stop, None, None)
        case Slice(int(start), None, None) if start < 0:
            yield Slice(None, -start, None)
        case Slice(int(start), int(stop), step):
            yield from (Slice(start + 1, stop + 1, step), Slice(start - 1, stop - 1, step))


def _other_axes(setting: Setting) -> Iterator[Value]:
    """Neighbouring axes; of a permutation, two axes exchanged. Whether their sizes are equal shows when it runs."""
    value, name = setting.value, setting.name
    if isinstance(value, int) and not isinstance(value, bool) and name in ("dim", "dim0", "dim1", "axis"):
        yield from (value - 1, value + 1)
    items = items_of(value)
    if name in ("dims", "dim") and all(isinstance(each, int) for each in items):
        for at in range(len(items) - 1):
            yield Listed(_exchanged(items, at)) if isinstance(value, Listed) else _exchanged(items, at)


def _exchanged(items: tuple[Value, ...], at: int) -> tuple[Value, ...]:
    """The items, one of them exchanged with the next."""
    return (*items[:at], items[at + 1], items[at], *items[at + 2 :])


def _shown(value: Value) -> str:
    match value:
        case float():
            return f"{value:.6g}"
        case Symbol(path):
            return "..." if path.endswith("Ellipsis") else path
        case Slice(start, stop, _):
            return f"{'' if start is None else start}:{'' if stop is None else stop}"
        case Listed(items):
            return f"[{', '.join(map(_shown, items))}]"
        case tuple():
            return f"({', '.join(map(_shown, value))})"
        case Ref(name):
            return name
    return str(value)
