"""Draw the inputs of one comparison: as recorded, or in one of five ways that a wrong result is less likely to pass."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value
from passnet_core.judge.protocol import signatures
from passnet_core.judge.protocol.messages import Given
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, Drawn, InputRole
from passnet_core.records import Profile, TensorForm, TensorSpec

INPUT_DRAWS = ("recorded", "typical", "wide", "signed", "sparse", "edges")
PROFILES: Mapping[Profile, tuple[str, ...]] = {Profile.PASSNET: ("recorded",), Profile.STRICT: INPUT_DRAWS}

RECORDED_SPREAD = 0.2
RECORDED_LIMIT = 100.0
"""PassNet replays a float input as randn * std * 0.2 + mean, clamped to the recorded range and to ±RECORDED_LIMIT."""

WIDE = 8.0
LARGE = ("wide", "edges")
"""Draws with values so large that a computation may overflow."""

LEAST_SCALE = 1 / WIDE
"""The smallest scale: it makes wide inputs no wider than typical ones."""

PARAMETER_SPREAD = 0.1
LEAST_VARIANCE = 1e-3
EDGE_VALUES = (0.0, -0.0, 1.0, -1.0, 1e-4, -1e-4, 10.0, -10.0, 60.0, -60.0, 100.0, -100.0)
"""Values on which a stable softmax is right in every dtype and a naive one is not."""

FAINT = 1e-3
"""The size of values that show the eps of a normalisation: about the square root of a usual eps."""

PARAMETER_WORDS = ("parameter", "weight", "bias", "running_", "buffer", "gamma", "beta")


def roles(graph: Graph, specs: Sequence[TensorSpec]) -> dict[str, InputRole]:
    """The role of each input, derived from the calls that it reaches directly or through views and conversions."""
    origin = {node.name: node.name for node in graph.inputs}
    found: dict[str, InputRole] = {
        node.name: InputRole(number=node.target.startswith("torch.Sym")) for node in graph.inputs
    }
    for node in graph.operations:
        call = signatures.bind(node)
        first = node.args[0] if node.args else None
        if isinstance(first, Ref) and first.name in origin and _passes_through(node):
            origin[node.name] = origin[first.name]
        for index, table, axis in _indexings(call.target, dict(call.arguments)):
            name = origin.get(index)
            if name is not None:
                known = found[name]
                tables = known.tables + (((origin[table], axis),) if table in origin else ())
                found[name] = InputRole(known.number, known.variance, True, tables)
        variance = dict(call.arguments).get("running_var")
        if isinstance(variance, Ref) and variance.name in origin:
            found[origin[variance.name]] = InputRole(variance=True)
    for spec in specs:
        words = f"{spec.name} {spec.original_name}".lower()
        if ("running_var" in words or "variance" in words) and spec.name in found:
            found[spec.name] = InputRole(variance=True)
    return found


PASS_THROUGH = frozenset(
    (
        "to",
        "long",
        "int",
        "float",
        "view",
        "reshape",
        "unsqueeze",
        "squeeze",
        "expand",
        "contiguous",
        "flatten",
        "clone",
    )
)


def _passes_through(node: Node) -> bool:
    return node.kind is NodeKind.METHOD and node.target in PASS_THROUGH


def _indexings(target: str, arguments: Mapping[str, Value]) -> list[tuple[str, str, int]]:
    """(index, table, axis) for every value that the call uses as an index; table is empty if it is not known."""
    table = index = None
    axis: Value = 0
    match target:
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

    input_draw: one of INPUT_DRAWS. shapes: replace the recorded ones. scale: multiplies what makes the inputs of the
    LARGE draws large. Raises BadInput for an unknown draw, or a dtype that cannot be drawn."""
    kind = parsed(input_draw)[0]
    if kind not in INPUT_DRAWS:
        raise BadInput(f"There is no input draw {input_draw!r}. Choose one of: {', '.join(INPUT_DRAWS)}.")
    sizes = {spec.name: tuple(shape) for spec, shape in zip(specs, shapes or [spec.shape for spec in specs])}
    drawn: list[Drawn] = []
    for index, spec in enumerate(specs):
        role = (roles or {}).get(spec.name, PLAIN_ROLE)
        generator = torch.Generator(device=device).manual_seed(_seed_of(seed, input_draw, index))
        drawn.append(_one(spec, sizes[spec.name], kind, scale, role, index_limit(role, sizes), generator))
    return drawn


def parsed(input_draw: str) -> tuple[str, int]:
    """The kind and the turn of an input draw's name: "typical" is turn 1, "typical 2" has another seed."""
    kind, _, turn = input_draw.partition(" ")
    return kind, int(turn or 1)


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


def _one(
    spec: TensorSpec,
    shape: tuple[int, ...],
    input_draw: str,
    scale: float,
    role: InputRole,
    limit: int | None,
    generator: torch.Generator,
) -> Drawn:
    dtype = dtype_of(spec)
    if spec.data is not None and math.prod(spec.shape) == len(spec.data):
        given = torch.tensor(spec.data, dtype=torch.float64).reshape(spec.shape)
        if role.number:
            return int(given.item())
        if shape == spec.shape:
            return given.to(dtype).to(generator.device)
    if dtype is torch.bool:
        return _booleans(shape, input_draw, generator)
    if dtype.is_complex:
        parts = [_floats(spec, shape, input_draw, scale, role, generator) for _ in range(2)]
        return torch.complex(*parts).to(dtype)
    if dtype.is_floating_point:
        return _floats(spec, shape, input_draw, scale, role, generator).to(dtype)
    if spec.dtype.startswith("q"):
        raise BadInput(f"Input {spec.name!r} has the quantised dtype {spec.dtype}, for which no values can be drawn.")
    whole = _integers(spec, shape, input_draw, role, limit, dtype, generator)
    return int(whole.reshape(-1)[0].item()) if role.number else whole


def _booleans(shape: tuple[int, ...], input_draw: str, generator: torch.Generator) -> torch.Tensor:
    if input_draw == "sparse":
        return _impulses(shape, generator) != 0
    return torch.rand(shape, generator=generator, device=generator.device) < 0.5


def _integers(
    spec: TensorSpec,
    shape: tuple[int, ...],
    input_draw: str,
    role: InputRole,
    limit: int | None,
    dtype: torch.dtype,
    generator: torch.Generator,
) -> torch.Tensor:
    """Draw uniformly from the recorded range, below the size of the indexed axis; if neither is known, from 0 and 1."""
    info = torch.iinfo(dtype)
    known = spec.low is not None and spec.high is not None
    low = max(int(spec.low), info.min) if known and spec.low is not None else 0
    high = min(int(spec.high), info.max) if known and spec.high is not None else 1
    if limit is not None:
        low = max(low, 0) if not known else low
        high = max(min(high if known else limit - 1, limit - 1), 0)
    low = min(low, high)
    if input_draw == "edges":
        ends = torch.rand(shape, generator=generator, device=generator.device) < 0.5
        return torch.where(ends, low, high).to(dtype)
    return torch.randint(low, high + 1, shape, generator=generator, device=generator.device).to(dtype)


def _floats(
    spec: TensorSpec,
    shape: tuple[int, ...],
    input_draw: str,
    scale: float,
    role: InputRole,
    generator: torch.Generator,
) -> torch.Tensor:
    """Draw in float64 for float64 and complex128 inputs, otherwise in float32; the caller converts."""
    kind = torch.float64 if spec.dtype in ("float64", "complex128") else torch.float32
    device = generator.device
    noise = torch.randn(shape, generator=generator, dtype=kind, device=device)
    mean, std = spec.mean or 0.0, 1.0 if spec.std is None else spec.std
    if input_draw == "recorded":
        values = noise * std * RECORDED_SPREAD + mean
        return _within(values, spec, RECORDED_LIMIT)
    spread = std if std > 0 else _spread(spec, mean)
    if role.variance:
        # a variance must stay above 0, so no draw flips its sign or sets it to 0: only its size varies
        centre = mean if mean > 0 else 1.0
        widened = WIDE * scale if input_draw == "wide" else 1.0
        return _within(centre * torch.exp(noise * 0.5) * widened, spec, math.inf).clamp(min=LEAST_VARIANCE)
    parameter = is_parameter(spec)
    match input_draw:
        case "wide":
            values = noise * spread * WIDE * scale + mean
        case "signed":
            # mirror a recorded range within itself: outside it, all values would be clamped to one limit
            values = _turning_point(spec) - (noise * spread + mean)
        case "sparse" if not parameter:
            values = _impulses(shape, generator).to(kind) * max(abs(mean), spread, 1.0)
            values = _with_faint_rows(values, generator)
        case "edges" if not parameter:
            chosen = torch.randint(0, len(EDGE_VALUES), shape, generator=generator, device=device)
            edge = torch.tensor(EDGE_VALUES, dtype=kind, device=device)[chosen] * scale
            kept = torch.rand(shape, generator=generator, device=device) < 0.5
            values = torch.where(kept, edge, noise * spread + mean)
        case _:
            values = noise * spread + mean
    return _within(values, spec, RECORDED_LIMIT * WIDE)


def _turning_point(spec: TensorSpec) -> float:
    return spec.low + spec.high if spec.low is not None and spec.high is not None else 0.0


def _within(values: torch.Tensor, spec: TensorSpec, limit: float) -> torch.Tensor:
    low = max(-limit, spec.low if spec.low is not None else -limit)
    high = min(limit, spec.high if spec.high is not None else limit)
    return values.clamp(min=low, max=max(low, high))


def _spread(spec: TensorSpec, mean: float) -> float:
    """The spread that replaces a recorded spread of 0: 1 for activations, a tenth of max(|mean|, 1) for parameters."""
    return PARAMETER_SPREAD * max(abs(mean), 1.0) if is_parameter(spec) else 1.0


def is_parameter(spec: TensorSpec) -> bool:
    words = spec.original_name.lower()
    if words:
        return any(word in words for word in PARAMETER_WORDS)
    return len(spec.shape) <= 1


def _impulses(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Zeros with one impulse of 1, and along each axis a second one of -2 in another position."""
    device = generator.device
    values = torch.zeros(shape, device=device)
    if not values.numel():
        return values
    place = [int(torch.randint(0, size, (), generator=generator, device=device)) for size in shape]
    values[tuple(place)] = 1.0
    for axis, size in enumerate(shape):
        beside = list(place)
        step = 1 + int(torch.randint(0, max(size - 1, 1), (), generator=generator, device=device))
        beside[axis] = (place[axis] + step) % size
        values[tuple(beside)] = -2.0 if beside != place else 1.0
    return values


def _with_faint_rows(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Fill every second row of zeros, from the first one on, with values of 0.5 to 1.5 times FAINT and either sign."""
    if values.dim() < 2 or not values.numel():
        return values
    empty = (values == 0).all(-1, keepdim=True)
    chosen = empty & (empty.flatten().cumsum(0).reshape(empty.shape) % 2 == 1)
    device = generator.device
    size = (torch.rand(values.shape, generator=generator, dtype=values.dtype, device=device) + 0.5) * FAINT
    negative = torch.rand(values.shape, generator=generator, device=device) < 0.5
    return torch.where(chosen, torch.where(negative, -size, size), values)
