"""Tolerances, S(t), ES(t), aggregate scores and intervals: pure numbers."""
