"""Additive masks: minus infinity, or the least number of the dtype, in prefixes, suffixes, blocks and single elements
of rows. One column keeps its values in all inputs, so that no row is removed as a whole."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, dtype_of, even, shuffled

SORTS = 5
"""Rows that are left as they are, and those with a prefix, a suffix, a block, and single elements removed."""
SINGLE = 0.3
"""The share of single elements."""


def _floats(asked: AskedFloats) -> Drawing | None:
    axis = asked.role.masked_axis
    if not asked.role.masked or not asked.unlimited or len(asked.shape) < -axis or asked.shape[axis] < 2:
        return None
    shape, typical = asked.typical.movedim(axis, -1).shape, asked.typical.movedim(axis, -1)
    columns, rows, generator = shape[-1], (*shape[:-1], 1), asked.generator
    at = torch.arange(columns, device=generator.device)
    # in every second turn prefixes are short and suffixes long
    kept = (columns - 1 - columns // 8) if asked.turn % 2 else columns // 8
    count = math.prod(rows)
    sort = (shuffled(count, generator) % SORTS).reshape(rows)
    if asked.role.masked == "alone":
        # a graph without a mask may get a row whose end is masked, as of shorter sentences
        sort = torch.where(sort == 1, 2, torch.where(sort == 3, 4, sort))
        kept = 0
    start, end = (even(rows, generator) * (columns + 1) for _ in range(2))
    block = (torch.minimum(start, end) <= at) & (at < torch.maximum(start, end))
    prefix, suffix = at < start.clamp(max=kept), at >= end.clamp(min=kept + 1)
    single = even(shape, generator) < SINGLE
    removed = torch.where(sort == 1, prefix, torch.where(sort == 2, suffix, torch.where(sort == 3, block, single)))
    removed &= (sort != 0) & (at != kept)
    value = -math.inf if asked.turn % 3 else torch.finfo(dtype_of(asked.spec)).min
    return Drawing(torch.where(removed, value, typical).movedim(-1, axis), math.inf)


DRAW = InputDraw("masked", floats=_floats, fits=lambda inputs: any(role.masked for role in inputs.active), defined=True)
