"""Static rules for bundles."""
