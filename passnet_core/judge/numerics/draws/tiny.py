"""All values of one size at which an eps matters, another one in each turn."""

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw, faint_sizes, normalised
from passnet_core.judge.numerics.draws.faint import faint_variances


def _floats(asked: AskedFloats) -> Drawing:
    known = faint_sizes(asked.spec, asked.role)
    return Drawing(asked.noise * known[(asked.turn - 1) % len(known)])


DRAW = InputDraw("tiny", floats=_floats, variance=faint_variances, fits=normalised)
