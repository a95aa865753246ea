"""Floats with the other sign."""

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw
from passnet_core.judge.numerics.draws.wide import powers


def _mirrored(asked: AskedFloats) -> Drawing:
    # a recorded range is mirrored within itself: outside it, all values would be clamped to one limit
    low, high = asked.spec.low, asked.spec.high
    return Drawing((low + high if low is not None and high is not None else 0.0) - asked.typical)


DRAW = InputDraw("signed", floats=lambda asked: powers(asked, 1.0) or _mirrored(asked), parameters=_mirrored)
