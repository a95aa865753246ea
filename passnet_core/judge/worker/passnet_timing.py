"""Time calls as PassNet does, on the same inputs each time (its harness of May 2026)."""

import time
from collections.abc import Callable
from typing import Any

import torch

from passnet_core.judge.worker.timing_loop import on_core

SEED = 1024
"""What torch's seed is set to inside each timed call, which costs every contender the same tens of microseconds."""


def times(
    call: Callable[[list[Any]], Any], inputs: list[Any], warm_up: int, calls: int, core: int | None
) -> list[tuple[float, float]]:
    """Microseconds of each call, after so many that do not count: by the host's clock, which begins and ends with an
    idle device, and between two device events around the call. Needs CUDA."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    found = []
    with torch.no_grad(), on_core(core):
        for _ in range(warm_up + calls):
            torch.cuda.synchronize()
            begun = time.perf_counter_ns()
            torch.manual_seed(SEED)
            start.record()
            call(inputs)
            end.record()
            torch.cuda.synchronize()
            ended = time.perf_counter_ns()
            found.append(((ended - begun) / 1e3, start.elapsed_time(end) * 1e3))
    return found[warm_up:]
