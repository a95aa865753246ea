"""Passes for a whole model: capture it, find and write passes, judge them on its shapes, and measure them in it."""
