"""Whole samples so far below zero that they lie below what is taken for the least of all numbers."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, dtype_of, shuffled

DEEP, DEEP_IN_FLOAT16 = 200_000.0, 40_000.0
"""How far they lie: far enough also when they are scaled like attention scores."""


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.deep or not asked.unlimited:
        return None
    depths = _depths(dtype_of(asked.spec), asked.shape, asked.turn, asked.role.deep, asked.generator)
    return Drawing(asked.noise + depths.to(asked.kind) * asked.scale, math.inf)


def _depths(
    dtype: torch.dtype, shape: tuple[int, ...], turn: int, sign: int, generator: torch.Generator
) -> torch.Tensor:
    """An offset for each index of the first axis: a third far from zero on the side of sign, a third on the other side.
    In every second turn all on the side of sign."""
    count = shape[0] if shape and turn % 2 else 1
    order = shuffled(count, generator)
    depth = sign * (DEEP_IN_FLOAT16 if dtype is torch.float16 else DEEP)
    depths = torch.tensor([depth, -depth, 0.0], device=generator.device)
    return depths[order % 3].reshape(count, *(1 for _ in shape[1:])) if shape else depths[0]


DRAW = InputDraw(
    "deep", floats=_floats, fits=lambda inputs: any(role.deep for role in inputs.active), large=True, defined=True
)
