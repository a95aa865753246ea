"""Floats at which a stable softmax is right in every dtype and a naive one is not; vectors of a model that scale by
about 1, or add about 0, as those of norms do after little training; integers from the ends of the recorded range."""

import torch

from passnet_core.judge.numerics.draws.drawing import (
    AskedFloats,
    AskedInput,
    Drawing,
    InputDraw,
    even,
    mixed,
    whole_range,
)

EDGE_VALUES = (0.0, -0.0, 1.0, -1.0, 1e-4, -1e-4, 10.0, -10.0, 60.0, -60.0, 100.0, -100.0)

NEARLY = 1e-3


def _floats(asked: AskedFloats) -> Drawing:
    return Drawing(mixed(asked.typical, asked.known(EDGE_VALUES) * asked.scale, 0.5, asked.generator))


def _neutral(asked: AskedFloats) -> Drawing | None:
    centre = float(round(asked.mean))
    if len(asked.shape) > 1 or centre not in (0.0, 1.0) or asked.role.variance:
        return None
    return Drawing(centre + (asked.even() * 2 - 1) * NEARLY)


def _integers(asked: AskedInput) -> torch.Tensor:
    low, high = whole_range(asked.spec, asked.limit)
    return torch.where(even(asked.shape, asked.generator) < 0.5, low, high)


DRAW = InputDraw("edges", floats=_floats, parameters=_neutral, integers=_integers, large=True)
