"""Halves and whole numbers, where the graph rounds."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, even, wholes

HALVES = 0.5
"""The share of elements that lie on halves and whole numbers."""


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
    found = steps(asked)
    return Drawing(torch.where(even(asked.shape, asked.generator) < HALVES, found, asked.typical))


DRAW = InputDraw(
    "halves",
    floats=_floats,
    parameters=_floats,
    fits=lambda inputs: any(role.halves == "value" for role in inputs.active),
    defined=True,
)
