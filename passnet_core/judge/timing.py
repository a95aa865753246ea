"""The three clocks, for whichever callable: the same wrapper for every contender. Runs in the child processes."""

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from passnet_core.records import Clock, Device

Callee = Callable[[list[Any]], Any]

LEAD_CALLS = 3
"""Calls at the start of a block that are not timed: another process had the device until now."""

LEAST_WARM_UP_CALLS = 3


def warm_up(call: Callee, inputs: list[Any], seconds: float, device: Device) -> None:
    """Calls for about so many seconds, at least thrice, and waits for the device."""
    with torch.no_grad():
        end = time.perf_counter() + seconds
        done = 0
        while done < LEAST_WARM_UP_CALLS or time.perf_counter() < end:
            call(inputs)
            _synchronise(device)
            done += 1


def block(call: Callee, inputs: list[Any], clock: Clock, calls: int, device: Device) -> list[float]:
    """Microseconds of each of so many calls, on this clock. Raises ValueError for a device clock without a device."""
    if device is Device.CPU and clock is not Clock.END_TO_END:
        raise ValueError(f"The {clock.value} clock needs a GPU.")
    with torch.no_grad(), _undisturbed():
        for _ in range(LEAD_CALLS):
            call(inputs)
        _synchronise(device)
        return CLOCKS[clock](call, inputs, calls, device)


def _end_to_end(call: Callee, inputs: list[Any], calls: int, device: Device) -> list[float]:
    samples = []
    synchronise = torch.cuda.synchronize if device is Device.CUDA else _nothing
    now = time.perf_counter_ns
    for _ in range(calls):
        start = now()
        call(inputs)
        synchronise()
        samples.append((now() - start) / 1e3)
    return samples


def _event(call: Callee, inputs: list[Any], calls: int, device: Device) -> list[float]:
    samples = []
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    for _ in range(calls):
        start.record()
        call(inputs)
        end.record()
        torch.cuda.synchronize()
        samples.append(start.elapsed_time(end) * 1e3)
    return samples


def _kernel(call: Callee, inputs: list[Any], calls: int, device: Device) -> list[float]:
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(calls):
            call(inputs)
            torch.cuda.synchronize()
    return per_call(device_activities(profile.events() or ()), calls)


def device_activities(events: Sequence[Any]) -> list[tuple[float, float]]:
    """(start, duration) in microseconds of every kernel, copy and fill in a device trace."""
    found = []
    for event in events:
        on_device = event.device_type == torch.autograd.DeviceType.CUDA
        if on_device and not getattr(event, "is_user_annotation", False) and not event.name.startswith("ProfilerStep"):
            found.append((float(event.time_range.start), float(event.time_range.elapsed_us())))
    return found


def per_call(activities: Sequence[tuple[float, float]], calls: int) -> list[float]:
    """Device time of each call. Where the calls do not all launch equally many kernels, each gets the mean."""
    ordered = [duration for _, duration in sorted(activities)]
    each, rest = divmod(len(ordered), calls)
    if rest or not each:
        return [math.fsum(ordered) / calls] * calls
    return [math.fsum(ordered[index * each : (index + 1) * each]) for index in range(calls)]


CLOCKS: dict[Clock, Callable[[Callee, list[Any], int, Device], list[float]]] = {
    Clock.END_TO_END: _end_to_end,
    Clock.EVENT: _event,
    Clock.KERNEL: _kernel,
}


def _synchronise(device: Device) -> None:
    if device is Device.CUDA:
        torch.cuda.synchronize()


def _nothing() -> None:
    return None


@contextmanager
def _undisturbed() -> Iterator[None]:
    """No garbage collection inside."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
