"""Rows in, chart specifications out."""
