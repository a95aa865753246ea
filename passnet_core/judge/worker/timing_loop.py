"""The worker's loop for timed calls. Each call has three steps, which the worker answers one by one: it draws fresh
inputs from the referee's seed; on the referee's word it makes the call and times it; it sends a digest of the result.

Both workers run this same loop for every contender. Its answers are not trusted: the referee times each of the steps by
its own clock, and asks at random for what a call returned, which must have the digest that was sent."""

import gc
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from passnet_core.judge.numerics.output_digest import digest, listed
from passnet_core.judge.numerics.timed_inputs import Buffers
from passnet_core.judge.protocol.timed_calls import ANSWERED, ASKED, END, GO, KEEP
from passnet_core.records import Clock, Device

SPIN_S = 1.0
"""How many seconds to poll for the next seed before waiting, since a sleeping core wakes up slowly."""

Callee = Callable[[list[Any]], Any]


# --- the loop --------------------------------------------------------------------------------------------------------


def serve(
    receive: Callable[[int], bytes],
    send: Callable[[bytes], None],
    call: Callee,
    buffers: Buffers,
    clock: Clock,
    device: Device,
    core: int | None,
) -> list[Any]:
    """Serve timed calls until told to end. Return what the kept calls returned, in order. If a step raises, answer with
    NaN as its time, then let the exception pass."""
    timed = _Timed(clock, device)
    kept: list[Any] = []
    previous: Any = None
    with torch.no_grad(), _on_core(core):
        while True:
            seed, slot, flags = ASKED.unpack(receive(ASKED.size))
            if flags & KEEP:
                kept.append(copied(previous))
            if flags & END:
                return kept
            try:
                inputs = buffers.drawn(seed, slot)
                timed.synchronise()
                send(ANSWERED.pack(0.0, 0))
                receive(len(GO))
                microseconds, previous = timed(call, inputs)
                send(ANSWERED.pack(microseconds, 0))
                answer = ANSWERED.pack(0.0, digest(listed(previous)))
            except BaseException:  # candidate code may raise anything; the referee waits for an answer, then the reason
                send(ANSWERED.pack(math.nan, 0))
                raise
            send(answer)


def copied(returned: Any) -> Any:
    """A copy of what was returned, which later calls cannot overwrite."""
    if isinstance(returned, tuple | list):
        return tuple(copied(each) for each in returned)
    return returned.clone() if type(returned) is torch.Tensor else returned


class _Timed:
    """Times one call on one clock, in microseconds."""

    def __init__(self, clock: Clock, device: Device) -> None:
        self.synchronise: Callable[[], object] = torch.cuda.synchronize if device is Device.CUDA else _nothing
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
        if self.events:
            self.start.record()
            returned = call(inputs)
            self.end.record()
            self.synchronise()
            return self.start.elapsed_time(self.end) * 1e3, returned
        start = time.perf_counter_ns()
        returned = call(inputs)
        self.synchronise()
        return (time.perf_counter_ns() - start) / 1e3, returned


def _nothing() -> None:
    return None


@contextmanager
def _on_core(core: int | None) -> Iterator[None]:
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
