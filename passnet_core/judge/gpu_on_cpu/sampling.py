"""Run only a few programs of each launch, for a call that would be too much work for Triton's interpreter.

Some are random. Others are where sizes show: the first program, which has most to do where programs share out a loop,
the last one, which has the largest offsets and may have nothing left to do, and those where parts of the grid end."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from passnet_core.judge.gpu_on_cpu.dispatching import EagerDispatchMode
from passnet_core.judge.gpu_on_cpu.launching import Place, Watcher
from passnet_core.judge.gpu_on_cpu.work import InterpreterWork

RANDOM_PROGRAMS = 56
"""How many random programs of a launch run at most, or a few more."""
PARTS = 8
"""Of so many equal parts of a grid, the last program of each runs: axes mostly end there."""
CALL_S = 1.0
"""About how many seconds of work all launches of a call are. At least a random program of each runs, and the last."""
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
        if not places:
            return
        end, count = self.work.seconds + (CALL_S - self.work.seconds) / 2, len(places)
        one, *others = self.chance.sample(range(count), min(count, RANDOM_PROGRAMS))
        ends = (count * part // PARTS - 1 for part in range(PARTS, 0, -1))
        numbers = dict.fromkeys(each for each in (one, 0, *ends, *others) if 0 <= each < count - 1)
        for number in numbers:
            yield places[number]
            if self.work.seconds >= end:
                break
        yield places[count - 1]

    def run(self, places: Sequence[Place], program: Callable[[Place], None]) -> None:
        for place in self.chosen(places):
            program(place)
