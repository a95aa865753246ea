"""Pass bundles: reading, writing, static rules and starting points. Nothing here executes their code."""
