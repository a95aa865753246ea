"""Draw the inputs of one comparison: as recorded, or in another way that a wrong result is less likely to pass."""

import hashlib
import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from passnet_core.errors import BadInput
from passnet_core.judge.numerics import draws
from passnet_core.judge.numerics.draws.drawing import (
    WIDE,
    AskedFloats,
    AskedInput,
    Drawing,
    InputDraw,
    dtype_of,
    even,
    graph_inputs,
    typical_integers,
    variances,
    within,
)
from passnet_core.judge.protocol.framing import DTYPES
from passnet_core.judge.protocol.messages import Given
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, Drawn, InputRole
from passnet_core.records import Profile, TensorForm, TensorSpec

INPUT_DRAWS = ("recorded", "typical", "wide", "signed", "sparse", "edges")
"""The input draws of every verification under the strict profile."""

FURTHER_DRAWS = (
    "ranges", "masks", "faint", "infinite", "huge", "limits", "tiny", "blank",
    "far", "undefined", "halves", "large", "weights", "offsets", "deep", "ties", "magnitudes",
    "masked", "removed", "close", "small", "extremes", "near", "ignored",
    "spikes",
)  # fmt: skip
"""Input draws for what a graph has and the others may not show. telling_draws chooses among them."""

KNOWN: Mapping[str, InputDraw] = {
    name: importlib.import_module(f"{draws.__name__}.{name}").DRAW for name in (*INPUT_DRAWS, *FURTHER_DRAWS)
}

PROFILES: Mapping[Profile, tuple[str, ...]] = {Profile.PASSNET: ("recorded",), Profile.STRICT: INPUT_DRAWS}

LEAST_SCALE = 1 / WIDE
"""The smallest scale: it makes wide inputs no wider than typical ones."""


def parsed(input_draw: str) -> tuple[InputDraw, int]:
    """The draw that is named, and its turn: "typical" is turn 1, "typical 2" has another seed. Raises BadInput for an
    unknown one."""
    kind, _, turn = input_draw.partition(" ")
    if kind not in KNOWN or not (turn == "" or (turn.isdecimal() and int(turn) > 1)):
        raise BadInput(f"There is no input set {input_draw!r}. Choose one of: {', '.join(KNOWN)}.")
    return KNOWN[kind], int(turn or 1)


def further_draws(specs: Sequence[TensorSpec], roles: Mapping[str, InputRole]) -> tuple[str, ...]:
    """Those of FURTHER_DRAWS that differ from typical inputs for such inputs, in their order."""
    inputs = graph_inputs(specs, roles)
    return tuple(name for name in FURTHER_DRAWS if KNOWN[name].fits(inputs))


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
    of large draws large. Raises BadInput for an unknown draw, or a dtype that cannot be drawn."""
    kind, turn = parsed(input_draw)
    sizes = {spec.name: tuple(shape) for spec, shape in zip(specs, shapes or [spec.shape for spec in specs])}
    drawn: list[Drawn] = []
    for index, spec in enumerate(specs):
        role = (roles or {}).get(spec.name, PLAIN_ROLE)
        generator = torch.Generator(device=device).manual_seed(_seed_of(seed, input_draw, index))
        if not role.free and any(sizes[each.name] != each.shape for each in specs):
            role = replace(role, whole=None, apart=())
        limit = index_limit(role, sizes)
        drawn.append(_drawn(kind, AskedInput(spec, sizes[spec.name], turn, scale, role, limit, generator)))
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


def _drawn(kind: InputDraw, asked: AskedInput) -> Drawn:
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
        values = even(shape, asked.generator) < 0.5
        return kind.booleans(values, asked) if kind.booleans is not None else values
    if dtype.is_complex:
        return torch.complex(_floats(kind, asked), _floats(kind, asked)).to(dtype)
    if dtype.is_floating_point:
        return _floats(kind, asked).to(dtype)
    whole = (kind.integers or typical_integers)(asked).to(dtype)
    if role.divides:
        # a division by zero is no input
        whole = torch.where(whole == 0, 1, whole)
    return int(whole.reshape(-1)[0].item()) if role.number else whole


def _floats(kind: InputDraw, asked: AskedInput) -> torch.Tensor:
    given = AskedFloats(asked)
    if given.role.variance:
        found = (kind.variance or variances)(given)
    else:
        floats = kind.parameters if given.parameter else kind.floats
        found = floats(given) if floats is not None else None
    found = found or Drawing(given.typical)
    return within(found.values, given.spec, found.most).clamp(min=found.least)
