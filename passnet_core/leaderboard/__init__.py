"""What solvers came to, side by side: boards of scores, what Inductor does, report cards."""
