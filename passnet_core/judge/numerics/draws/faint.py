"""Rows so small that the eps of a normalisation matters, of different sizes."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import (
    AskedFloats,
    Drawing,
    InputDraw,
    even,
    faint_sizes,
    normalised,
    some_of,
)

FAINT_SPREAD = 10.0
"""Faint rows are up to so much larger or smaller than the square root of an eps."""
FAINT_VARIANCES = (1e-6, 1e-2)
"""The range of variances, evenly on a logarithmic scale, where an eps may matter."""


def _floats(asked: AskedFloats) -> Drawing:
    rows = (*asked.shape[:-1], 1) if asked.shape else ()
    factors = FAINT_SPREAD ** (even(rows, asked.generator, asked.kind) * 2 - 1)
    sizes = asked.known(faint_sizes(asked.spec, asked.role))
    return Drawing(asked.noise * factors * some_of(sizes, rows, asked.generator))


def faint_variances(asked: AskedFloats) -> Drawing:
    least, most = map(math.log, FAINT_VARIANCES)
    return Drawing(torch.exp(least + asked.even() * (most - least)), math.inf, FAINT_VARIANCES[0])


DRAW = InputDraw("faint", floats=_floats, variance=faint_variances, fits=normalised)
