"""The taskset `passnet-verifiers`: verifiers takes a taskset's name for that of a module, which can have no dots."""

from passnet_client.verifiers import NullHarness, PassNetEnv, PassNetTaskset

__all__ = ["NullHarness", "PassNetEnv", "PassNetTaskset"]
