"""Integers from the whole range in which every value is safe, with those among them at which results change."""

import torch

from passnet_core.judge.numerics.draws.drawing import (
    AskedInput,
    InputDraw,
    dtype_of,
    mixed,
    whole_marks,
    whole_range,
    wholes,
)


def safe_range(asked: AskedInput) -> tuple[int, int]:
    """The integers that are safe, as far as they are known; else the recorded ones."""
    info, whole = torch.iinfo(dtype_of(asked.spec)), asked.role.whole
    if whole is None:
        return whole_range(asked.spec, asked.limit)
    return max(whole[0], info.min), min(whole[1], info.max)


def _integers(asked: AskedInput) -> torch.Tensor:
    low, high = safe_range(asked)
    if asked.role.whole is None and asked.limit is not None:
        low, high = min(low, 0), max(asked.limit - 1, 0)
    values = wholes(low, high, asked.shape, asked.generator)
    marks = [*whole_marks(asked.role, low, high), *asked.role.apart]
    return mixed(values, marks, 0.25, asked.generator) if marks else values


DRAW = InputDraw("ranges", integers=_integers, fits=lambda inputs: bool(inputs.integers))
