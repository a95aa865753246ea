"""Floats as PassNet replays them: about the recorded mean, with a fifth of the recorded spread."""

from passnet_core.judge.numerics.draws.drawing import (
    RECORDED_LIMIT,
    RECORDED_SPREAD,
    AskedFloats,
    Drawing,
    InputDraw,
)


def _floats(asked: AskedFloats) -> Drawing:
    std = 1.0 if asked.spec.std is None else asked.spec.std
    return Drawing(asked.noise * std * RECORDED_SPREAD + asked.mean, RECORDED_LIMIT)


DRAW = InputDraw("recorded", floats=_floats, parameters=_floats, variance=_floats)
