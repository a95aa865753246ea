"""Halves and whole numbers, where the graph rounds."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, dtype_of, even, wholes

HALVES = 0.5
"""The share of elements that lie on halves and whole numbers."""
BEYOND, FAR = 2.0**33, 0.1
"""From where no 32 bits hold them, and the share of those that lie there, as times in milliseconds do, where no
integers are made of them."""


def units(asked: AskedFloats) -> Drawing:
    """Powers of two, by which nothing is rounded."""
    return Drawing(2.0 ** wholes(-1, 1, asked.shape, asked.generator).to(asked.kind))


def steps(asked: AskedFloats) -> torch.Tensor:
    return wholes(-9, 9, asked.shape, asked.generator).to(asked.kind) / 2


def _floats(asked: AskedFloats) -> Drawing | None:
    if asked.role.halves == "unit":
        return units(asked)
    if not asked.role.halves:
        return None
    chance = even(asked.shape, asked.generator)
    found = torch.where(chance < HALVES, steps(asked), asked.typical)
    if dtype_of(asked.spec).itemsize >= 4 and not asked.role.converts:
        found = torch.where(chance < FAR, found + torch.sign(asked.noise) * BEYOND, found)
    return Drawing(found, math.inf)


DRAW = InputDraw(
    "halves",
    floats=_floats,
    parameters=_floats,
    fits=lambda inputs: any(role.halves == "value" for role in inputs.active),
    defined=True,
)
