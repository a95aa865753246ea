"""Rows of spread 1 that lie far from each other, or far from zero beside their spread."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import (
    AskedFloats,
    Drawing,
    InputDraw,
    dtype_of,
    even,
    shuffled,
    some_of,
)

OFFSETS = (1_000.0, -150.0, 60.0, 0.0, -60.0, 30.0, -1_000.0)
RESOLVED = 0.5
"""An ulp at an offset is at most this large, so that the row's spread is still there."""


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.unlimited:
        return None
    offsets = _offsets(dtype_of(asked.spec), asked.shape, asked.turn, asked.generator)
    return Drawing(asked.noise + offsets.to(asked.kind) * asked.scale, math.inf)


def _offsets(dtype: torch.dtype, shape: tuple[int, ...], turn: int, generator: torch.Generator) -> torch.Tensor:
    """An offset for each row, and another one for the rest of every second row, from some place on; in the second turn
    one for all, in the third one for each place of the last axis."""
    device = generator.device
    known = torch.tensor([each for each in OFFSETS if abs(each) * torch.finfo(dtype).eps <= RESOLVED], device=device)
    alike = tuple(1 for _ in shape)
    rows = ((*shape[:-1], 1), alike, (*alike[:-1], *shape[-1:]))[(turn - 1) % 3] if shape else ()
    count = math.prod(rows)
    order = shuffled(count, generator)
    # of each as many as possible, from the first one on
    chosen = torch.arange(count, device=device)[order].reshape(rows)
    offsets = known[chosen % len(known)]
    if turn % 3 != 1 or count < 2:
        return offsets
    rest = some_of(known, rows, generator)
    start = even(rows, generator) * shape[-1]
    cut = (chosen // len(known) % 2 == 1) & (torch.arange(shape[-1], device=device) > start)
    return torch.where(cut, rest, offsets)


DRAW = InputDraw(
    "offsets",
    floats=_floats,
    fits=lambda inputs: any(role.reduces for role in inputs.active),
    large=True,
    defined=True,
)
