"""Compute tolerances, S(t), ES(t), the aggregate score and intervals: pure functions of numbers."""
