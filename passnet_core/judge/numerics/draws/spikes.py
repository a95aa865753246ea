"""Small elements behind a large one, where the graph sums some of many neighbours: running sums lose them."""

import math

import torch

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, dtype_of, wholes

LARGE, LARGE_IN_FLOAT16 = 1e7, 4e4


def _floats(asked: AskedFloats) -> Drawing | None:
    """One large element in the first half of each plane, which the last two axes make."""
    if not (asked.role.windows and asked.shape and asked.unlimited and asked.noise.numel()):
        return None
    planes = asked.typical.reshape(-1, math.prod(asked.shape[-2:]))
    large = LARGE_IN_FLOAT16 if dtype_of(asked.spec) is torch.float16 else LARGE
    places = wholes(0, planes.shape[1] // 2, (planes.shape[0], 1), asked.generator)
    values = planes.scatter(1, places, large * asked.scale)
    return Drawing(values.reshape(asked.shape), math.inf)


DRAW = InputDraw(
    "spikes", floats=_floats, fits=lambda inputs: any(role.windows for role in inputs.active), large=True, defined=True
)
