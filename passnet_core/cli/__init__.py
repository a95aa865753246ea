"""The command line over the service, one module per group of commands."""
