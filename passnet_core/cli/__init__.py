"""The command line: one module per group of commands, all on top of the service."""
