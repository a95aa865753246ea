"""Floats that differ from each other by one rounding or a few, where the graph says which of them is the largest."""

import torch

from passnet_core.judge.numerics.draws.drawing import (
    AskedFloats,
    Drawing,
    GraphInputs,
    InputDraw,
    dtype_of,
    is_parameter,
    wholes,
)
from passnet_core.judge.protocol.reference_bench import InputRole
from passnet_core.records import TensorSpec

LEVELS, STEPS = 4, 16
"""How many values there are, and how many roundings above each."""


def _floats(asked: AskedFloats) -> Drawing | None:
    dtype = dtype_of(asked.spec)
    if not _is_near(asked.spec, asked.role):
        return None
    levels = wholes(1, LEVELS, asked.shape, asked.generator).to(asked.kind)
    steps = wholes(0, STEPS, asked.shape, asked.generator).to(asked.kind)
    return Drawing(torch.sign(asked.noise) * (levels + levels * steps * torch.finfo(dtype).eps))


def _is_near(spec: TensorSpec, role: InputRole) -> bool:
    # half precision has no such neighbours
    return role.near and dtype_of(spec).itemsize >= 4


def _fits(inputs: GraphInputs) -> bool:
    return any(_is_near(*each) for each in inputs.floats if not is_parameter(*each))


DRAW = InputDraw("near", floats=_floats, fits=_fits, defined=True)
