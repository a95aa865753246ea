"""Samples of which nothing is left: all elements are as far from zero as their dtype goes, or infinite, where the graph
takes the largest or the least of elements, as of rows that a mask removes."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, dtype_of, shuffled

SHARE = 0.25
"""The share of the largest number, so that a few may be added."""


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.extreme or not asked.unlimited:
        return None
    infinite = asked.turn % 2 == 0
    if infinite and asked.role.converts:
        return None
    far = asked.role.extreme * (math.inf if infinite else SHARE * torch.finfo(dtype_of(asked.spec)).max)
    # every second sample; infinite all, since the axis may be the first one
    count = asked.shape[0] if asked.shape and not infinite else 1
    removed = shuffled(count, asked.generator) % 2 == 0
    return Drawing(torch.where(removed.reshape(count, *(1 for _ in asked.shape[1:])), far, asked.typical), math.inf)


DRAW = InputDraw(
    "extremes", floats=_floats, fits=lambda inputs: any(role.extreme for role in inputs.active), defined=True
)
