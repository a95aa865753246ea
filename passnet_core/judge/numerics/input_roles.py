"""What a graph does with its inputs, as far as it matters to how they are drawn."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

import torch

from passnet_core.graphs.effects import is_one_of, last_part
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, items_of
from passnet_core.judge.numerics.constants import exact_constants
from passnet_core.judge.numerics.draws.drawing import RECORDED_LIMIT
from passnet_core.judge.numerics.integer_ranges import WholeRange, dtypes, indexings, sources, whole_ranges
from passnet_core.judge.numerics.parameters import parameters
from passnet_core.judge.protocol.reference_bench import InputRole
from passnet_core.operations.binding import bind, regular
from passnet_core.operations.kinds import mapping, named, several
from passnet_core.records import TensorSpec

MOST_EPSILON = 1e-2
"""A number that is added counts as an eps if it is no larger than this."""

HUGE = 60_000.0
"""A literal of at least this size guards against what float16 cannot hold, or stands for infinity."""

LOST = several("tested_for")


def roles(graph: Graph, specs: Sequence[TensorSpec]) -> dict[str, InputRole]:
    """The role of each input, derived from the calls that it reaches directly or through views and conversions."""
    graph = regular(graph)
    origin = {node.name: node.name for node in graph.inputs}
    found: dict[str, InputRole] = {
        node.name: InputRole(number=node.target.startswith("torch.Sym")) for node in graph.inputs
    }
    inputs_of = sources(graph)
    for node in graph.operations:
        first = node.operand
        passes_through = node.kind is NodeKind.METHOD and node.target in named("passed_through")
        if first is not None and first.name in origin and passes_through:
            origin[node.name] = origin[first.name]
        for index, table, axis in indexings(node):
            name, looked_up = origin.get(index), origin.get(table)
            if name is not None:
                tables = found[name].tables + (((looked_up, axis),) if looked_up is not None else ())
                found[name] = replace(found[name], index=True, tables=tables)
            # what a table is computed of is taken to be as long
            for each in (looked_up,) if looked_up is not None else sorted(inputs_of.get(table, ())):
                found[each] = replace(found[each], looked_up=(*found[each].looked_up, axis))
        variance = dict(bind(node).arguments).get("running_var")
        if isinstance(variance, Ref) and variance.name in origin:
            found[origin[variance.name]] = InputRole(variance=True)
    for spec in specs:
        words = f"{spec.name} {spec.original_name}".lower()
        if ("running_var" in words or "variance" in words) and spec.name in found:
            found[spec.name] = InputRole(variance=True)
    known_specs = [spec for spec in specs if spec.name in found and not found[spec.name].number]
    ranges = whole_ranges(graph, known_specs)
    marks, epsilons, guarded = _marks(graph), _epsilons(graph), _guarded(graph)
    types = dtypes(graph, specs)
    lost, halves, grows = _lost(graph), _halves(graph, types), _grows(graph, types, marks)
    ties, deep, sloping = _ties(graph, types), _deep(graph, types), _slopes(graph)
    powers, along, removed, close = _powers(graph), _axis(graph, specs), _removed(graph), _close(graph)
    masked = _masked(graph, deep) if along is not None else {}
    near, divisors, labels = _near(graph, types), _divisors(graph), _labels(graph)
    # nobody reads the shares of a row of which nothing is left, and a pass may divide by its sum another way
    shares = any(last_part(node) in ("softmax", "log_softmax") for node in graph.operations)
    makes_integers = any(
        converts(node, types.get(node.name)) and any(_is_float(types.get(each)) for each in node.inputs)
        for node in graph.operations
    )
    small = any(is_one_of(node, "linear_at_zero") for node in graph.operations)
    windows = any(is_one_of(node, "windows") for node in graph.operations)
    spans = any(last_part(node) == "hypot" or _tests_for_zero(node, types) for node in graph.operations)
    weights, reduces = parameters(graph, specs), any(_reduces(node, graph) for node in graph.operations)
    return {
        name: replace(
            role,
            parameter=name in weights,
            whole=(ranges[name].low, ranges[name].high) if name in ranges else None,
            free=name in ranges and ranges[name].free,
            apart=ranges[name].apart if name in ranges else (),
            far=ranges[name].far if name in ranges else None,
            marks=marks,
            epsilons=epsilons,
            guarded=guarded,
            lost=lost.get(name, ()),
            halves=halves.get(name, ""),
            grows=grows,
            reduces=reduces,
            ties=ties.get(name, ""),
            deep=deep.get(name, 0),
            extreme=0 if shares else deep.get(name, 0),
            slope=name in sloping,
            spans=spans,
            windows=windows,
            power=name in powers,
            masked="" if makes_integers else masked.get(name, ""),
            masked_axis=along or -1,
            removed=name in removed,
            small=small,
            near=name in near,
            divides=name in divisors,
            ignored=labels.get(name),
            converts=makes_integers,
            close=_reach(ranges[name]) if name in close and name in ranges else 0,
        )
        for name, role in found.items()
    }


def _marks(graph: Graph) -> tuple[float, ...]:
    """The numbers at which a result may change: limits, compared numbers, padding ids."""
    found: set[float] = set()
    constants = exact_constants(graph)
    for node in graph.operations:
        name = last_part(node)
        if name in named("marked"):
            arguments = dict(bind(node).arguments)
            values = [arguments.get("padding_idx")] if name == "embedding" else list(arguments.values())
            found.update(float(value) for value in values if _is_number(value) and abs(value) < HUGE)
            found.update(mapping("own_marks").get(name, ()))
        if name in named("comparisons") or name in named("searching"):
            found.update(each for value in node.inputs for each in constants.get(value, ()) if abs(each) < HUGE)
    return tuple(sorted(found))


def _epsilons(graph: Graph) -> tuple[float, ...]:
    found: set[float] = set()
    for node in graph.operations:
        arguments = dict(bind(node).arguments)
        values = [*arguments.values()] if is_one_of(node, "adding_eps") else [arguments.get("eps")]
        found.update(float(value) for value in values if _is_number(value) and 0 < value <= MOST_EPSILON)
    return tuple(sorted(found))


def _guarded(graph: Graph) -> bool:
    names = {last_part(node) for node in graph.operations}
    has_guards = not names.isdisjoint(named("guards")) and any(map(_has_huge, graph.operations))
    return has_guards or not names.isdisjoint(named("finite_tests"))


def _lost(graph: Graph) -> dict[str, tuple[str, ...]]:
    """What inputs are tested for, directly or in a sum or product: the first operand's, other operands stay finite.
    NaN only where the input itself is tested: a pass may know where a quotient or a softmax has none."""
    found: dict[str, set[str]] = {}
    for node in graph.operations:
        tests = LOST.get(last_part(node), ())
        if last_part(node) in ("ne", "eq") and all(isinstance(each, Ref) for each in node.args):
            tests = ("nan",)
        for operand in [each for each in node.args if isinstance(each, Ref)] if tests else ():
            for name, way in [each for each in _origins(graph, operand) if each[1]][:1]:
                found.setdefault(name, set()).update(each for each in tests if each != "nan" or way == "itself")
    return {name: tuple(sorted(tests)) for name, tests in found.items()}


def _origins(graph: Graph, value: Ref) -> Iterator[tuple[str, str]]:
    """The inputs that a value is made of by moving, converting, adding and scaling, and how: "itself", "value" if other
    operands take part as well, "unit" if it scales, "" if something else is done or its rounding matters."""
    pending: list[tuple[str, str]] = [(value.name, "itself")]
    seen: set[tuple[str, str]] = set()
    while pending:
        name, way = pending.pop(0)
        node = graph.by_name[name]
        if (name, way) in seen:
            continue
        seen.add((name, way))
        if node.kind is NodeKind.INPUT:
            yield name, way
            continue
        part, (first, *others) = last_part(node), (*node.args[:2], None, None)[:2]
        scales = part in ("mul", "imul", "truediv", "div")
        if part in named("keeping_values") and isinstance(first, Ref):
            pending.append((first.name, way))
        elif part in named("linear") and isinstance(first, Ref) and others and not node.kwargs and way != "unit":
            exact = isinstance(others[0], Ref) or _is_exact(others[0], scales)
            kept = ("value" if way == "itself" else way) if exact else ""
            pending.append((first.name, kept))
            if isinstance(others[0], Ref):
                pending.append((others[0].name, "unit" if scales and kept else kept))
        else:
            pending += [(each, "") for each in node.inputs]


def _is_exact(value: object, scales: bool) -> bool:
    """Whether scaling by the number, or adding it, rounds no halves: a power of two, or a half itself."""
    if not _is_number(value):
        return value is None
    return abs(math.frexp(value)[0]) == 0.5 if scales else value * 2 == int(value * 2)


def _halves(graph: Graph, types: Mapping[str, torch.dtype | None]) -> dict[str, str]:
    """The inputs that whole numbers are made of: "value", or "unit" for those that scale such a value. None if rounding
    decides some of these numbers: a pass may divide by 3, and another multiply by a third."""
    rounded = (rounds(node, types) for node in graph.operations)
    return _made_exactly(graph, (each for each in rounded if each is not None))


def _ties(graph: Graph, types: Mapping[str, torch.dtype | None]) -> dict[str, str]:
    """The same for the inputs of which the graph compares sums or products."""
    pairs = [
        [each for each in node.args if isinstance(each, Ref) and _is_float(types.get(each.name))]
        for node in graph.operations
        if is_one_of(node, "comparisons")
    ]
    return _made_exactly(graph, (each for pair in pairs for each in pair))


def _made_exactly(graph: Graph, values: Iterable[Ref]) -> dict[str, str]:
    """The inputs of which these values are made, and how; none if rounding decides some of them."""
    found: dict[str, str] = {}
    for value in values:
        for name, way in _origins(graph, value):
            kind = "value" if way == "itself" else way
            if not kind or found.setdefault(name, kind) != kind:
                return {}
    return found


def _deep(graph: Graph, types: Mapping[str, torch.dtype | None]) -> dict[str, int]:
    """The inputs that reach the maximum of something, or the minimum, as far from zero as they are, and no operation
    that is hard there."""
    reach: dict[str, frozenset[str]] = {node.name: frozenset({node.name}) for node in graph.inputs}
    found: dict[str, int] = {}
    hard: set[str] = set()
    for node in graph.operations:
        reaching = frozenset[str]().union(*(reach[each] for each in node.inputs))
        name = last_part(node)
        reduces, ends = _reduces(node, graph), name in named("contracting")
        operands = [each for each in node.args if isinstance(each, Ref)]
        if name in named("choosing") and len(operands) == 1:
            # what is added to numbers far from zero is rounded, and that decides which one is chosen
            hard.update(each for each, way in _origins(graph, operands[0]) if way != "itself")
        value = extreme(node, types)
        among = operands if name in named("log_sums") else [value] if value is not None else []
        for each in among:
            for source in reach[each.name]:
                found.setdefault(source, 1 if name in named("minima") else -1)
        if not among and reduces:
            hard |= reaching
        reach[node.name] = frozenset() if reduces or ends else reaching
    return {name: sign for name, sign in found.items() if name not in hard}


def extreme(node: Node, types: Mapping[str, torch.dtype | None]) -> Ref | None:
    """The floats of which the node takes the maximum or the minimum along axes, perhaps on its way; None if it does
    not."""
    first, second = (*node.args[:2], None, None)[:2]
    among = (is_one_of(node, "maxima") or is_one_of(node, "minima")) and not isinstance(second, Ref)
    return first if among and isinstance(first, Ref) and _is_float(types.get(first.name)) else None


def _slopes(graph: Graph) -> frozenset[str]:
    """The inputs that scale the negative part of a value."""
    found = [slope for node in graph.operations if (slope := slope_of(node, graph)) is not None]
    return frozenset(name for slope in found for name, way in _origins(graph, slope) if way == "itself")


def _powers(graph: Graph) -> frozenset[str]:
    """The inputs of which nothing but exponentials are taken, perhaps after moves and conversions."""
    found: set[str] = set()
    for node in reversed(graph.nodes):
        readers = [graph.by_name[each] for each in graph.users[node.name]]
        if readers and all(
            is_one_of(each, "exponentials") or (is_one_of(each, "keeping_values") and each.name in found)
            for each in readers
        ):
            found.add(node.name)
    return frozenset(found)


def _masked(graph: Graph, deep: Mapping[str, int]) -> dict[str, str]:
    """The inputs that may be minus infinity where a mask removes elements: those that reach a softmax or a maximum
    along one axis as far below zero as they are."""
    before: set[str] = set()
    for node in reversed(graph.operations):
        if _masks_along(node) is not None or node.name in before:
            before.update(node.inputs)
    masks = (is_one_of(node, "selecting") or is_one_of(node, "adding_masks") for node in graph.operations)
    masking = any(of and node.name in before and len(node.inputs) > 1 for of, node in zip(masks, graph.operations))
    return {name: "added" if masking else "alone" for name, sign in deep.items() if sign < 0}


def _axis(graph: Graph, specs: Sequence[TensorSpec]) -> int | None:
    """The axis of all softmaxes and maxima, counted from the last, -1; None if there are several, or none."""
    most = max((len(spec.shape) for spec in specs), default=0)
    axes = {axis for node in graph.operations if (axis := _masks_along(node)) is not None}
    counted = {axis if axis < 0 else axis - most for axis in axes}
    return counted.pop() if len(counted) == 1 and min(counted) >= -most else None


def _masks_along(node: Node) -> int | None:
    """The axis along which the node takes a softmax or a maximum; None if it does neither, or along several."""
    axis = dict(bind(node).arguments).get("dim")
    if isinstance(axis, Listed | tuple) and len(items_of(axis)) == 1:
        (axis,) = items_of(axis)
    among = is_one_of(node, "softmaxes") or last_part(node) in ("amax", "cummax", "logcumsumexp")
    return axis if among and isinstance(axis, int) else None


def _near(graph: Graph, types: Mapping[str, torch.dtype | None]) -> frozenset[str]:
    """The inputs of which the graph says where the largest or smallest elements stand, perhaps scaled exactly."""
    found: set[str] = set()
    for node in graph.operations:
        if is_one_of(node, "choosing") and (first := node.operand) is not None and _is_float(types.get(first.name)):
            ways = list(_origins(graph, first))
            if len(ways) == 1 and ways[0][1] in ("itself", "value"):
                found.add(ways[0][0])
    return frozenset(found)


def _divisors(graph: Graph) -> frozenset[str]:
    """The inputs by which the graph divides, perhaps after moves and conversions."""
    divided = (node.args[1] for node in graph.operations if is_one_of(node, "dividing") and len(node.args) > 1)
    ways = [way for each in divided if isinstance(each, Ref) for way in _origins(graph, each)]
    return frozenset(name for name, way in ways if way == "itself")


def _labels(graph: Graph) -> dict[str, int]:
    """The inputs that are labels of a loss, with the label that it ignores."""
    found: dict[str, int] = {}
    for node in graph.operations:
        arguments = dict(bind(node).arguments)
        labels, ignored = arguments.get("target"), arguments.get("ignore_index", -100)
        if is_one_of(node, "ignoring") and isinstance(labels, Ref) and isinstance(ignored, int):
            found.update({name: ignored for name, way in _origins(graph, labels) if way == "itself"})
    return found


def _tests_for_zero(node: Node, types: Mapping[str, torch.dtype | None]) -> bool:
    """Whether the node tells zero from all other floats."""
    return is_one_of(node, "zero_tests") and any(_is_float(types.get(each)) for each in node.inputs)


def _removed(graph: Graph) -> frozenset[str]:
    """The inputs, or what they are added to, among whose elements the graph chooses."""
    found: set[str] = set()
    for node in graph.operations:
        if is_one_of(node, "selecting"):
            chosen = node.args[1:] if last_part(node) == "where" else node.args[:1]
            ways = [way for each in chosen if isinstance(each, Ref) for way in _origins(graph, each)]
            found.update(name for name, way in ways if way in ("itself", "value"))
    return frozenset(found)


def _reach(whole: WholeRange) -> int:
    return whole.far[1] if whole.far is not None else 0


def _close(graph: Graph) -> frozenset[str]:
    """The inputs that the graph compares, or of which it takes differences, perhaps after moves and conversions."""
    found: set[str] = set()
    for node in graph.operations:
        if is_one_of(node, "comparisons") or is_one_of(node, "counting") or last_part(node) == "isin":
            ways = [way for each in node.args if isinstance(each, Ref) for way in _origins(graph, each)]
            found.update(name for name, way in ways if way in ("itself", "value"))
    return frozenset(found)


def slope_of(node: Node, graph: Graph) -> Ref | None:
    """What the node, a prelu or where(x > 0, x, x * slope), scales its negative operands by; None for other nodes."""
    if last_part(node) == "prelu":
        slope = dict(bind(node).arguments).get("weight")
        return slope if isinstance(slope, Ref) else None
    if last_part(node) != "where" or node.kind is not NodeKind.CALL or len(node.args) != 3:
        return None
    mask, value, scaled = (graph.by_name[each.name] if isinstance(each, Ref) else None for each in node.args)
    if mask is None or value is None or scaled is None or last_part(scaled) not in ("mul", "imul"):
        return None
    own = Ref(value.name)
    others = [each for each in scaled.args if each != own]
    positive = last_part(mask) in ("gt", "ge") and mask.args in ((own, 0), (own, 0.0))
    return others[0] if positive and len(others) == 1 and isinstance(others[0], Ref) else None


def rounds(node: Node, types: Mapping[str, torch.dtype | None]) -> Ref | None:
    """The floats that the node makes whole numbers of; None if it does not."""
    first = node.operand
    if first is None or not _is_float(types.get(first.name)):
        return None
    name, made = last_part(node), types.get(node.name)
    divides = name in ("floordiv", "floor_divide", "mod", "remainder", "fmod") or (
        name == "div" and dict(bind(node).arguments).get("rounding_mode") is not None
    )
    return first if name in named("rounding") or divides or converts(node, made) else None


def converts(node: Node, made: torch.dtype | None) -> bool:
    """Whether the node converts to integers, if its operand holds floats."""
    return is_one_of(node, "converting") and made is not None and made is not torch.bool and not _is_float(made)


def _grows(graph: Graph, types: Mapping[str, torch.dtype | None], marks: Sequence[float]) -> bool:
    """Whether ordinary sizes hide slips: the graph turns by angles, widens what half precision would not hold, or has
    limits beyond them."""
    return any(abs(mark) > RECORDED_LIMIT for mark in marks) or any(
        is_one_of(node, "turning") or bool(widened(node, graph, types)) for node in graph.operations
    )


def widened(node: Node, graph: Graph, types: Mapping[str, torch.dtype | None]) -> tuple[Node, ...]:
    """The conversions from half to single precision that all tensors come from which the node computes with, if it
    could leave the range of half precision; none otherwise."""
    sources = [graph.by_name[name] for name in dict.fromkeys(node.inputs)]
    sums = last_part(node) in ("add", "sub")
    if not is_one_of(node, "widened") or len(sources) != (2 if sums else 1):
        return ()
    for source in sources:
        before = source.args[0] if source.kind is not NodeKind.INPUT and source.args else None
        if last_part(source) not in ("to", "float", "type", "type_as") or not isinstance(before, Ref):
            return ()
        if types.get(before.name) not in (torch.float16, torch.bfloat16) or types.get(source.name) is not torch.float32:
            return ()
    return () if last_part(node) == "mul" and node.args != node.args[:1] * 2 else tuple(sources)


def _reduces(node: Node, graph: Graph) -> bool:
    if last_part(node) == "batch_norm":
        return dict(bind(node).arguments).get("training") is True
    return is_one_of(node, "reducing") or _adds_squared_differences(node, graph)


def _adds_squared_differences(node: Node, graph: Graph) -> bool:
    """Whether the node adds up or averages squares of a difference of tensors, perhaps multiplied with weights."""
    pending = [node.operand] if last_part(node) in ("sum", "mean") else []
    while pending:
        value = pending.pop()
        factor = graph.by_name[value.name] if value is not None else None
        if factor is None or factor.kind is NodeKind.INPUT:
            continue
        if (squared := _squared(factor)) is not None:
            if last_part(difference := graph.by_name[squared.name]) == "sub" and len(difference.inputs) == 2:
                return True
        elif last_part(factor) == "mul":
            pending += [each for each in factor.args if isinstance(each, Ref)]
    return False


def _squared(node: Node) -> Ref | None:
    """What the node squares; None if it does not."""
    name, others = last_part(node), node.args[1:]
    squares = name == "square" or (name == "pow" and others == (2,)) or (name == "mul" and others == node.args[:1])
    return node.operand if squares else None


def squared_difference(node: Node, graph: Graph) -> Node | None:
    """The subtraction of two tensors whose squares the node adds up or averages; None if it does not."""
    square = _operand(node, graph) if last_part(node) in ("sum", "mean") else None
    if square is None:
        return None
    difference = _operand(square, graph) if _squared(square) is not None else None
    if difference is None or last_part(difference) != "sub" or difference.kwargs:
        return None
    return difference if len(difference.args) == 2 and all(isinstance(each, Ref) for each in difference.args) else None


def _operand(node: Node, graph: Graph) -> Node | None:
    return None if node.operand is None else graph.by_name[node.operand.name]


def _is_float(dtype: torch.dtype | None) -> bool:
    return dtype is not None and dtype.is_floating_point


def _has_huge(node: Node) -> bool:
    values = [*node.args, *(value for _, value in node.kwargs)]
    return any(_is_number(value) and abs(value) >= HUGE for value in values)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
