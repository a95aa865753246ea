"""Errors whose message may be shown to a person: what is wrong, which one, and what to do next."""


class PlaygroundError(Exception):
    """Wrong use or missing data. Pages and the command line show the message once, without a traceback."""


class BadInput(PlaygroundError):
    """A file, a flag or a value cannot be read as what it should be."""


class UnknownItem(PlaygroundError):
    """A task, subgraph, bundle or run that does not exist here."""


class EmptyScore(PlaygroundError):
    """A score was asked of no samples."""


class StoreError(PlaygroundError):
    """The result store cannot be opened, read or written."""


class StoreRefusal(StoreError):
    """The store is in order, but this request does not fit it."""


class InfrastructureError(PlaygroundError):
    """The machine, not the candidate, is at fault: no device, no sandbox, a lost worker, a full disk."""
