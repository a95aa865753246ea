"""For those who train models to write passes: rewards, environments, exports and data."""
