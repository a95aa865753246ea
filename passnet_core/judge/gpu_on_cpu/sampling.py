"""Run only a few random programs of each launch, for a call that would be too much work for Triton's interpreter."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from passnet_core.judge.gpu_on_cpu.dispatching import EagerDispatchMode
from passnet_core.judge.gpu_on_cpu.launching import Place, Watcher
from passnet_core.judge.gpu_on_cpu.work import InterpreterWork

MOST_PROGRAMS = 64
"""How many programs of a launch run at most."""
CALL_S = 1.0
"""About how many seconds of work all launches of a call are. At least one program of each runs."""
MOST_S = 8.0
"""How many seconds of work they may be at most."""


NOT_FILLED = frozenset(
    {
        torch.ops.aten.empty.memory_format,
        torch.ops.aten.empty_like.default,
        torch.ops.aten.empty_strided.default,
        torch.ops.aten.new_empty.default,
        torch.ops.aten.new_empty_strided.default,
    }
)


class ZeroedMemory(EagerDispatchMode):
    """Memory that is asked for holds zeros: to other kernels, what a program has not written may be an index."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        return made.zero_() if func in NOT_FILLED else made


class Sampling(Watcher):
    """Chooses the programs that run. work: what the interpreter has done so far."""

    def __init__(self, work: InterpreterWork, chance: random.Random) -> None:
        self.work, self.chance = work, chance

    def chosen(self, places: Sequence[Place]) -> Iterator[Place]:
        """The programs of a launch that run, each when the one before it has run."""
        end = self.work.seconds + (CALL_S - self.work.seconds) / 2
        for place in self.chance.sample(places, min(len(places), MOST_PROGRAMS)):
            yield place
            if self.work.seconds >= end:
                return

    def run(self, places: Sequence[Place], program: Callable[[Place], None]) -> None:
        for place in self.chosen(places):
            program(place)
