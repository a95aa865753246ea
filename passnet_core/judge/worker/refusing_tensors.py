"""Let the tensors that a replacement function is given refuse torch's operations, as in PassNet's warm-up calls.

There they are a subclass that refuses whatever is dispatched, except for allocations and fills, copies to another dtype
or device, aliases, and questions of size and stride. What an allowed operation makes of such a tensor is one as well;
what is allocated without one is free. Here the tensors stay plain, and their operations are seen as they are
dispatched."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
from torch.utils._pytree import tree_leaves

import passnet_core
from passnet_core.judge.plan.operations import DispatchedOperation, DispatchedOperations
from passnet_core.judge.protocol.operation_names import ALLOCATIONS, FILLS, bare
from passnet_core.operations.kinds import named

Function = Callable[..., Any]

QUESTIONS = named("queries")
ALLOWED = ALLOCATIONS | FILLS | QUESTIONS | {"_to_copy", "alias", "detach"}

LAUNCHING = (triton.__path__[0], str(Path(passnet_core.__file__).parent))
"""Folders of what launches kernels. The operations of a launch are not the bundle's."""


class RefusedOperation(RuntimeError):
    """A replacement function called an operation that PassNet's tensors refuse."""


def refusing(function: Function) -> Function:
    """The replacement function; with it, operations on its arguments that PassNet refuses raise RefusedOperation."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with DispatchedOperations(_GivenTensors((args, kwargs)).told):
            return function(*args, **kwargs)

    return call


class _GivenTensors:
    """The tensors among these arguments, and what is made of them. tensors: by id."""

    def __init__(self, arguments: Any) -> None:
        self.tensors = _tensors(arguments)

    def told(self, seen: DispatchedOperation) -> None:
        """An operation was called. Raises RefusedOperation."""
        if seen.caller.startswith(LAUNCHING) or not self.tensors.keys() & _tensors((seen.args, seen.kwargs)).keys():
            return
        if (name := bare(seen.name)) not in ALLOWED:
            raise RefusedOperation(
                f"torch's operation {name} is called with a tensor that the replacement function was given. By"
                " PassNet's rules such a tensor may only be filled, converted, or used as the model of another. Compute"
                " in a kernel."
            )
        self.tensors |= _tensors(seen.result)


def _tensors(values: Any) -> dict[int, torch.Tensor]:
    return {id(each): each for each in tree_leaves(values) if isinstance(each, torch.Tensor)}
