"""Move what a computation rounds to half precision, to see how much its results depend on these roundings."""

from collections.abc import Callable
from typing import Any

import torch

from passnet_core.judge.gpu_on_cpu.dispatching import EagerDispatchMode
from passnet_core.judge.numerics.elements import HALF
from passnet_core.judge.numerics.perturbing import AT_RANDOM, MOVED, perturbed
from passnet_core.operations.kinds import named

Function = Callable[..., Any]

EXACT = named("exact")


class _Moving(EagerDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.turn, self.seed, self.place = -1, 0, 0

    def __enter__(self) -> Any:
        self.turn, self.place = (self.turn + 1) % MOVED, 0
        return super().__enter__()

    def _moves(self) -> bool:
        """Whether the next result is moved: in some calls only those whose number has a certain bit."""
        self.place += 1
        return self.turn < AT_RANDOM or bool(self.place >> (self.turn - AT_RANDOM) & 1)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        returned = func(*args, **(kwargs or {}))
        schema = func._schema
        if schema.name.partition("::")[2] not in EXACT:
            values = returned if isinstance(returned, tuple | list) else (returned,)
            for value, said in zip(values, schema.returns):
                # what shares memory and was not written is a view
                made = said.alias_info is None or said.alias_info.is_write
                if made and isinstance(value, torch.Tensor) and value.dtype in HALF and self._moves():
                    self.seed += 1
                    value.copy_(perturbed(value, self.seed, both_ways=True))
        return returned


def moved(function: Function) -> Function:
    """The same function, with each result that it rounds to half precision moved by one ulp, up or down at random, in
    each call in another way."""
    mode = _Moving()

    def call(*inputs: Any) -> Any:
        with mode:
            return function(*inputs)

    return call
