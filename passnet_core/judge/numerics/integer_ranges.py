"""Which values the integers of a graph can take, by interval arithmetic, so that drawn indices stay in their tables.

An index beyond its table is no input: on the CPU it raises, on CUDA it ends the process that computes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import torch

from passnet_core.graphs.effects import changed, has_effect, is_one_of, is_random, is_switch, last_part
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Symbol, Value, items_of
from passnet_core.operations.binding import bind
from passnet_core.operations.kinds import mapping, named, several
from passnet_core.records import TensorSpec

BEYOND = 3
"""How far beyond its recorded range an integer is drawn that indexes nothing: a mask of 0 and 1 gets 0 to 4."""

REACHES = (1 << 54, 1 << 40, 1 << 33, 1 << 17, 1 << 13, 1 << 11, 1 << 8)
"""How far such an integer is drawn from zero where the graph stays exact: beyond 32 bits, beyond 16, and so on."""

EXACT = {torch.bfloat16: 1 << 8, torch.float16: 1 << 11, torch.float32: 1 << 17, torch.float64: 1 << 31}
"""How large integers may be that become floats of this dtype: it holds them exactly."""
CONTINUOUS = 1 << 40
"""How large they may be that become floats of at least single precision, where all that depends on these is computed
element by element, and no rounding decides a result."""
ALONG_AXES = frozenset({"mean", "softmax", "log_softmax"})
"""The operations among those that make floats of integers which do so along axes."""
WRAPPING = frozenset({"mul", "imul", "add", "iadd", "sub", "isub", "rsub"})
"""What integers may do beyond the range of their dtype: their bits are the same everywhere."""
MOST_ANGLE = 1 << 18
"""How large integers may be that become angles, as positions in the longest contexts do. Beyond, the rounding of an
angle is all that shows in its sine."""

USUAL_SPREADS = 6
"""A float is taken to be at most so many spreads from its mean."""

INDEXING = several("indexing")

CONVERSIONS = {name: getattr(torch, dtype) for name, dtype in mapping("conversions").items()}


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

    def around(self, *others: "ValueRange") -> "ValueRange":
        """The same node's interval, with all values of these."""
        return self.over(min(each.low for each in others), max(each.high for each in others))


def indexings(node: Node) -> list[tuple[str, str, int]]:
    """(index, table, axis) for every value that the call uses as an index; table is empty if it is not known."""
    call = bind(node)
    arguments = dict(call.arguments)
    if call.target == "operator.getitem":
        table, subscript = arguments.get("a"), arguments.get("b")
        places = subscript if isinstance(subscript, tuple) else (subscript,)
        if not isinstance(table, Ref) or any(place is None for place in places):
            return []
        return [(place.name, table.name, axis) for axis, place in enumerate(places) if isinstance(place, Ref)]
    if (words := INDEXING.get(last_part(node))) is None:
        return []
    of_table, along, *of_index = words
    table, axis = arguments.get(of_table), int(along) if along.isdecimal() else arguments.get(along)
    index = next((arguments[each] for each in of_index if each in arguments), None)
    if not isinstance(index, Ref):
        return []
    if not isinstance(table, Ref) or not isinstance(axis, int):
        return [(index.name, "", 0)]
    return [(index.name, table.name, axis)]


@dataclass(frozen=True)
class WholeRange:
    """The values that an integer input may have, from low to high. free: whatever the shapes are. apart: others, with
    which the graph compares it. far: the range of those that index nothing, as far as the graph computes exactly."""

    low: int
    high: int
    free: bool
    apart: tuple[int, ...] = ()
    far: tuple[int, int] | None = None


def whole_ranges(graph: Graph, specs: Sequence[TensorSpec]) -> dict[str, WholeRange]:
    """The range that each integer input may be drawn from, although recorded values may lie closer together.

    An index may point anywhere into its tables, also through arithmetic and conversions. Where the graph does not show
    that every value is safe, the range is the recorded one. An integer that indexes nothing may exceed its recorded
    range by BEYOND. Neither becomes negative within this range if no recorded value was."""
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
            least = 1 if low > 0 and _divides(graph, name) else 0
            low, high = min(low, least) if low >= 0 else low - BEYOND, high + BEYOND
        elif safe(name, low, high):
            high = _last(high, largest, partial(safe, name, low))
            low = _first(low, min(low, 0) if low >= 0 else low - largest, partial(safe, name, high=high))
        found[name] = WholeRange(low, high, free)
        if not free:
            others = [each for each in compared(graph) if not low <= each <= high]
            apart = tuple(each for each in others if safe_alone(graph, given, sizes, name, each))
            found[name] = replace(found[name], apart=apart)
    far = _far_ranges(graph, specs, found)
    return {name: replace(whole, far=far.get(name)) for name, whole in found.items()}


def _divides(graph: Graph, name: str) -> bool:
    """Whether the graph divides by an input."""
    return any(is_one_of(node, "dividing") and node.args[1:2] == (Ref(name),) for node in graph.operations)


def compared(graph: Graph) -> tuple[int, ...]:
    """The whole numbers that the graph compares something with."""
    found = {
        value
        for node in graph.operations
        if is_one_of(node, "comparisons")
        for value in node.args[1:]
        if isinstance(value, int) and not isinstance(value, bool)
    }
    return tuple(sorted(found))


def safe_alone(
    graph: Graph, given: Mapping[str, ValueRange], sizes: Mapping[str, tuple[int, ...]], name: str, value: int
) -> bool:
    """Whether any elements of this input may have this value, beside others: no index mixes its elements, and every
    index stays within its table where they have it."""
    place: dict[str, str | None] = {}
    for node in graph.nodes:
        own = {place[each] for each in node.inputs} - {""}
        if node.kind is NodeKind.INPUT:
            place[node.name] = node.name if node.name == name else ""
        elif is_one_of(node, "elementwise") or not own:
            place[node.name] = own.pop() if len(own) == 1 else None if own else ""
        else:
            # another order of the same elements
            alike = is_one_of(node, "keeping_values") and len(own) == 1 and None not in own
            place[node.name] = node.name if alike else None
        if any(place[index] is None for index, _, _ in indexings(node)):
            return False
    return holds(graph, {**given, name: replace(given[name], low=value, high=value)}, sizes, only=name)


def _far_ranges(
    graph: Graph, specs: Sequence[TensorSpec], whole: Mapping[str, WholeRange]
) -> dict[str, tuple[int, int]]:
    """How far integers may be drawn, one after the other: those that index nothing also below zero, if possible; others
    where every index provably stays within its table."""
    numbers = {node.name for node in graph.inputs if node.target.startswith("torch.Sym")}
    tensors = [spec for spec in specs if spec.name not in numbers and not spec.dtype.startswith("q")]
    ranged = [spec for spec in tensors if spec.name in whole]
    sizes = {spec.name: spec.shape for spec in specs}
    given = {spec.name: _usual(spec) for spec in specs}
    for name, known in whole.items():
        given[name] = replace(given[name], low=known.low, high=known.high)
    types = dtypes(graph, specs)
    usual = intervals(graph, given)
    found: dict[str, tuple[int, int]] = {}
    for spec in ranged:
        info = torch.iinfo(getattr(torch, spec.dtype))
        low, high = whole[spec.name].low, whole[spec.name].high
        reaches = [min(reach, info.max) for reach in REACHES if min(reach, info.max) > high]
        free = whole[spec.name].free
        ends = [(end, reach) for reach in reaches for end in ((max(-reach, info.min), low) if free else (low,))]
        for each in ends:
            wider = {**given, spec.name: replace(given[spec.name], low=each[0], high=each[1])}
            if not free and not holds(graph, wider, sizes, only=spec.name):
                continue
            if _stays_exact(graph, wider, usual, types, {*found, spec.name}):
                given, found[spec.name] = wider, each
                break
    return found


def _usual(spec: TensorSpec) -> ValueRange:
    """Like recorded, but floats within USUAL_SPREADS of their mean."""
    value = recorded(spec)
    if spec.dtype == "bool" or "int" in spec.dtype:
        return value
    mean, spread = spec.mean or 0.0, max(spec.std or 1.0, 1.0)
    low, high = mean - USUAL_SPREADS * spread, mean + USUAL_SPREADS * spread
    return value.over(low if spec.low is None else spec.low, high if spec.high is None else spec.high)


def _stays_exact(
    graph: Graph,
    given: Mapping[str, ValueRange],
    usual: Mapping[str, ValueRange],
    types: Mapping[str, torch.dtype | None],
    far: set[str],
) -> bool:
    """Whether everything that depends on inputs drawn far from the recorded ones stays defined: no integer overflows,
    a float holds those that it takes, and none becomes infinite. usual: the intervals without them."""
    values = intervals(graph, given)
    angles = any(is_one_of(node, "turning") for node in graph.operations)
    continuous = all(_is_continuous(node, types) for node in graph.operations)
    touched = set(far)
    for node in graph.operations:
        used = [each for each in node.inputs if each in touched]
        value, before, dtype = values[node.name], usual[node.name], types.get(node.name)
        if not used or dtype is torch.bool or is_one_of(node, "questions"):
            continue
        size = max(abs(value.low), abs(value.high))
        if math.isfinite(size) and before.low <= value.low and value.high <= before.high:
            continue
        if dtype is None or dtype.is_complex:
            return False
        wholes = [each for each in used if (kind := types.get(each)) is None or not kind.is_floating_point]
        if dtype.is_floating_point:
            most = CONTINUOUS if continuous and dtype.itemsize >= 4 else EXACT.get(dtype, 0)
            most = min(most, MOST_ANGLE) if angles else most
            if any(max(abs(values[each].low), abs(values[each].high)) > most for each in wholes):
                return False
            if math.isfinite(size) and size > torch.finfo(dtype).max:
                return False
        elif len(wholes) < len(used):
            if not size <= min(torch.iinfo(dtype).max, 1 << 31):
                return False
        elif size > torch.iinfo(dtype).max and last_part(node) not in WRAPPING:
            return False
        touched.add(node.name)
    return True


def _is_continuous(node: Node, types: Mapping[str, torch.dtype | None]) -> bool:
    """Whether the node computes floats element by element, and nothing else of floats."""
    kinds = [kind for each in (node.name, *node.inputs) if (kind := types.get(each)) is not None]
    if not any(each.is_floating_point for each in kinds):
        return True
    made, name = types.get(node.name), last_part(node)
    if made is None or not made.is_floating_point or name in ALONG_AXES:
        return False
    if name == "div":
        return dict(bind(node).arguments).get("rounding_mode") is None
    return name != "floordiv" and any(name in named(each) for each in ("elementwise", "keeping_values", "floating"))


def dtypes(graph: Graph, specs: Sequence[TensorSpec]) -> dict[str, torch.dtype | None]:
    """The dtype of every tensor, as far as the names of operations show it; None where they do not."""
    known = {spec.name: getattr(torch, spec.dtype, None) for spec in specs}
    found: dict[str, torch.dtype | None] = {}
    for node in graph.nodes:
        if node.kind is NodeKind.INPUT:
            if node.name in known:
                found[node.name] = known[node.name]
        elif not is_one_of(node, "questions") and (not node.inputs or any(each in found for each in node.inputs)):
            # the others are plain numbers
            found[node.name] = _dtype(node, found)
    return found


def _dtype(node: Node, known: Mapping[str, torch.dtype | None]) -> torch.dtype | None:
    name = last_part(node)
    values = [*node.args, *(value for _, value in node.kwargs)]
    for value in values:
        said = getattr(torch, value.path.rpartition(".")[2], None) if isinstance(value, Symbol) else None
        if isinstance(said, torch.dtype):
            return said
    if node.kind is NodeKind.METHOD and name in CONVERSIONS:
        return CONVERSIONS[name]
    items = [each for value in values for each in (value.items if isinstance(value, Listed) else [value])]
    operands = [known[each.name] for each in items if isinstance(each, Ref) and each.name in known]
    if name == "type_as" or (name == "to" and len(operands) == 2):
        return operands[-1]
    of_bits = name in ("invert", "and_", "or_")
    if name in named("truths") and (not of_bits or all(each is torch.bool for each in operands)):
        return torch.bool
    if name == "arange":
        return torch.int64 if all(isinstance(each, int) for each in node.args) else None
    if name in ("getitem", "masked_fill", "gather", "index_select") and operands:
        return operands[0]
    if name in ("embedding", "where") and len(operands) > 1:
        operands = operands[1:]
    of_known = [each for each in operands if each is not None]
    if not operands or len(of_known) < len(operands):
        return None
    joined = reduce(torch.promote_types, of_known)
    whole = not joined.is_floating_point and not joined.is_complex
    divides = name == "div" and "rounding_mode" not in dict(node.kwargs)
    if whole and (name in named("floating") or divides or any(isinstance(each, float) for each in items)):
        return torch.float32
    if joined is torch.bool and (name in ("sum", "cumsum") or any(type(each) is int for each in items)):
        return torch.int64
    return torch.int64 if whole and name in ("sum", "cumsum", "prod", "cumprod") else joined


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
    """Whether something that depends on the input is used as an index, or in another way that may fail."""
    known = sources(graph)
    for node in graph.operations:
        used = [index for index, _, _ in indexings(node)]
        if is_one_of(node, "other_uses"):
            used += node.inputs
        if any(name in known[each] for each in used):
            return True
    return False


def sources(graph: Graph) -> dict[str, frozenset[str]]:
    """Of each value the inputs on which it depends."""
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
        if is_one_of(node, "other_uses") and any(_depends(values[each], only) for each in node.inputs):
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
    sizes = {spec.name: spec.shape for spec in specs}
    ranges = whole_ranges(graph, specs)
    for name, whole in ranges.items():
        given[name] = replace(given[name], low=whole.low, high=whole.high)
    apart = [(name, each) for name, whole in ranges.items() for each in whole.apart]
    return holds(mutant, given, sizes) and all(safe_alone(mutant, given, sizes, *each) for each in apart)


def _indexes_alike(mutant: Graph, graph: Graph) -> bool:
    """Whether nothing in which the two graphs differ comes before an operation that indexes, draws random numbers or
    asserts, so that the one does not fail where the other does not."""
    before = {node.name: node for node in graph.nodes}
    touched: set[str] = set()
    for node in mutant.nodes:
        if before.get(node.name) != node or touched.intersection(node.inputs):
            touched.add(node.name)
            if indexings(node) or is_one_of(node, "other_uses") or is_random(node) or is_switch(node):
                return False
    return True


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
    # what the second operand is, if it is a number that is not negative
    by = second.low if second is not None and second.low == second.high else -1
    if name in named("truths"):
        if name in named("comparisons") and first is not None and second is not None:
            return common.over(*_compared(name, first, second))
        if name == "logical_not" and first is not None and first.is_truth:
            return common.over(1 - first.high, 1 - first.low)
        if name == "and_" and by >= 0:
            return common.over(0, by)
        bits = name in ("invert", "and_", "or_")
        return common if bits and not all(each.is_truth for each in operands) else common.over(0, 1)
    if name in ("sin", "cos", "tanh", "sigmoid"):
        return common.over(-1, 1)
    if name in ("zeros", "zeros_like", "ones", "ones_like"):
        return common.over(*(float(name.startswith("ones")),) * 2)
    if name == "arange" and len(args) == 1 and isinstance(node.args[0], int):
        return ValueRange(0, max(node.args[0] - 1, 0), max(node.args[0], 1))
    if name in ("cat", "stack") and node.args and isinstance(node.args[0], Listed | tuple) and operands:
        return common.around(*operands)
    if first is None:
        return common
    if name in named("keeping_values") or name in ("amax", "amin"):
        # what an index picks are values of the table
        return common.around(first)
    dims = dict(bind(node).arguments).get("dim") if name in ("cumsum", "sum") else None
    if name == "cumsum" or dims is not None:
        axes = len(items_of(dims)) if isinstance(dims, Listed | tuple) else 1
        size = common.longest if name == "cumsum" else first.longest**axes
        return common.over(min(first.low, first.low * size), max(first.high, first.high * size))
    if name == "diff":
        every = common.around(*operands)
        return common.over(every.low - every.high, every.high - every.low)
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
        case "pow" if isinstance(node.args[1], int) and 0 < node.args[1] <= 4:
            powers = [math.prod([end] * node.args[1]) for end in (first.low, first.high)]
            even = node.args[1] % 2 == 0
            return common.over(0 if even and first.low <= 0 <= first.high else min(powers), max(powers))
        case "lshift" | "bitwise_left_shift" if 0 <= second.low <= second.high < 64:
            ends = [end * 2**by for end in (first.low, first.high) for by in (second.low, second.high)]
            return common.over(min(ends), max(ends))
        case "rshift" | "bitwise_right_shift" if 0 <= by < 64:
            return common.over(_floor(first.low / 2**by), _floor(first.high / 2**by))
        case "bitwise_and" if by >= 0:
            return common.over(0, by)
        case "mod" | "remainder" if second.low > 0:
            return common.over(0, second.high)
        case "floordiv" | "truediv" if by > 0:
            # rounding down moves the lower end only
            low = first.low / by
            return common.over(_floor(low) if name == "floordiv" else low, first.high / by)
        case "minimum" | "min" if node.kind is NodeKind.CALL and isinstance(node.args[1], Ref):
            return common.over(min(first.low, second.low), min(first.high, second.high))
        case "maximum" | "max" if node.kind is NodeKind.CALL and isinstance(node.args[1], Ref):
            return common.over(max(first.low, second.low), max(first.high, second.high))
        case "where" | "masked_fill" if len(args) == 3:
            mask, chosen, other = args
            if name == "masked_fill":
                mask, chosen, other = second, args[2], first
            elif node.kind is NodeKind.METHOD:
                mask, chosen, other = second, first, args[2]
            if mask is not None and chosen is not None and other is not None:
                if mask.low == mask.high:
                    return common.around(chosen if mask.low else other)
                return common.around(chosen, other)
    return common


def _floor(value: float) -> float:
    return math.floor(value) if math.isfinite(value) else value


def _compared(name: str, first: ValueRange, second: ValueRange) -> tuple[int, int]:
    """What a comparison gives: 1 or 0 where the intervals decide it."""
    below, above = first.high < second.low, first.low > second.high
    not_above, not_below = first.high <= second.low, first.low >= second.high
    always, never = {
        "eq": (not_above and not_below, below or above),
        "ne": (below or above, not_above and not_below),
        "lt": (below, not_below),
        "le": (not_above, above),
        "gt": (above, not_above),
        "ge": (not_below, below),
    }[name]
    return (1, 1) if always else (0, 0) if never else (0, 1)


def _product(one: float, other: float) -> float:
    return 0.0 if one == 0 or other == 0 else one * other


def _clamped(node: Node, value: ValueRange, name: str) -> tuple[float, float]:
    arguments = dict(bind(node).arguments)
    low, high = arguments.get("min"), arguments.get("max")
    if isinstance(low, int | float):
        value = replace(value, low=max(value.low, low), high=max(value.high, low))
    if isinstance(high, int | float):
        value = replace(value, low=min(value.low, high), high=min(value.high, high))
    return value.low, value.high


def _constant(value: Value) -> ValueRange | None:
    return ValueRange(value, value) if isinstance(value, int | float) else None
