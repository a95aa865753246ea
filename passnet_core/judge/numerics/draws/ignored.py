"""Labels that a loss ignores, among others."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedInput, InputDraw, mixed, typical_integers

SHARE = 0.3


def _integers(asked: AskedInput) -> torch.Tensor:
    values = typical_integers(asked)
    return values if asked.role.ignored is None else mixed(values, [asked.role.ignored], SHARE, asked.generator)


DRAW = InputDraw(
    "ignored",
    integers=_integers,
    fits=lambda inputs: any(role.ignored is not None for role in inputs.integers),
    defined=True,
)
