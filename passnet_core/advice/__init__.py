"""What to do after an outcome: the next step, and what it is guessed from."""
