"""Warm-up, and times that need several calls: kernels in the device trace, and replays of a CUDA graph.

Runs in the workers, in the same way for every contender. Loops of calls are timed in timing_loop."""

import gc
import math
import time
from collections.abc import Callable, Sequence
from functools import cache
from statistics import median
from typing import Any

import torch

from passnet_core.records import Device

Callee = Callable[[list[Any]], Any]

LEAST_WARM_UP_CALLS = 3
REPLAYS = 20
REPLAY_BLOCKS = 5
COPIED_BYTES = 256 << 20


def warm_up(call: Callee, inputs: list[Any], seconds: float, device: Device) -> None:
    """Call for about this many seconds, and at least LEAST_WARM_UP_CALLS times, waiting for the device after each call.
    Then collect garbage, so that none is collected soon."""
    with torch.no_grad():
        end = time.perf_counter() + seconds
        done = 0
        while done < LEAST_WARM_UP_CALLS or time.perf_counter() < end:
            call(inputs)
            _synchronise(device)
            done += 1
    gc.collect()
    gc.freeze()


def kernels(call: Callee, inputs: list[Any], calls: int) -> list[float]:
    """The kernel time of each of this many calls in microseconds, from the device trace. Needs CUDA."""
    with torch.no_grad():
        torch.cuda.synchronize()
        # torch.profiler.profile would load Inductor first, which takes seconds
        with torch.autograd.profiler.profile(use_cpu=False, use_device="cuda", use_kineto=True) as profile:
            for _ in range(calls):
                call(inputs)
                torch.cuda.synchronize()
    return per_call(device_activities(profile.function_events or ()), calls)


def replay(call: Callee, inputs: list[Any]) -> float | None:
    """The time of one replay of the call as a CUDA graph in microseconds; None if the call cannot be captured."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.no_grad(), torch.cuda.graph(graph):
            call(inputs)
    except RuntimeError:
        torch.cuda.synchronize()
        return None
    found = []
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(REPLAY_BLOCKS):
        torch.cuda.synchronize()
        start.record()
        for _ in range(REPLAYS):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end) * 1e3 / REPLAYS)
    return median(found)


@cache
def memory() -> tuple[float, int]:
    """(bytes per microsecond that a copy on the device reads and writes at best, bytes of the L2 cache). Measured once
    per process, before its first job, so that no candidate can influence it."""
    speed = max(_copying() for _ in range(REPLAY_BLOCKS))
    torch.cuda.empty_cache()
    return speed, int(torch.cuda.get_device_properties(0).L2_cache_size)


def _copying() -> float:
    """Bytes per microsecond that a copy on the device reads and writes."""
    source = torch.empty(COPIED_BYTES, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    target.copy_(source)
    end.record()
    torch.cuda.synchronize()
    return 2 * COPIED_BYTES / (start.elapsed_time(end) * 1e3)


def prime() -> None:
    """Run a first kernel and draw, so that no job has to wait for their initialisation. A first trace is not
    among them: see sandbox.environment."""
    from triton.runtime import driver

    driver.active.get_current_target()
    a = torch.zeros(8, device="cuda")
    generator = torch.Generator(device="cuda")
    a.normal_(generator=generator).random_(0, 2, generator=generator)
    torch.cuda.synchronize()


def device_activities(events: Sequence[Any]) -> list[tuple[float, float]]:
    """(start, duration) in microseconds of every kernel, copy and fill in a device trace."""
    found = []
    for event in events:
        on_device = event.device_type == torch.autograd.DeviceType.CUDA
        if on_device and not getattr(event, "is_user_annotation", False) and not event.name.startswith("ProfilerStep"):
            found.append((float(event.time_range.start), float(event.time_range.elapsed_us())))
    return found


def per_call(activities: Sequence[tuple[float, float]], calls: int) -> list[float]:
    """The device time of each call. If the calls do not all launch equally many kernels, each gets the mean."""
    ordered = [duration for _, duration in sorted(activities)]
    each, rest = divmod(len(ordered), calls)
    if rest or not each:
        return [math.fsum(ordered) / calls] * calls
    return [math.fsum(ordered[index * each : (index + 1) * each]) for index in range(calls)]


def _synchronise(device: Device) -> None:
    if device is Device.CUDA:
        torch.cuda.synchronize()
