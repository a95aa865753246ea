"""Masks with rows that let nothing through, and rows that let everything through."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedInput, InputDraw, whole_range, wholes, with_equal_rows
from passnet_core.judge.numerics.draws.ranges import safe_range


def _integers(asked: AskedInput) -> torch.Tensor:
    low, high = whole_range(asked.spec, asked.limit)
    wide_low, wide_high = safe_range(asked)
    free = asked.role.free and asked.role.whole is not None
    if free and wide_low <= 0 < 1 <= wide_high and 0 <= low <= high <= 1:
        low, high = 0, 1
    values = wholes(low, high, asked.shape, asked.generator)
    return with_equal_rows(values, low, high, asked.generator) if asked.role.free else values


DRAW = InputDraw(
    "masks",
    integers=_integers,
    booleans=lambda values, asked: with_equal_rows(values, False, True, asked.generator),
    fits=lambda inputs: bool(inputs.booleans) or any(role.free for role in inputs.integers),
)
