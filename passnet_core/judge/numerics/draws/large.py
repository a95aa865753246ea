"""Floats of all sizes from 1 to some ten thousands."""

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, mixed

LARGEST = 30_000.0
OF_SUMS = 40_000.0
"""Two of these are more than half precision holds."""


def _floats(asked: AskedFloats) -> Drawing:
    values = asked.noise * LARGEST ** (asked.even() * asked.scale)
    if asked.scale == 1:
        values = mixed(values, [OF_SUMS, -OF_SUMS], 0.1, asked.generator)
    return Drawing(values, (2 * LARGEST) ** asked.scale)


DRAW = InputDraw(
    "large", floats=_floats, fits=lambda inputs: any(role.grows for role in inputs.active), large=True, defined=True
)
