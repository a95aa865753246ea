"""Which values the integers of a graph can take, by interval arithmetic, so that drawn indices stay in their tables.

An index beyond its table is no input: on the CPU it raises, on CUDA it ends the process that computes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from passnet_core.graphs.effects import changed, has_effect, is_random, is_switch, last_part
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Value
from passnet_core.judge.protocol import signatures
from passnet_core.records import TensorSpec

BEYOND = 3
"""How far beyond its recorded range an integer is drawn that indexes nothing: a mask of 0 and 1 gets 0 to 4."""

UNCHANGED = frozenset(
    {
        "to", "long", "int", "float", "double", "half", "bfloat16", "type", "type_as", "view", "view_as",
        "reshape", "reshape_as", "unsqueeze", "squeeze", "expand", "expand_as", "contiguous", "flatten",
        "clone", "permute", "transpose", "t", "repeat", "tile", "detach", "flip", "roll", "getitem", "split",
        "chunk", "unbind", "select", "narrow", "pos", "broadcast_to", "short",
    }
)  # fmt: skip
"""Operations whose result has no values but those of their first operand."""
TRUTHS = frozenset(
    {
        "eq", "ne", "lt", "le", "gt", "ge", "bool", "invert", "logical_not", "logical_and", "logical_or",
        "and_", "or_", "isinf", "isnan", "isfinite", "any", "all",
    }
)  # fmt: skip
"""Operations that give 0 or 1, those on bits if their operands are booleans."""
OTHER_USES = frozenset(
    {
        "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "index_add", "index_add_",
        "index_put", "index_put_", "index_copy", "index_copy_", "index_fill", "index_fill_", "take",
        "take_along_dim", "cross_entropy", "nll_loss", "bincount", "repeat_interleave", "setitem",
        "embedding_bag", "item", "tolist", "masked_scatter", "masked_select", "nonzero", "searchsorted",
        "bucketize", "unfold", "as_strided",
    }
)  # fmt: skip
"""Other operations that may fail for some integers, or whose result's shape depends on them."""


@dataclass(frozen=True)
class ValueRange:
    """The values that a node can take: from low to high, both included. longest: no axis that it has in common with
    the inputs it depends on is longer. sources: these inputs."""

    low: float = -math.inf
    high: float = math.inf
    longest: int = 1
    sources: frozenset[str] = frozenset()

    @property
    def is_truth(self) -> bool:
        return self.low >= 0 and self.high <= 1

    def over(self, low: float, high: float) -> "ValueRange":
        """The same node's interval with other ends; the whole line if they are no numbers."""
        known = not (math.isnan(low) or math.isnan(high))
        return replace(self, low=low if known else -math.inf, high=high if known else math.inf)


def indexings(node: Node) -> list[tuple[str, str, int]]:
    """(index, table, axis) for every value that the call uses as an index; table is empty if it is not known."""
    call = signatures.bind(node)
    arguments = dict(call.arguments)
    table = index = None
    axis: Value = 0
    match call.target:
        case "torch.nn.functional.embedding":
            table, index = arguments.get("weight"), arguments.get("input")
        case "torch.embedding":
            table, index = arguments.get("weight"), arguments.get("indices")
        case "torch.index_select" | "torch.gather" | "Tensor.index_select" | "Tensor.gather":
            table, index, axis = arguments.get("self"), arguments.get("index"), arguments.get("dim")
        case "torch.nn.functional.one_hot" | "torch._C._nn.one_hot":
            table, index = None, arguments.get("input", arguments.get("self"))
        case "operator.getitem":
            table, subscript = arguments.get("a"), arguments.get("b")
            places = subscript if isinstance(subscript, tuple) else (subscript,)
            if not isinstance(table, Ref) or any(place is None for place in places):
                return []
            return [(place.name, table.name, axis) for axis, place in enumerate(places) if isinstance(place, Ref)]
    if not isinstance(index, Ref):
        return []
    return [(index.name, table.name if isinstance(table, Ref) else "", axis if isinstance(axis, int) else 0)]


@dataclass(frozen=True)
class WholeRange:
    """The values that an integer input may have, from low to high. free: whatever the shapes are."""

    low: int
    high: int
    free: bool


def whole_ranges(graph: Graph, specs: Sequence[TensorSpec]) -> dict[str, WholeRange]:
    """The range that each integer input may be drawn from, although recorded values may lie closer together.

    An index may point anywhere into its tables, also through arithmetic and conversions. Where the graph does not show
    that every value is safe, the range is the recorded one. An integer that indexes nothing may exceed its recorded
    range by BEYOND. Neither becomes negative if no recorded value was."""
    given = {spec.name: recorded(spec) for spec in specs}
    sizes = {spec.name: spec.shape for spec in specs}
    largest = max((size for shape in sizes.values() for size in shape), default=1)

    def safe(name: str, low: int, high: int) -> bool:
        return holds(graph, {**given, name: replace(given[name], low=low, high=high)}, sizes, only=name)

    found: dict[str, WholeRange] = {}
    for spec in specs:
        name, interval = spec.name, given[spec.name]
        if "int" not in spec.dtype or spec.data is not None or not math.isfinite(interval.low + interval.high):
            continue
        low, high = int(interval.low), int(interval.high)
        free = not _is_index(graph, name)
        if free:
            wider = (min(low, 0) if low >= 0 else low - BEYOND, high + BEYOND)
            low, high = wider
        elif safe(name, low, high):
            high = _last(high, largest, partial(safe, name, low))
            low = _first(low, min(low, 0) if low >= 0 else low - largest, partial(safe, name, high=high))
        found[name] = WholeRange(low, high, free)
    return found


def _first(known: int, limit: int, holds: Callable[[int], bool]) -> int:
    """The smallest number from known, which holds, down to limit that holds, if all larger ones do."""
    return -_last(-known, -limit, lambda each: holds(-each))


def _last(known: int, limit: int, holds: Callable[[int], bool]) -> int:
    """The largest number from known, which holds, to limit that holds, if all smaller ones do."""
    if limit <= known:
        return known
    limit += 1
    while limit - known > 1:
        middle = (known + limit) // 2
        known, limit = (middle, limit) if holds(middle) else (known, middle)
    return known


def recorded(spec: TensorSpec) -> ValueRange:
    """The recorded values of an input: 0 and 1 for integers without a range, the whole line for floats."""
    longest, source = max(spec.shape, default=1), frozenset({spec.name})
    if spec.dtype == "bool":
        return ValueRange(0, 1, longest, source)
    if "int" not in spec.dtype:
        return ValueRange(longest=longest, sources=source)
    if spec.data:
        return ValueRange(min(spec.data), max(spec.data), longest, source)
    if spec.low is None or spec.high is None:
        return ValueRange(0, 1, longest, source)
    return ValueRange(spec.low, spec.high, longest, source)


def _is_index(graph: Graph, name: str) -> bool:
    """Whether something that depends on the input is used as an index, or in one of OTHER_USES."""
    known = _sources(graph)
    for node in graph.operations:
        used = [index for index, _, _ in indexings(node)]
        if last_part(node) in OTHER_USES:
            used += node.inputs
        if any(name in known[each] for each in used):
            return True
    return False


def _sources(graph: Graph) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for node in graph.nodes:
        own = frozenset({node.name}) if node.kind is NodeKind.INPUT else frozenset()
        found[node.name] = own.union(*(found[each] for each in node.inputs))
    return found


def holds(
    graph: Graph, given: Mapping[str, ValueRange], sizes: Mapping[str, tuple[int, ...]], *, only: str = ""
) -> bool:
    """Whether every index provably stays within its table, for inputs from these intervals. only: look at indices
    that depend on this input alone."""
    values = intervals(graph, given)
    for node in graph.operations:
        if last_part(node) in OTHER_USES and any(_depends(values[each], only) for each in node.inputs):
            return False
        for index, table, axis in indexings(node):
            value, shape = values[index], sizes.get(table)
            if not _depends(value, only):
                continue
            if shape is None or not -len(shape) <= axis < len(shape):
                return False
            least = -shape[axis] if node.target == "operator.getitem" else 0
            if not least <= value.low <= value.high < shape[axis]:
                return False
    return True


def _depends(value: ValueRange, only: str) -> bool:
    return only in value.sources if only else True


def stays_within(mutant: Graph, graph: Graph, specs: Sequence[TensorSpec]) -> bool:
    """Whether a changed graph is as safe to run as the graph, for integers from their whole ranges."""
    if _indexes_alike(mutant, graph):
        return True
    given = {spec.name: recorded(spec) for spec in specs}
    for name, whole in whole_ranges(graph, specs).items():
        given[name] = replace(given[name], low=whole.low, high=whole.high)
    return holds(mutant, given, {spec.name: spec.shape for spec in specs})


def _indexes_alike(mutant: Graph, graph: Graph) -> bool:
    """Whether nothing in which the two graphs differ comes before an operation that indexes, draws random numbers or
    asserts, so that the one does not fail where the other does not."""
    before = {node.name: node for node in graph.nodes}
    touched: set[str] = set()
    for node in mutant.nodes:
        if before.get(node.name) != node or touched.intersection(node.inputs):
            touched.add(node.name)
            if indexings(node) or _may_fail(node):
                return False
    return True


def _may_fail(node: Node) -> bool:
    return last_part(node) in OTHER_USES or is_random(node) or is_switch(node)


def intervals(graph: Graph, given: Mapping[str, ValueRange]) -> dict[str, ValueRange]:
    """The interval of every node, for inputs from these intervals. It may be too wide, never too narrow."""
    found: dict[str, ValueRange] = {}
    overwritten = {each.name for node in graph.operations for each in changed(node)}
    for node in graph.nodes:
        if node.kind is NodeKind.INPUT:
            found[node.name] = given.get(node.name, ValueRange(sources=frozenset({node.name})))
        else:
            found[node.name] = _interval(node, found)
        if node.name in overwritten:
            found[node.name] = found[node.name].over(-math.inf, math.inf)
    return found


def _interval(node: Node, known: Mapping[str, ValueRange]) -> ValueRange:
    operands = [known[name] for name in node.inputs]
    common = ValueRange(
        longest=max((each.longest for each in operands), default=1),
        sources=frozenset().union(*(each.sources for each in operands)),
    )
    if has_effect(node):
        return common
    name = last_part(node)
    args = [known[each.name] if isinstance(each, Ref) else _constant(each) for each in node.args]
    first, second = (args[place] if place < len(args) else None for place in (0, 1))
    if name in TRUTHS:
        bits = name in ("invert", "and_", "or_")
        return common if bits and not all(each.is_truth for each in operands) else common.over(0, 1)
    if name in ("zeros", "zeros_like", "ones", "ones_like"):
        return common.over(*(float(name.startswith("ones")),) * 2)
    if name == "arange" and len(args) == 1 and isinstance(node.args[0], int):
        return ValueRange(0, max(node.args[0] - 1, 0), max(node.args[0], 1))
    if name in ("cat", "stack") and node.args and isinstance(node.args[0], Listed | tuple) and operands:
        return common.over(min(each.low for each in operands), max(each.high for each in operands))
    if first is None:
        return common
    if name in UNCHANGED:
        # what an index picks are values of the table
        return common.over(first.low, first.high)
    if name == "cumsum":
        size = common.longest
        return common.over(min(first.low, first.low * size), max(first.high, first.high * size))
    if name == "neg":
        return common.over(-first.high, -first.low)
    if name == "abs":
        largest = max(abs(first.low), abs(first.high))
        return common.over(0 if first.low <= 0 <= first.high else min(abs(first.low), abs(first.high)), largest)
    if name in ("clamp", "clip", "clamp_min", "clamp_max"):
        return common.over(*_clamped(node, first, name))
    if second is None:
        return common
    match name:
        case "add" if not node.kwargs:
            return common.over(first.low + second.low, first.high + second.high)
        case "sub" if not node.kwargs:
            return common.over(first.low - second.high, first.high - second.low)
        case "mul":
            products = [_product(one, other) for one in (first.low, first.high) for other in (second.low, second.high)]
            return common.over(min(products), max(products))
        case "floordiv" | "truediv" if second.low == second.high and second.low > 0:
            # rounding down moves the lower end only
            low = first.low / second.low
            lower = math.floor(low) if name == "floordiv" and math.isfinite(low) else low
            return common.over(lower, first.high / second.low)
        case "minimum" | "min" if node.kind is NodeKind.CALL and isinstance(node.args[1], Ref):
            return common.over(min(first.low, second.low), min(first.high, second.high))
        case "maximum" | "max" if node.kind is NodeKind.CALL and isinstance(node.args[1], Ref):
            return common.over(max(first.low, second.low), max(first.high, second.high))
        case "where" | "masked_fill" if len(args) == 3:
            one, other = (args[1], args[2]) if name == "where" and node.kind is NodeKind.CALL else (first, args[2])
            if one is not None and other is not None:
                return common.over(min(one.low, other.low), max(one.high, other.high))
    return common


def _product(one: float, other: float) -> float:
    return 0.0 if one == 0 or other == 0 else one * other


def _clamped(node: Node, value: ValueRange, name: str) -> tuple[float, float]:
    arguments = dict(signatures.bind(node).arguments)
    low, high = arguments.get("min"), arguments.get("max")
    if isinstance(low, int | float):
        value = replace(value, low=max(value.low, low), high=max(value.high, low))
    if isinstance(high, int | float):
        value = replace(value, low=min(value.low, high), high=min(value.high, high))
    return value.low, value.high


def _constant(value: Value) -> ValueRange | None:
    return ValueRange(value, value) if isinstance(value, int | float) else None
