"""The largest floats of their dtype, where the graph provides for them."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, GraphInputs, InputDraw, dtype_of, mixed


def guarded(inputs: GraphInputs) -> bool:
    """Whether the graph provides for infinities, or for values beyond a dtype's range."""
    return any(role.guarded for role in inputs.active)


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.guarded:
        return None
    most = torch.finfo(dtype_of(asked.spec)).max
    largest = asked.known((0.7, 0.9, 1.0, -0.7, -0.9, -1.0)) * most
    return Drawing(mixed(asked.typical, largest, 0.1, asked.generator), most)


DRAW = InputDraw("huge", floats=_floats, fits=guarded)
