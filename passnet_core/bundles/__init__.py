"""Pass bundles: reading, writing, static rules and starting points. Their code is never executed here."""
