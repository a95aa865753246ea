"""Infinities in few elements, where the graph chooses among elements: what it leaves out must not come through."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw

OF_A_ROW = 2
"""About how many elements of a row are infinite."""


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.removed or not asked.shape:
        return None
    value = -math.inf if asked.turn % 2 else math.inf
    return Drawing(torch.where(asked.even() * asked.shape[-1] < OF_A_ROW, value, asked.typical), math.inf)


DRAW = InputDraw(
    "removed", floats=_floats, fits=lambda inputs: any(role.removed for role in inputs.active), defined=True
)
