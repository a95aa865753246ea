"""Errors whose message may be shown to a person: what is wrong, which one, and what to do next."""


class PlaygroundError(Exception):
    """Wrong use or missing data. Pages and the command line show its message once, without a traceback."""


class BadInput(PlaygroundError):
    """A file, a flag or a value cannot be read as what it should be."""


class UnknownItem(PlaygroundError):
    """A task, subgraph, bundle, run or conversation that does not exist here."""


class EmptyScore(PlaygroundError):
    """There is no sample to compute a score from."""


class StoreError(PlaygroundError):
    """The result store cannot be opened, read or written."""


class StoreRefusal(StoreError):
    """The store works, but it cannot do what was asked."""


class InfrastructureError(PlaygroundError):
    """The machine, not the candidate, is at fault: no device, no sandbox, a lost worker, a full disk."""
