"""Inputs for one comparison: as recorded, or one of five drawings that are harder to be right on by accident."""

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

DRAWINGS = ("recorded", "typical", "wide", "signed", "sparse", "edges")
PROFILES: Mapping[Profile, tuple[str, ...]] = {Profile.PASSNET: ("recorded",), Profile.STRICT: DRAWINGS}

RECORDED_SPREAD = 0.2
RECORDED_LIMIT = 100.0
"""PassNet replays a float as randn * std * 0.2 + mean, clamped to these limits."""

WIDE = 8.0
LARGE = ("wide", "edges")
"""Drawings of values so large that a computation may overflow."""

LEAST_SCALE = 1 / WIDE
"""Of wide inputs: no wider than typical ones."""

PARAMETER_SPREAD = 0.1
LEAST_VARIANCE = 1e-3
EDGE_VALUES = (0.0, -0.0, 1.0, -1.0, 1e-4, -1e-4, 10.0, -10.0, 60.0, -60.0, 100.0, -100.0)
"""What a stable softmax survives and a naive one does not, in every dtype."""

FAINT = 1e-3
"""About what eps in a normalisation is seen by: as large as the root of a usual one."""

PARAMETER_WORDS = ("parameter", "weight", "bias", "running_", "buffer", "gamma", "beta")


def roles(graph: Graph, specs: Sequence[TensorSpec]) -> dict[str, InputRole]:
    """The role of each input, from the calls it reaches, by way of views and conversions."""
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
    """(index, table, axis) of every value that this call uses as an index."""
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
    drawing: str,
    seed: int,
    *,
    roles: Mapping[str, InputRole] | None = None,
    shapes: Sequence[tuple[int, ...]] | None = None,
    scale: float = 1.0,
    device: str = "cpu",
) -> list[Drawn]:
    """One tensor per spec (a plain int where the computation takes one), the same for the same seed and kind of device.

    drawing: one of DRAWINGS. shapes: in place of the recorded ones. scale: what makes inputs LARGE is multiplied
    by this. Raises BadInput for a dtype that cannot be drawn.
    """
    if drawing not in DRAWINGS:
        raise BadInput(f"There is no drawing {drawing!r}. There are {', '.join(DRAWINGS)}.")
    sizes = {spec.name: tuple(shape) for spec, shape in zip(specs, shapes or [spec.shape for spec in specs])}
    drawn: list[Drawn] = []
    for index, spec in enumerate(specs):
        role = (roles or {}).get(spec.name, PLAIN_ROLE)
        generator = torch.Generator(device=device).manual_seed(_seed_of(seed, drawing, index))
        drawn.append(_one(spec, sizes[spec.name], drawing, scale, role, index_limit(role, sizes), generator))
    return drawn


def without_content(specs: Sequence[TensorSpec], roles: Mapping[str, InputRole]) -> list[Given]:
    """Inputs of the recorded shapes, of which nothing is drawn but plain numbers. Raises BadInput for a dtype that
    torch does not know."""
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
        raise BadInput(f"Input {spec.name!r} has the dtype {spec.dtype!r}, which torch does not know.")
    return dtype


def _seed_of(seed: int, drawing: str, index: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {drawing} {index}".encode()).digest()[:7], "big")


def index_limit(role: InputRole, sizes: Mapping[str, tuple[int, ...]]) -> int | None:
    """The smallest size that an index must stay below; None: not known."""
    known = [
        sizes[table][axis]
        for table, axis in role.tables
        if table in sizes and -len(sizes[table]) <= axis < len(sizes[table])
    ]
    return min(known) if known else None


def _one(
    spec: TensorSpec,
    shape: tuple[int, ...],
    drawing: str,
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
        return _booleans(shape, drawing, generator)
    if dtype.is_complex:
        parts = [_floats(spec, shape, drawing, scale, role, generator) for _ in range(2)]
        return torch.complex(*parts).to(dtype)
    if dtype.is_floating_point:
        return _floats(spec, shape, drawing, scale, role, generator).to(dtype)
    if spec.dtype.startswith("q"):
        raise BadInput(f"Input {spec.name!r} is quantised, {spec.dtype}: such inputs cannot be drawn.")
    whole = _integers(spec, shape, drawing, role, limit, dtype, generator)
    return int(whole.reshape(-1)[0].item()) if role.number else whole


def _booleans(shape: tuple[int, ...], drawing: str, generator: torch.Generator) -> torch.Tensor:
    if drawing == "sparse":
        return _impulses(shape, generator) != 0
    return torch.rand(shape, generator=generator, device=generator.device) < 0.5


def _integers(
    spec: TensorSpec,
    shape: tuple[int, ...],
    drawing: str,
    role: InputRole,
    limit: int | None,
    dtype: torch.dtype,
    generator: torch.Generator,
) -> torch.Tensor:
    """Uniform in the recorded range and below the size of what they index; without either, 0 or 1."""
    info = torch.iinfo(dtype)
    known = spec.low is not None and spec.high is not None
    low = max(int(spec.low), info.min) if known and spec.low is not None else 0
    high = min(int(spec.high), info.max) if known and spec.high is not None else 1
    if limit is not None:
        low = max(low, 0) if not known else low
        high = max(min(high if known else limit - 1, limit - 1), 0)
    low = min(low, high)
    if drawing == "edges":
        ends = torch.rand(shape, generator=generator, device=generator.device) < 0.5
        return torch.where(ends, low, high).to(dtype)
    return torch.randint(low, high + 1, shape, generator=generator, device=generator.device).to(dtype)


def _floats(
    spec: TensorSpec,
    shape: tuple[int, ...],
    drawing: str,
    scale: float,
    role: InputRole,
    generator: torch.Generator,
) -> torch.Tensor:
    """float32, or float64 for float64 inputs."""
    kind = torch.float64 if spec.dtype in ("float64", "complex128") else torch.float32
    there = generator.device
    noise = torch.randn(shape, generator=generator, dtype=kind, device=there)
    mean, std = spec.mean or 0.0, 1.0 if spec.std is None else spec.std
    if drawing == "recorded":
        values = noise * std * RECORDED_SPREAD + mean
        return _within(values, spec, RECORDED_LIMIT)
    spread = std if std > 0 else _spread(spec, mean)
    if role.variance:
        # a variance has no sign and no impulse: only its size varies
        centre = mean if mean > 0 else 1.0
        widened = WIDE * scale if drawing == "wide" else 1.0
        return _within(centre * torch.exp(noise * 0.5) * widened, spec, math.inf).clamp(min=LEAST_VARIANCE)
    parameter = is_parameter(spec)
    match drawing:
        case "wide":
            values = noise * spread * WIDE * scale + mean
        case "signed":
            # a range that is known is mirrored in itself: outside it, all would be one and the same limit
            values = _turning_point(spec) - (noise * spread + mean)
        case "sparse" if not parameter:
            values = _impulses(shape, generator).to(kind) * max(abs(mean), spread, 1.0)
            values = _with_faint_rows(values, generator)
        case "edges" if not parameter:
            chosen = torch.randint(0, len(EDGE_VALUES), shape, generator=generator, device=there)
            edge = torch.tensor(EDGE_VALUES, dtype=kind, device=there)[chosen] * scale
            kept = torch.rand(shape, generator=generator, device=there) < 0.5
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
    """What a recorded spread of 0 stands for: 1 for activations, a tenth around the mean for parameters."""
    return PARAMETER_SPREAD * max(abs(mean), 1.0) if is_parameter(spec) else 1.0


def is_parameter(spec: TensorSpec) -> bool:
    words = spec.original_name.lower()
    if words:
        return any(word in words for word in PARAMETER_WORDS)
    return len(spec.shape) <= 1


def _impulses(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Zeros with one impulse, and one more moved away from it along each axis."""
    there = generator.device
    values = torch.zeros(shape, device=there)
    if not values.numel():
        return values
    place = [int(torch.randint(0, size, (), generator=generator, device=there)) for size in shape]
    values[tuple(place)] = 1.0
    for axis, size in enumerate(shape):
        moved = list(place)
        step = 1 + int(torch.randint(0, max(size - 1, 1), (), generator=generator, device=there))
        moved[axis] = (place[axis] + step) % size
        values[tuple(moved)] = -2.0 if moved != place else 1.0
    return values


def _with_faint_rows(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Every second of the rows that are zero, the first one too, becomes half to one and a half of FAINT, of either
    sign."""
    if values.dim() < 2 or not values.numel():
        return values
    empty = (values == 0).all(-1, keepdim=True)
    chosen = empty & (empty.flatten().cumsum(0).reshape(empty.shape) % 2 == 1)
    there = generator.device
    size = (torch.rand(values.shape, generator=generator, dtype=values.dtype, device=there) + 0.5) * FAINT
    negative = torch.rand(values.shape, generator=generator, device=there) < 0.5
    return torch.where(chosen, torch.where(negative, -size, size), values)
