"""Floats of all magnitudes that their dtype has, where the graph takes roots of squares."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, dtype_of

SPAN = 0.65
"""From the largest of their dtype to this power, about 1e25, to its inverse."""


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.spans:
        return None
    at = asked.even() * 2 - 1
    largest = torch.finfo(dtype_of(asked.spec)).max
    return Drawing(torch.sign(asked.noise) * largest ** (at * SPAN * asked.scale), math.inf)


DRAW = InputDraw(
    "magnitudes",
    floats=_floats,
    fits=lambda inputs: any(role.spans for role in inputs.active),
    large=True,
    defined=True,
)
