"""Floats that differ from each other by one rounding or a few, where the graph says which of them is the largest."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, dtype_of, wholes

LEVELS, STEPS = 4, 16
"""How many values there are, and how many roundings above each."""


def _floats(asked: AskedFloats) -> Drawing | None:
    dtype = dtype_of(asked.spec)
    if not asked.role.near or dtype.itemsize < 4:
        return None
    levels = wholes(1, LEVELS, asked.shape, asked.generator).to(asked.kind)
    steps = wholes(0, STEPS, asked.shape, asked.generator).to(asked.kind)
    return Drawing(torch.sign(asked.noise) * (levels + levels * steps * torch.finfo(dtype).eps))


DRAW = InputDraw("near", floats=_floats, fits=lambda inputs: any(role.near for role in inputs.active), defined=True)
