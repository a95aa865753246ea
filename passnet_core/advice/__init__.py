"""Advise what to do after an outcome, and guess what its errors come from."""
