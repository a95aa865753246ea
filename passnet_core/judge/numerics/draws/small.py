"""Single precision floats of all magnitudes down to 1e-8, where the graph computes functions that are about linear at
zero. Half precision hides what other formulas lose there."""

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw

LEAST = 1e-8


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.small or asked.spec.dtype not in ("float32", "float64"):
        return None
    return Drawing(torch.sign(asked.noise) * LEAST ** asked.even())


DRAW = InputDraw("small", floats=_floats, fits=lambda inputs: any(role.small for role in inputs.active), defined=True)
