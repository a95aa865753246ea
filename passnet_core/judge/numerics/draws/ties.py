"""Halves and whole numbers throughout, where the graph compares sums or products."""

from passnet_core.judge.numerics.draws.drawing import AskedFloats, Drawing, InputDraw
from passnet_core.judge.numerics.draws.halves import steps, units


def _floats(asked: AskedFloats) -> Drawing | None:
    if asked.role.ties == "unit":
        return units(asked)
    return Drawing(steps(asked)) if asked.role.ties else None


DRAW = InputDraw(
    "ties",
    floats=_floats,
    parameters=_floats,
    fits=lambda inputs: any(role.ties == "value" for role in inputs.active),
    defined=True,
)
