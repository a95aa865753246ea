"""Large integers that differ by 0 or 1, around the numbers from which on fewer bits do not tell them apart."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedInput, InputDraw, even, typical_integers, wholes

CENTRES = (1 << 24, 1 << 31, 1 << 53)
"""From these on float32, int32 and float64 do not hold every integer. Each turn has another one."""
APART = 64
"""How far half of them lie from there at most: of a set, not every neighbour is a member."""


def _integers(asked: AskedInput) -> torch.Tensor:
    known = [each for each in CENTRES if each < asked.role.close]
    if not known:
        return typical_integers(asked)
    near, far = (wholes(-reach, reach, asked.shape, asked.generator) for reach in (1, APART))
    return known[(asked.turn - 1) % len(known)] + torch.where(even(asked.shape, asked.generator) < 0.5, near, far)


DRAW = InputDraw(
    "close",
    integers=_integers,
    fits=lambda inputs: any(role.close > CENTRES[0] for role in inputs.integers),
    defined=True,
)
