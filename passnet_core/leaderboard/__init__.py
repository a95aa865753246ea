"""Solvers' results side by side: leaderboards, Inductor's effects, and report cards of language models."""
