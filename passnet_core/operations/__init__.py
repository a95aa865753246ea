"""What torch's operations are: one table, generated from torch itself by tools/operations.py and read without torch."""
