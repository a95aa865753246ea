"""Floats at, beside and beyond the numbers at which the graph's results change."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import (
    RECORDED_LIMIT,
    WIDE,
    AskedFloats,
    Drawing,
    InputDraw,
    dtype_of,
    mixed,
)


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.marks:
        return None
    marks = asked.known(asked.role.marks)
    above, below = (torch.nextafter(marks, marks * 0 + end) for end in (math.inf, -math.inf))
    beyond = torch.cat([marks, above, below, marks * 1.5 + 0.5, marks * 1.5 - 0.5])
    most = math.inf if asked.scale == 1 else RECORDED_LIMIT * WIDE * asked.scale
    most = min(torch.finfo(dtype_of(asked.spec)).max, most)
    return Drawing(mixed(asked.typical, beyond, 0.5, asked.generator), most)


DRAW = InputDraw("limits", floats=_floats, fits=lambda inputs: any(role.marks for role in inputs.active), large=True)
