"""The infinities and NaN that the graph tests an input for."""

import math

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, mixed


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.lost:
        return None
    lost = [float(each) for each in asked.role.lost]
    return Drawing(mixed(asked.typical, lost, 0.2, asked.generator), math.inf)


DRAW = InputDraw(
    "undefined",
    floats=_floats,
    parameters=_floats,
    fits=lambda inputs: any(role.lost for role in inputs.active),
    defined=True,
)
