"""The base of modes that see the operators of a call."""

from torch.utils._python_dispatch import TorchDispatchMode


class EagerDispatchMode(TorchDispatchMode):
    """A mode whose own operations are never compiled. Torch would otherwise load Dynamo at the first operator that the
    mode sees, which takes seconds in each worker."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
