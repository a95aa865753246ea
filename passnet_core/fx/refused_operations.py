"""The operations that torch offers and a subgraph may not use, by the reason: a subgraph computes, and reaches nothing
else. New names of torch that compute on tensors need no entry here."""

from enum import StrEnum

from passnet_core.operations.kinds import several


class Reason(StrEnum):
    """Why a subgraph may not use an operation, as the end of a sentence that begins with the operation."""

    FILES = "reads or writes files"
    CODE = "runs other code"
    STATE = "reads or sets global state"
    MEMORY = "reaches raw memory"
    PROCESSES = "shares memory with other processes"
    GRADIENTS = "computes gradients"
    NO_TENSORS = "does not compute on tensors"
    REMOVED = "was removed from torch"
    PRIVATE = "is private to torch"
    UNKNOWN = "is not known"


_REASON = {name: Reason[reason] for reason, refused in several("refused").items() for name in refused}


def refused_for(operation: str) -> Reason | None:
    """The stated reason against an operation such as "torch.load" or "Tensor.numpy"; None if none is stated."""
    return _REASON.get(operation) or _REASON.get(operation.rpartition(".")[2])
