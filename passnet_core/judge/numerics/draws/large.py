"""Floats of all sizes from 1 to some ten thousands."""

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw

LARGEST = 30_000.0


def _floats(asked: AskedFloats) -> Drawing:
    return Drawing(asked.noise * LARGEST ** (asked.even() * asked.scale), (2 * LARGEST) ** asked.scale)


DRAW = InputDraw(
    "large", floats=_floats, fits=lambda inputs: any(role.grows for role in inputs.active), large=True, defined=True
)
