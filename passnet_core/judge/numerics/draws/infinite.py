"""Minus infinities among floats, and rows of them, where the graph provides for these."""

import math

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, mixed, with_equal_rows
from passnet_core.judge.numerics.draws.huge import guarded


def _floats(asked: AskedFloats) -> Drawing | None:
    if not asked.role.guarded:
        return None
    values = mixed(asked.typical, [-math.inf], 0.3, asked.generator)
    return Drawing(with_equal_rows(values, -math.inf, 0.0, asked.generator), math.inf)


DRAW = InputDraw("infinite", floats=_floats, fits=guarded)
