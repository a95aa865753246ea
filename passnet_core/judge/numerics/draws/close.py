"""Large integers that differ by 0 or 1, around the numbers from which on fewer bits do not tell them apart."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedInput, InputDraw, typical_integers, wholes

CENTRES = (1 << 24, 1 << 31, 1 << 53)
"""From these on float32, int32 and float64 do not hold every integer. Each turn has another one."""


def _integers(asked: AskedInput) -> torch.Tensor:
    known = [each for each in CENTRES if each < asked.role.close]
    if not known:
        return typical_integers(asked)
    return known[(asked.turn - 1) % len(known)] + wholes(-1, 1, asked.shape, asked.generator)


DRAW = InputDraw(
    "close",
    integers=_integers,
    fits=lambda inputs: any(role.close > CENTRES[0] for role in inputs.integers),
    defined=True,
)
