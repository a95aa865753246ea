"""Weights with rows of zeros, as if pruned, of faint values and of large ones; slopes of either sign."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import (
    RECORDED_LIMIT,
    AskedFloats,
    Drawing,
    GraphInputs,
    InputDraw,
    faint_sizes,
    is_parameter,
    shuffled,
    some_of,
)

SLOPES = 2.0
"""Slopes are drawn up to this one."""


def _slopes(asked: AskedFloats) -> Drawing | None:
    return Drawing((asked.even() * 2 - 1) * SLOPES) if asked.role.slope else None


def _rows(asked: AskedFloats) -> Drawing | None:
    """A quarter of the rows zeros, a quarter of faint sizes, a quarter large, and the others typical."""
    if len(asked.shape) < 2:
        return None
    rows, device = (*asked.shape[:-1], 1), asked.generator.device
    order = shuffled(math.prod(rows), asked.generator)
    sort = (torch.arange(len(order), device=device) % 4)[order].reshape(rows)
    sizes = some_of(asked.known(faint_sizes(asked.spec, asked.role)), rows, asked.generator)
    large = (asked.noise * RECORDED_LIMIT).clamp(-RECORDED_LIMIT, RECORDED_LIMIT) * asked.scale
    filled = torch.where(sort == 1, asked.noise * sizes, torch.where(sort == 2, large, asked.typical))
    return Drawing(torch.where(sort == 0, 0.0, filled))


def _fits(inputs: GraphInputs) -> bool:
    return any(role.slope or (is_parameter(spec, role) and len(spec.shape) > 1) for spec, role in inputs.floats)


DRAW = InputDraw(
    "weights",
    floats=_slopes,
    parameters=lambda asked: _slopes(asked) or _rows(asked),
    fits=_fits,
    large=True,
    defined=True,
)
