"""Rows of zeros, and rows of ones."""

from passnet_core.judge.numerics.draws.drawing import Drawing, InputDraw, normalised, with_equal_rows

DRAW = InputDraw(
    "blank",
    floats=lambda asked: Drawing(with_equal_rows(asked.typical, 0.0, 1.0, asked.generator)),
    fits=normalised,
)
