"""Zeros with few impulses: what one element alone does to others."""

import torch

from passnet_core.judge.numerics.draws.drawing import FAINT, AskedFloats, Drawing, InputDraw, even, impulses


def _floats(asked: AskedFloats) -> Drawing:
    values = impulses(asked.shape, asked.generator).to(asked.kind) * max(abs(asked.mean), asked.spread, 1.0)
    return Drawing(_with_faint_rows(values, asked.generator))


def _with_faint_rows(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Fill every second row of zeros, from the first one on, with values of 0.5 to 1.5 times FAINT and either sign."""
    if values.dim() < 2 or not values.numel():
        return values
    empty = (values == 0).all(-1, keepdim=True)
    chosen = empty & (empty.flatten().cumsum(0).reshape(empty.shape) % 2 == 1)
    size = (even(values.shape, generator, values.dtype) + 0.5) * FAINT
    negative = even(values.shape, generator) < 0.5
    return torch.where(chosen, torch.where(negative, -size, size), values)


DRAW = InputDraw(
    "sparse",
    floats=_floats,
    booleans=lambda values, asked: impulses(asked.shape, asked.generator) != 0,
)
