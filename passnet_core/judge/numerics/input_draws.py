"""Draw the inputs of one comparison: as recorded, or in another way that a wrong result is less likely to pass."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.effects import is_one_of, last_part
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.judge.numerics.constants import exact_constants
from passnet_core.judge.numerics.integer_ranges import dtypes, indexings, whole_ranges
from passnet_core.judge.numerics.parameters import parameters
from passnet_core.judge.protocol.framing import DTYPES
from passnet_core.judge.protocol.messages import Given
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, Drawn, InputRole
from passnet_core.operations.binding import bind, regular
from passnet_core.operations.kinds import mapping, named, several
from passnet_core.records import Profile, TensorForm, TensorSpec

INPUT_DRAWS = ("recorded", "typical", "wide", "signed", "sparse", "edges")
"""The input draws of every verification under the strict profile."""

FURTHER_DRAWS = (
    "ranges", "masks", "faint", "infinite", "huge", "limits", "tiny", "blank",
    "far", "undefined", "halves", "large", "weights", "offsets", "deep", "ties", "magnitudes",
)  # fmt: skip
"""Input draws for what a graph has and the others may not show. telling_draws chooses among them."""

DEFINED = frozenset({"far", "undefined", "halves", "large", "weights", "offsets", "deep", "ties", "magnitudes"})
"""Draws that say something only if eager returns no NaN for them."""

PROFILES: Mapping[Profile, tuple[str, ...]] = {Profile.PASSNET: ("recorded",), Profile.STRICT: INPUT_DRAWS}

RECORDED_SPREAD = 0.2
RECORDED_LIMIT = 100.0
"""PassNet replays a float input as randn * std * 0.2 + mean, clamped to the recorded range and to ±RECORDED_LIMIT."""

WIDE = 8.0
LARGE = ("wide", "edges", "limits", "far", "large", "weights", "offsets", "deep", "magnitudes")
"""Draws with values so large that a computation may overflow."""
LARGEST = 30_000.0
"""The draw "large" has floats of all sizes from 1 to about this one."""
HALVES = 0.5
"""The share of elements that the draw "halves" puts on halves and whole numbers."""

OFFSETS = (1_000.0, -150.0, 60.0, 0.0, -60.0, 30.0, -1_000.0)
"""What the draw "offsets" adds to rows of spread 1: a row lies far below others, or far from zero beside its spread."""
RESOLVED = 0.5
"""An ulp at an offset is at most this large, so that the row's spread is still there."""

DEEP, DEEP_IN_FLOAT16 = 200_000.0, 40_000.0
"""How far below zero whole samples of the draw "deep" lie: below what is taken for the least of all numbers, also when
they are scaled like attention scores."""
SPAN = 0.65
"""The draw "magnitudes" has floats from the largest of their dtype to this power, about 1e25, to its inverse."""
MOST_POWER = 0.9
"""Wide exponents in half precision reach this part of the largest one whose exponential is finite."""
SLOPES = 2.0
"""Slopes are drawn up to this one."""

LEAST_SCALE = 1 / WIDE
"""The smallest scale: it makes wide inputs no wider than typical ones."""

PARAMETER_SPREAD = 0.1
LEAST_VARIANCE = 1e-3
EDGE_VALUES = (0.0, -0.0, 1.0, -1.0, 1e-4, -1e-4, 10.0, -10.0, 60.0, -60.0, 100.0, -100.0)
"""Values on which a stable softmax is right in every dtype and a naive one is not."""

FAINT = 1e-3
"""The size of values that show the eps of a normalisation: about the square root of a usual eps."""
FAINT_SPREAD = 10.0
"""Faint rows are up to so much larger or smaller than the square root of an eps."""
FAINT_VARIANCES = (1e-6, 1e-2)
"""The range of variances, evenly on a logarithmic scale, where an eps may matter."""
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
            if looked_up is not None:
                found[looked_up] = replace(found[looked_up], looked_up=(*found[looked_up].looked_up, axis))
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
    powers = _powers(graph)
    spans = any(last_part(node) == "hypot" for node in graph.operations)
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
            slope=name in sloping,
            spans=spans,
            power=name in powers,
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
        if last_part(node) in ("ne", "eq") and len(node.args) == 2 and node.args[0] == node.args[1]:
            tests = ("nan",)
        reached = list(_origins(graph, node.operand)) if node.operand is not None and tests else []
        for name, way in [each for each in reached if each[1]][:1]:
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
        if (value := extreme(node, types)) is not None:
            for each in reach[value.name]:
                found.setdefault(each, 1 if name in named("minima") else -1)
        elif reduces:
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
        is_one_of(node, "turning") or widened(node, graph, types) for node in graph.operations
    )


def widened(node: Node, graph: Graph, types: Mapping[str, torch.dtype | None]) -> Node | None:
    """The conversion from half to single precision that all tensors come from which the node computes with, if it could
    leave the range of half precision; None otherwise."""
    names = set(node.inputs)
    if not is_one_of(node, "widened") or len(names) != 1:
        return None
    source = graph.by_name[names.pop()]
    before = source.args[0] if source.kind is not NodeKind.INPUT and source.args else None
    if last_part(source) not in ("to", "float", "type", "type_as") or not isinstance(before, Ref):
        return None
    half = types.get(before.name) in (torch.float16, torch.bfloat16)
    multiplied = last_part(node) != "mul" or node.args == node.args[:1] * 2
    return source if half and multiplied and types.get(source.name) is torch.float32 else None


def _reduces(node: Node, graph: Graph) -> bool:
    return is_one_of(node, "reducing") or squared_difference(node, graph) is not None


def squared_difference(node: Node, graph: Graph) -> Node | None:
    """The subtraction of two tensors whose squares the node adds up or averages; None if it does not."""
    square = _operand(node, graph) if last_part(node) in ("sum", "mean") else None
    if square is None:
        return None
    name, others = last_part(square), square.args[1:]
    squares = name == "square" or (name == "pow" and others == (2,)) or (name == "mul" and others == square.args[:1])
    difference = _operand(square, graph) if squares else None
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


def parsed(input_draw: str) -> tuple[str, int]:
    """The kind and the turn of an input draw's name: "typical" is turn 1, "typical 2" has another seed. Raises
    BadInput for an unknown kind."""
    kind, _, turn = input_draw.partition(" ")
    if kind not in INPUT_DRAWS + FURTHER_DRAWS or not (turn == "" or (turn.isdecimal() and int(turn) > 1)):
        known = ", ".join(INPUT_DRAWS + FURTHER_DRAWS)
        raise BadInput(f"There is no input set {input_draw!r}. Choose one of: {known}.")
    return kind, int(turn or 1)


def further_draws(specs: Sequence[TensorSpec], roles: Mapping[str, InputRole]) -> tuple[str, ...]:
    """Those of FURTHER_DRAWS that differ from typical inputs for such inputs, in their order."""
    known = [(spec, roles.get(spec.name, PLAIN_ROLE)) for spec in specs if spec.data is None]
    tensors = [(spec, role) for spec, role in known if not role.number]
    floats = [(spec, role) for spec, role in tensors if dtype_of(spec).is_floating_point]
    integers = [(spec, role) for spec, role in tensors if "int" in spec.dtype]
    active = [role for spec, role in floats if not is_parameter(spec, role)]
    fits = {
        **dict.fromkeys(("faint", "tiny", "blank"), bool(active) or any(role.variance for _, role in floats)),
        "masks": any(role.free for _, role in integers) or any(spec.dtype == "bool" for spec, _ in tensors),
        "ranges": bool(integers),
        "limits": any(role.marks for role in active),
        **dict.fromkeys(("huge", "infinite"), any(role.guarded for role in active)),
        "far": any(role.far is not None for _, role in integers),
        "undefined": any(role.lost for role in active),
        "halves": any(role.halves == "value" for role in active),
        "large": any(role.grows for role in active),
        "offsets": any(role.reduces for role in active),
        "deep": any(role.deep for role in active),
        "ties": any(role.ties == "value" for role in active),
        "magnitudes": any(role.spans for role in active),
        "weights": any(role.slope or (is_parameter(spec, role) and len(spec.shape) > 1) for spec, role in floats),
    }
    return tuple(kind for kind in FURTHER_DRAWS if fits[kind])


def draw(
    specs: Sequence[TensorSpec],
    input_draw: str,
    seed: int,
    *,
    roles: Mapping[str, InputRole] | None = None,
    shapes: Sequence[tuple[int, ...]] | None = None,
    scale: float = 1.0,
    device: str = "cpu",
) -> list[Drawn]:
    """Draw one tensor per spec (an int where the graph takes a number), equal for equal seed and type of device.

    input_draw: a name that parsed() accepts. shapes: replace the recorded ones. scale: multiplies what makes the inputs
    of the LARGE draws large. Raises BadInput for an unknown draw, or a dtype that cannot be drawn."""
    kind, turn = parsed(input_draw)
    sizes = {spec.name: tuple(shape) for spec, shape in zip(specs, shapes or [spec.shape for spec in specs])}
    drawn: list[Drawn] = []
    for index, spec in enumerate(specs):
        role = (roles or {}).get(spec.name, PLAIN_ROLE)
        generator = torch.Generator(device=device).manual_seed(_seed_of(seed, input_draw, index))
        if not role.free and any(sizes[each.name] != each.shape for each in specs):
            role = replace(role, whole=None, apart=())
        limit = index_limit(role, sizes)
        drawn.append(_drawn(_Asked(spec, sizes[spec.name], kind, turn, scale, role, limit, generator)))
    return drawn


def without_content(specs: Sequence[TensorSpec], roles: Mapping[str, InputRole]) -> list[Given]:
    """Describe tensors of the recorded shapes without making them; plain numbers are drawn. Raises BadInput for a dtype
    that torch does not know."""
    given: list[Given] = []
    for spec in specs:
        form = TensorForm(spec.shape, str(dtype_of(spec)).removeprefix("torch."))
        if roles.get(spec.name, PLAIN_ROLE).number:
            (number,) = draw([replace(spec, shape=())], "recorded", 0, roles=roles)
            given.append(number if isinstance(number, int) else form)
        else:
            given.append(form)
    return given


def dtype_of(spec: TensorSpec) -> torch.dtype:
    dtype = getattr(torch, spec.dtype, None)
    if not isinstance(dtype, torch.dtype):
        raise BadInput(f"Input {spec.name!r} has the dtype {spec.dtype!r}, which this torch does not know.")
    return dtype


def _seed_of(seed: int, input_draw: str, index: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {input_draw} {index}".encode()).digest()[:7], "big")


def index_limit(role: InputRole, sizes: Mapping[str, tuple[int, ...]]) -> int | None:
    """The size that an index must stay below: the smallest of its tables; None if it is not known."""
    known = [
        sizes[table][axis]
        for table, axis in role.tables
        if table in sizes and -len(sizes[table]) <= axis < len(sizes[table])
    ]
    return min(known) if known else None


@dataclass(frozen=True)
class _Asked:
    """One input of one draw. limit: what it stays below if it is an index."""

    spec: TensorSpec
    shape: tuple[int, ...]
    input_draw: str
    turn: int
    scale: float
    role: InputRole
    limit: int | None
    generator: torch.Generator


def _drawn(asked: _Asked) -> Drawn:
    spec, role, shape, dtype = asked.spec, asked.role, asked.shape, dtype_of(asked.spec)
    if dtype not in DTYPES.values():
        raise BadInput(f"Input {spec.name!r} has the dtype {spec.dtype}, for which no values can be drawn.")
    if spec.data is not None and math.prod(spec.shape) == len(spec.data):
        given = torch.tensor(spec.data, dtype=torch.float64).reshape(spec.shape)
        if role.number:
            return int(given.item())
        if shape == spec.shape:
            return given.to(dtype).to(asked.generator.device)
    if dtype is torch.bool:
        return _booleans(asked)
    if dtype.is_complex:
        return torch.complex(_floats(asked), _floats(asked)).to(dtype)
    if dtype.is_floating_point:
        return _floats(asked).to(dtype)
    whole = _integers(asked)
    return int(whole.reshape(-1)[0].item()) if role.number else whole


def _even(shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Numbers from 0 to 1."""
    return torch.rand(shape, generator=generator, dtype=dtype, device=generator.device)


def _wholes(low: int, high: int, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Whole numbers from low to high, both included."""
    return torch.randint(low, high + 1, shape, generator=generator, device=generator.device)


def _some_of(values: torch.Tensor, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return values[_wholes(0, values.numel() - 1, shape, generator)]


def _shuffled(count: int, generator: torch.Generator) -> torch.Tensor:
    """The numbers below this one in random order."""
    return _even((count,), generator).argsort()


def _booleans(asked: _Asked) -> torch.Tensor:
    if asked.input_draw == "sparse":
        return _impulses(asked.shape, asked.generator) != 0
    values = _even(asked.shape, asked.generator) < 0.5
    return _with_equal_rows(values, False, True, asked.generator) if asked.input_draw == "masks" else values


def _with_equal_rows(values: torch.Tensor, none: float, every: float, generator: torch.Generator) -> torch.Tensor:
    """Set a third of the rows to none throughout, and a third to every; a single row to one of them."""
    if not values.numel():
        return values
    rows = (*values.shape[:-1], 1) if values.dim() else ()
    count = math.prod(rows)
    # in random order, but of each sort as many as possible: there may be few rows
    sorts = torch.arange(count, device=values.device) % 3 if count > 1 else torch.zeros(1, device=values.device)
    order = _shuffled(count, generator)
    chosen = (sorts[order] if count > 1 else sorts).reshape(rows)
    return torch.where(chosen == 0, none, torch.where(chosen == 1, every, values)).to(values.dtype)


def whole_range(spec: TensorSpec, below: int | None) -> tuple[int, int]:
    """The recorded range of integers, cut below the size of the indexed axis; 0 to 1 if neither is known."""
    info = torch.iinfo(dtype_of(spec))
    known = spec.low is not None and spec.high is not None
    low = max(int(spec.low), info.min) if known and spec.low is not None else 0
    high = min(int(spec.high), info.max) if known and spec.high is not None else 1
    if below is not None:
        high = max(min(high if known else below - 1, below - 1), 0)
    return min(low, high), high


def _integers(asked: _Asked) -> torch.Tensor:
    """Draw uniformly from the recorded range.

    The draw "ranges" takes the whole range instead, as far as every value is safe, with the marks among its values. The
    draw "far" has numbers of all sizes and both signs."""
    input_draw, role, shape, generator = asked.input_draw, asked.role, asked.shape, asked.generator
    dtype = dtype_of(asked.spec)
    info = torch.iinfo(dtype)
    low, high = whole_range(asked.spec, asked.limit)
    if input_draw == "edges":
        return torch.where(_even(shape, generator) < 0.5, low, high).to(dtype)
    if input_draw in ("ranges", "masks") and role.whole is not None:
        wide_low, wide_high = max(role.whole[0], info.min), min(role.whole[1], info.max)
        if input_draw == "ranges":
            low, high = wide_low, wide_high
        elif role.free and wide_low <= 0 < 1 <= wide_high and 0 <= low <= high <= 1:
            low, high = 0, 1
    elif input_draw == "ranges" and asked.limit is not None:
        low, high = min(low, 0), max(asked.limit - 1, 0)
    values = _wholes(low, high, shape, generator)
    if input_draw == "masks" and role.free:
        values = _with_equal_rows(values, low, high, generator)
    if input_draw == "far" and role.far is not None:
        low, high = min(low, _rooted(role.far[0], asked.scale)), max(high, _rooted(role.far[1], asked.scale))
        others = _of_all_sizes(low, high, shape, generator)
        values = torch.where(_even(shape, generator) < 0.6, others, values)
    marks = [int(mark) for mark in role.marks if low <= mark <= high and mark == int(mark)]
    marks += role.apart if input_draw == "ranges" else ()
    if input_draw in ("ranges", "far") and marks:
        values = _mixed(values, marks, 0.25, generator)
    return values.to(dtype)


def _rooted(value: int, scale: float) -> int:
    """The number itself at scale 1, its square root at 1/2, and so on."""
    return int(math.copysign(math.floor(abs(value) ** scale), value))


def _of_all_sizes(low: int, high: int, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Integers from low to high, half of them of all sizes and half evenly, on both sides of zero if they lie there."""
    below = _even(shape, generator) * (low < 0) > 0.5
    at = _even(shape, generator, torch.float64)
    ends = torch.where(below, float(max(-low, 0)), float(max(high, 0)))
    evenly = _even(shape, generator) < 0.5
    sizes = torch.where(evenly, at * ends, (ends + 1) ** at - 1).long()
    return torch.where(below, -sizes, sizes).clamp(low, high)


def _mixed(
    values: torch.Tensor, others: torch.Tensor | Sequence[float], share: float, generator: torch.Generator
) -> torch.Tensor:
    """Replace about this share of the values by some of the others."""
    known = torch.as_tensor(others, dtype=values.dtype, device=values.device)
    some = _some_of(known, values.shape, generator)
    return torch.where(_even(values.shape, generator) < share, some, values)


def _floats(asked: _Asked) -> torch.Tensor:
    """Draw in float64 for float64 and complex128 inputs, otherwise in float32; the caller converts."""
    spec, input_draw, role, scale, shape = asked.spec, asked.input_draw, asked.role, asked.scale, asked.shape
    kind = torch.float64 if spec.dtype in ("float64", "complex128") else torch.float32
    generator, device = asked.generator, asked.generator.device
    noise = torch.randn(shape, generator=generator, dtype=kind, device=device)
    mean, std = spec.mean or 0.0, 1.0 if spec.std is None else spec.std
    if input_draw == "recorded":
        values = noise * std * RECORDED_SPREAD + mean
        return _within(values, spec, RECORDED_LIMIT)
    parameter, spread = is_parameter(spec, role), spread_of(spec, role)
    if role.variance:
        if input_draw in ("faint", "tiny"):
            least, most = map(math.log, FAINT_VARIANCES)
            at = _even(shape, generator, kind)
            return _within(torch.exp(least + at * (most - least)), spec, math.inf).clamp(min=FAINT_VARIANCES[0])
        # a variance must stay above 0, so no draw flips its sign or sets it to 0: only its size varies
        centre = mean if mean > 0 else 1.0
        widened = WIDE * scale if input_draw == "wide" else 1.0
        return _within(centre * torch.exp(noise * 0.5) * widened, spec, math.inf).clamp(min=LEAST_VARIANCE)
    typical, most = noise * spread + mean, RECORDED_LIMIT * WIDE
    match input_draw:
        case "wide" | "signed" if role.power and not parameter and spec.dtype in ("float16", "bfloat16"):
            # evenly over the range of exponentials, on two draws: few values tell nothing about many small errors
            largest = MOST_POWER * math.log(torch.finfo(dtype_of(spec)).max) * (scale if input_draw == "wide" else 1.0)
            values = (_even(shape, generator, kind) * 2 - 1) * largest
        case "wide":
            values = noise * spread * WIDE * scale + mean
        case "signed":
            # mirror a recorded range within itself: outside it, all values would be clamped to one limit
            values = (spec.low + spec.high if spec.low is not None and spec.high is not None else 0.0) - typical
        case "sparse" if not parameter:
            values = _impulses(shape, generator).to(kind) * max(abs(mean), spread, 1.0)
            values = _with_faint_rows(values, generator)
        case "edges" if not parameter:
            values = _mixed(typical, torch.tensor(EDGE_VALUES, dtype=kind) * scale, 0.5, generator)
        case "faint" if not parameter:
            sizes = torch.tensor(_faint_sizes(spec, role), dtype=kind, device=device)
            rows = (*shape[:-1], 1) if shape else ()
            factors = FAINT_SPREAD ** (_even(rows, generator, kind) * 2 - 1)
            values = noise * factors * _some_of(sizes, rows, generator)
        case "tiny" if not parameter:
            known = _faint_sizes(spec, role)
            values = noise * known[(asked.turn - 1) % len(known)]
        case "blank" if not parameter:
            values = _with_equal_rows(typical, 0.0, 1.0, generator)
        case "limits" if not parameter and role.marks:
            marks = torch.tensor(role.marks, dtype=kind, device=device)
            above, below = (torch.nextafter(marks, marks * 0 + end) for end in (math.inf, -math.inf))
            beyond = torch.cat([marks, above, below, marks * 1.5 + 0.5, marks * 1.5 - 0.5])
            most = min(torch.finfo(dtype_of(spec)).max, math.inf if scale == 1 else most * scale)
            values = _mixed(typical, beyond, 0.5, generator)
        case "huge" if not parameter and role.guarded:
            most = torch.finfo(dtype_of(spec)).max
            largest = torch.tensor([0.7, 0.9, 1.0, -0.7, -0.9, -1.0], dtype=kind, device=device) * most
            values = _mixed(typical, largest, 0.1, generator)
        case "infinite" if not parameter and role.guarded:
            most = math.inf
            values = _mixed(typical, [-math.inf], 0.3, generator)
            values = _with_equal_rows(values, -math.inf, 0.0, generator)
        case "undefined" if role.lost:
            values = _mixed(typical, [float(each) for each in role.lost], 0.2, generator)
            most = math.inf
        case "halves" | "ties" if (role.halves if input_draw == "halves" else role.ties) == "unit":
            values = 2.0 ** _wholes(-1, 1, shape, generator).to(kind)
        case "halves" if role.halves:
            steps = _wholes(-9, 9, shape, generator).to(kind) / 2
            values = torch.where(_even(shape, generator) < HALVES, steps, typical)
        case "ties" if role.ties:
            values = _wholes(-9, 9, shape, generator).to(kind) / 2
        case "large" if not parameter:
            most = (2 * LARGEST) ** scale
            values = noise * LARGEST ** (_even(shape, generator, kind) * scale)
        case "weights" if role.slope:
            values = (_even(shape, generator, kind) * 2 - 1) * SLOPES
        case "deep" if not parameter and role.deep and spec.low is None and spec.high is None:
            most = math.inf
            values = noise + _depths(dtype_of(spec), shape, asked.turn, role.deep, generator).to(kind) * scale
        case "magnitudes" if not parameter and role.spans:
            most = math.inf
            at = _even(shape, generator, kind) * 2 - 1
            values = torch.sign(noise) * torch.finfo(dtype_of(spec)).max ** (at * SPAN * scale)
        case "weights" if parameter and len(shape) > 1:
            faint = torch.tensor(_faint_sizes(spec, role), dtype=kind, device=device)
            values = _with_rows_of_all_sizes(noise, typical, faint, scale, generator)
        case "offsets" if not parameter and spec.low is None and spec.high is None:
            most = math.inf
            values = noise + _offsets(dtype_of(spec), shape, asked.turn, generator).to(kind) * scale
        case _:
            values = typical
    return _within(values, spec, most)


def _offsets(dtype: torch.dtype, shape: tuple[int, ...], turn: int, generator: torch.Generator) -> torch.Tensor:
    """An offset for each row, and another one for the rest of every second row, from some place on; in the second turn
    one for all, in the third one for each place of the last axis."""
    device = generator.device
    known = torch.tensor([each for each in OFFSETS if abs(each) * torch.finfo(dtype).eps <= RESOLVED], device=device)
    alike = tuple(1 for _ in shape)
    rows = ((*shape[:-1], 1), alike, (*alike[:-1], *shape[-1:]))[(turn - 1) % 3] if shape else ()
    count = math.prod(rows)
    order = _shuffled(count, generator)
    # of each as many as possible, from the first one on
    chosen = torch.arange(count, device=device)[order].reshape(rows)
    offsets = known[chosen % len(known)]
    if turn % 3 != 1 or count < 2:
        return offsets
    rest = _some_of(known, rows, generator)
    start = _even(rows, generator) * shape[-1]
    cut = (chosen // len(known) % 2 == 1) & (torch.arange(shape[-1], device=device) > start)
    return torch.where(cut, rest, offsets)


def _depths(
    dtype: torch.dtype, shape: tuple[int, ...], turn: int, sign: int, generator: torch.Generator
) -> torch.Tensor:
    """An offset for each index of the first axis: a third far from zero on the side of sign, a third on the other side.
    In every second turn all on the side of sign."""
    count = shape[0] if shape and turn % 2 else 1
    order = _shuffled(count, generator)
    depth = sign * (DEEP_IN_FLOAT16 if dtype is torch.float16 else DEEP)
    depths = torch.tensor([depth, -depth, 0.0], device=generator.device)
    return depths[order % 3].reshape(count, *(1 for _ in shape[1:])) if shape else depths[0]


def _with_rows_of_all_sizes(
    noise: torch.Tensor, values: torch.Tensor, faint: torch.Tensor, scale: float, generator: torch.Generator
) -> torch.Tensor:
    """The values with a quarter of the rows zeros, as if pruned, a quarter of faint sizes, and a quarter large."""
    rows = (*values.shape[:-1], 1)
    device = values.device
    order = _shuffled(math.prod(rows), generator)
    sort = (torch.arange(len(order), device=device) % 4)[order].reshape(rows)
    sizes = _some_of(faint, rows, generator)
    large = (noise * RECORDED_LIMIT).clamp(-RECORDED_LIMIT, RECORDED_LIMIT) * scale
    return torch.where(sort == 0, 0.0, torch.where(sort == 1, noise * sizes, torch.where(sort == 2, large, values)))


def _faint_sizes(spec: TensorSpec, role: InputRole) -> tuple[float, ...]:
    """Sizes at which an eps of the graph matters, from small to large: about its square root if it is added to a
    variance, about itself if it bounds a norm; also FAINT. Without those that the dtype cannot hold."""
    info = torch.finfo(dtype_of(spec))
    known = {FAINT, *role.epsilons, *map(math.sqrt, role.epsilons)}
    return tuple(sorted(size for size in known if size >= info.tiny * info.eps * 8))


def _within(values: torch.Tensor, spec: TensorSpec, limit: float) -> torch.Tensor:
    low = max(-limit, spec.low if spec.low is not None else -limit)
    high = min(limit, spec.high if spec.high is not None else limit)
    return values.clamp(min=low, max=max(low, high))


def spread_of(spec: TensorSpec, role: InputRole) -> float:
    """The recorded spread, 1 if there is none. A spread of 0 is replaced: by 1 for activations, by a tenth of
    max(|mean|, 1) for parameters."""
    std = 1.0 if spec.std is None else spec.std
    usual = PARAMETER_SPREAD * max(abs(spec.mean or 0.0), 1.0) if is_parameter(spec, role) else 1.0
    return std if std > 0 else usual


def is_parameter(spec: TensorSpec, role: InputRole) -> bool:
    """Whether the input is drawn like a parameter; where nothing is known about it, a vector is."""
    return role.parameter or spec.is_of_a_module or (not spec.original_name and len(spec.shape) <= 1)


def _impulses(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Zeros with one impulse of 1, and along each axis a second one of -2 in another position."""
    values = torch.zeros(shape, device=generator.device)
    if not values.numel():
        return values
    place = [int(_wholes(0, size - 1, (), generator)) for size in shape]
    values[tuple(place)] = 1.0
    for axis, size in enumerate(shape):
        beside = list(place)
        step = int(_wholes(1, max(size - 1, 1), (), generator))
        beside[axis] = (place[axis] + step) % size
        values[tuple(beside)] = -2.0 if beside != place else 1.0
    return values


def _with_faint_rows(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Fill every second row of zeros, from the first one on, with values of 0.5 to 1.5 times FAINT and either sign."""
    if values.dim() < 2 or not values.numel():
        return values
    empty = (values == 0).all(-1, keepdim=True)
    chosen = empty & (empty.flatten().cumsum(0).reshape(empty.shape) % 2 == 1)
    size = (_even(values.shape, generator, values.dtype) + 0.5) * FAINT
    negative = _even(values.shape, generator) < 0.5
    return torch.where(chosen, torch.where(negative, -size, size), values)
