"""The worker's loop for timed calls. For each call of a burst it draws fresh inputs on the device, waits for the
device, makes the call and times it, and begins a digest of what it returned. It answers once, at the end.

Both workers run this same loop for every contender. Its answers are not trusted: the referee times each call and what
lies between calls by marks that are sent right before and after a call, and then asks for what some of the calls
returned, which must have the digests that were sent."""

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.judge.numerics import output_digest
from passnet_core.judge.numerics.timed_inputs import Buffers
from passnet_core.judge.protocol.timed_calls import PlannedCall
from passnet_core.records import Clock, Device

Callee = Callable[[list[Any]], Any]

PASSNET_SEED = 1024
"""What torch's seed is set to inside each call that is timed as PassNet does, which costs every contender the same tens
of microseconds."""


@dataclass(frozen=True)
class TimedBurst:
    """The calls of a burst: microseconds and digest of each, and a copy of what it returned."""

    claimed_us: list[float]
    digests: list[int]
    outputs: list[Any]


def burst(
    functions: Sequence[Callee],
    calls: Sequence[PlannedCall],
    buffers: Buffers,
    clock: Clock,
    device: Device,
    core: int | None,
    mark: Callable[[], object],
) -> TimedBurst:
    """Make these calls. mark: tells the referee that a call begins or has ended. Raises what a call raises.

    Outputs are copied at once, so that no later call can overwrite what is digested and perhaps asked for. Copies and
    digests are queued behind the call; the next call begins when the device has finished them."""
    timed = _Timed(clock, device, mark)
    claimed, digests, outputs = [], [], []
    with torch.no_grad(), on_core(core):
        for each in calls:
            inputs = buffers.drawn(each.seed, each.slot)
            microseconds, returned = timed(functions[each.function], inputs)
            outputs.append(copied(returned))
            # free the outputs, as the next call of a model would
            del returned
            claimed.append(microseconds)
            digests.append(output_digest.begun(output_digest.listed(outputs[-1])))
        return TimedBurst(claimed, output_digest.finished(digests), outputs)


def copied(returned: Any) -> Any:
    """A copy of what was returned, which later calls cannot overwrite."""
    if isinstance(returned, tuple | list):
        return tuple(copied(each) for each in returned)
    return returned.clone() if type(returned) is torch.Tensor else returned


class _Timed:
    """Times one call on one clock, in microseconds."""

    def __init__(self, clock: Clock, device: Device, mark: Callable[[], object]) -> None:
        self.mark = mark
        self.synchronise: Callable[[], None] = torch.cuda.synchronize if device is Device.CUDA else _nothing
        self.flush: torch.Tensor | None = None
        self.events = clock in (Clock.EVENT, Clock.COLD)
        if self.events:
            self.start = torch.cuda.Event(enable_timing=True)
            self.end = torch.cuda.Event(enable_timing=True)
        if clock is Clock.COLD:
            size = 4 * torch.cuda.get_device_properties(0).L2_cache_size
            self.flush = torch.empty(max(size, 1 << 26), dtype=torch.uint8, device="cuda")

    def __call__(self, call: Callee, inputs: list[Any]) -> tuple[float, Any]:
        if self.flush is not None:
            self.flush.zero_()
        self.synchronise()
        self.mark()
        microseconds, returned = self._evented(call, inputs) if self.events else self._clocked(call, inputs)
        self.mark()
        return microseconds, returned

    def _clocked(self, call: Callee, inputs: list[Any]) -> tuple[float, Any]:
        start = time.perf_counter_ns()
        returned = call(inputs)
        self.synchronise()
        return (time.perf_counter_ns() - start) / 1e3, returned

    def _evented(self, call: Callee, inputs: list[Any]) -> tuple[float, Any]:
        self.start.record()
        returned = call(inputs)
        self.end.record()
        self.synchronise()
        return self.start.elapsed_time(self.end) * 1e3, returned


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
    call: Callee, inputs: list[Any], warm_up: int, calls: int, core: int | None
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
