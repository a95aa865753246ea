"""The worker's loop for timed calls: calls in a row over a few input sets, with nothing between them but the next call.

The witness and the executor time every contender by this same loop. Neither process has any host code of a bundle, so
that nothing can know that it is timed: what is timed is what the plan says."""

import gc
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from passnet_core.judge.numerics.timed_inputs import SLOTS, Buffers
from passnet_core.judge.protocol.messages import LoopTimes
from passnet_core.judge.worker.building import Prepared
from passnet_core.records import Device

PASSNET_SEED = 1024
"""What torch's seed is set to inside each call that is timed as PassNet does, which costs every contender the same tens
of microseconds."""


class TimedLoops:
    """Loops of calls on the inputs that one seed draws. cold: the L2 cache is flushed before each loop. fresh: the
    inputs are drawn before each loop, since calls change them."""

    def __init__(self, buffers: Buffers, device: Device, seed: int, *, cold: bool, fresh: bool) -> None:
        self.buffers, self.fresh, self.seed = buffers, fresh, seed
        on_card = device is Device.CUDA
        self.synchronise: Callable[[], None] = torch.cuda.synchronize if on_card else _nothing
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if on_card else []
        self.flush: torch.Tensor | None = None
        if cold and on_card:
            size = 4 * torch.cuda.get_device_properties(0).L2_cache_size
            self.flush = torch.empty(max(size, 1 << 26), dtype=torch.uint8, device="cuda")
        self.draw()

    def draw(self) -> None:
        """Draw the input sets, the first from the seed, the second from the next number, and so on."""
        self.sets = [self.buffers.drawn(self.seed + slot, slot) for slot in range(SLOTS)]

    def times(self, calls: Sequence[Prepared], counts: Sequence[int], rounds: int, core: int | None) -> LoopTimes:
        """Time so many rounds, in each of which every callable has a loop of so many calls, in random order. Raises
        what a call raises."""
        chance = random.Random(self.seed)
        found: list[tuple[list[float], list[float]]] = [([], []) for _ in calls]
        bound = [[call.bound(each) for each in self.sets] for call in calls]
        loops = [[sets[index % SLOTS] for index in range(count)] for sets, count in zip(bound, counts)]
        with torch.no_grad(), on_core(core):
            for _ in range(rounds):
                for index in chance.sample(range(len(calls)), len(calls)):
                    for kept, microseconds in zip(found[index], self._timed(loops[index])):
                        kept.append(microseconds)
        return LoopTimes(*(tuple(tuple(each[clock]) for each in found) for clock in (0, 1)))

    def outputs(self, call: Prepared) -> list[Any]:
        """What the calls of a loop return that has one call on each input set."""
        kept: list[Any] = []

        def keeping(function: Callable[..., Any], *arguments: Any) -> None:
            kept.append(function(*arguments))

        with torch.no_grad():
            self._timed([(keeping, bound[:1] + bound[1]) for each in self.sets if (bound := call.bound(each))])
        return kept

    def _timed(self, loop: Sequence[tuple[Callable[..., Any], Sequence[Any]]]) -> tuple[float, float]:
        """Microseconds of one call of a loop: by the host's clock, which begins and ends with an idle device, and
        between two device events around the loop. On a CPU these are the same."""
        if self.fresh:
            self.draw()
        if self.flush is not None:
            self.flush.zero_()
        self.synchronise()
        start = time.perf_counter_ns()
        if self.events:
            self.events[0].record()
        for function, arguments in loop:
            function(*arguments)
        if self.events:
            self.events[1].record()
        self.synchronise()
        host = (time.perf_counter_ns() - start) / 1e3 / len(loop)
        return host, self.events[0].elapsed_time(self.events[1]) * 1e3 / len(loop) if self.events else host


def copied(returned: Any) -> Any:
    """A copy of what was returned, which later calls cannot overwrite."""
    if isinstance(returned, tuple | list):
        return tuple(copied(each) for each in returned)
    return returned.clone() if type(returned) is torch.Tensor else returned


def _nothing() -> None:
    return None


@contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Pin this thread to one core, if the system allows that, and turn garbage collection off."""
    before = os.sched_getaffinity(0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        if core is not None and core in before:
            os.sched_setaffinity(0, {core})
        yield
    finally:
        os.sched_setaffinity(0, before)
        if collecting:
            gc.enable()


def passnet_times(
    call: Callable[[list[Any]], Any], inputs: list[Any], warm_up: int, calls: int, core: int | None
) -> list[tuple[float, float]]:
    """Time calls as PassNet does, on the same inputs each time (its harness of May 2026).

    Microseconds of each call, after so many that do not count: by the host's clock, which begins and ends with an idle
    device, and between two device events around the call. Needs CUDA."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    found = []
    with torch.no_grad(), on_core(core):
        for _ in range(warm_up + calls):
            torch.cuda.synchronize()
            begun = time.perf_counter_ns()
            torch.manual_seed(PASSNET_SEED)
            start.record()
            call(inputs)
            end.record()
            torch.cuda.synchronize()
            ended = time.perf_counter_ns()
            found.append(((ended - begun) / 1e3, start.elapsed_time(end) * 1e3))
    return found[warm_up:]
