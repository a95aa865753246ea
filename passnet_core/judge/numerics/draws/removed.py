"""Infinities and NaN in few elements, where the graph chooses among elements: what it leaves out must not come
through."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, even, some_of

ROWS = 0.5
"""The share of rows in which about one element is no number."""


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.removed or not asked.shape:
        return None
    rows = (*asked.shape[:-1], 1)
    others = some_of(asked.known((math.inf, -math.inf, math.nan)), asked.shape, asked.generator)
    chosen = asked.even() * asked.shape[-1] < 1
    chosen &= even(rows, asked.generator) < ROWS
    return Drawing(torch.where(chosen, others, asked.typical), math.inf)


DRAW = InputDraw("removed", floats=_floats, fits=lambda inputs: any(role.removed for role in inputs.active))
