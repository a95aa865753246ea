"""Floats that are eight times as far apart as typical ones."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import WIDE, AskedFloats, Drawing, InputDraw, dtype_of, variances

MOST_POWER = 0.9
"""Wide exponents in half precision reach this part of the largest one whose exponential is finite."""


def powers(asked: AskedFloats, scale: float) -> Drawing | None:
    """Exponents in half precision, evenly over their range; None for other inputs. Two draws have them: few values tell
    nothing about many small errors."""
    if not asked.role.power or asked.spec.dtype not in ("float16", "bfloat16"):
        return None
    largest = MOST_POWER * math.log(torch.finfo(dtype_of(asked.spec)).max) * scale
    return Drawing((asked.even() * 2 - 1) * largest)


def _wide(asked: AskedFloats) -> Drawing:
    return Drawing(asked.noise * asked.spread * WIDE * asked.scale + asked.mean)


DRAW = InputDraw(
    "wide",
    floats=lambda asked: powers(asked, asked.scale) or _wide(asked),
    parameters=_wide,
    variance=lambda asked: variances(asked, WIDE * asked.scale),
    large=True,
)
