"""Integers of all sizes and both signs, as far as the graph computes with them exactly."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import (
    AskedInput,
    InputDraw,
    even,
    mixed,
    whole_marks,
    whole_range,
    wholes,
)


def _integers(asked: AskedInput) -> torch.Tensor:
    low, high = whole_range(asked.spec, asked.limit)
    values, far = wholes(low, high, asked.shape, asked.generator), asked.role.far
    if far is not None:
        low, high = min(low, _rooted(far[0], asked.scale)), max(high, _rooted(far[1], asked.scale))
        others = _of_all_sizes(low, high, asked.shape, asked.generator)
        values = torch.where(even(asked.shape, asked.generator) < 0.6, others, values)
    marks = whole_marks(asked.role, low, high)
    return mixed(values, marks, 0.25, asked.generator) if marks else values


def _rooted(value: int, scale: float) -> int:
    """The number itself at scale 1, its square root at 1/2, and so on."""
    return value if scale == 1 else int(math.copysign(math.floor(abs(value) ** scale), value))


def _of_all_sizes(low: int, high: int, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Integers from low to high, half of them of all sizes and half evenly, on both sides of zero if they lie there."""
    below = even(shape, generator) * (low < 0) > 0.5
    at = even(shape, generator, torch.float64)
    ends = torch.where(below, float(max(-low, 0)), float(max(high, 0)))
    evenly = even(shape, generator) < 0.5
    sizes = torch.where(evenly, at * ends, (ends + 1) ** at - 1).long()
    return torch.where(below, -sizes, sizes).clamp(low, high)


DRAW = InputDraw(
    "far",
    integers=_integers,
    fits=lambda inputs: any(role.far is not None for role in inputs.integers),
    large=True,
    defined=True,
)
