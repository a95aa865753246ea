"""python -m tests.benchmarks.tight_loop times eager's calls in a tight loop, on the same inputs, with no judge beside.

It reads subgraphs as JSON, one a line, and answers each with the microseconds of a call: the median over loops of about
a millisecond, at whose end alone it waits for the device."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from passnet_core.graphs import placement, source
from passnet_core.judge.numerics.input_draws import draw
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol.messages import Preparation
from passnet_core.judge.supervisor.device_lock import steady_core
from passnet_core.judge.worker import building, timing
from passnet_core.judge.worker.timing_loop import on_core
from passnet_core.records import Capture, Contender, Device, Subgraph, from_json, to_json

SECONDS = 0.2
LEAST_CALLS = 7
LOOP_US = 1_000.0


class TightLoop:
    """The loop in a process of its own, which holds the device's context between subgraphs."""

    def __init__(self) -> None:
        arguments = [sys.executable, "-m", "tests.benchmarks.tight_loop"]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def microseconds(self, subgraph: Subgraph) -> float:
        """The median time of a call of eager."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(to_json(subgraph)) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def eager_of(subgraph: Subgraph, device: Device) -> tuple[building.Prepared, list[Any]]:
    """Eager's callable as the judge prepares it, and inputs on the device."""
    graph = source.parse(subgraph.code)
    original = source.emit(placement.placed(graph, device.value))
    call = building.prepared(Preparation(Contender.EAGER, original, Capture.DIRECT, device), (), {})
    return call, inputs_of(subgraph, device)


def inputs_of(subgraph: Subgraph, device: Device) -> list[Any]:
    """Typical inputs on the device, the same each time."""
    drawn = draw(subgraph.inputs, "typical", 1, roles=roles(source.parse(subgraph.code), subgraph.inputs))
    return [each.to(device.value) if isinstance(each, torch.Tensor) else each for each in drawn]


def times_us(call: Callable[[list[Any]], Any], inputs: list[Any], seconds: float) -> list[float]:
    """The microseconds of one call after the other, for so long, and of a few calls at least."""
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < LEAST_CALLS:
        start = time.perf_counter_ns()
        call(inputs)
        torch.cuda.synchronize()
        found.append((time.perf_counter_ns() - start) / 1e3)
    return found


def _median_us(call: building.Prepared, inputs: list[Any]) -> float:
    timing.warm_up(call, inputs, SECONDS, Device.CUDA)
    function, arguments = call.bound(inputs)
    found: list[float] = []
    with torch.no_grad(), steady_core() as core, on_core(core):
        count = max(1, int(LOOP_US / median(times_us(call, inputs, SECONDS))))
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end or len(found) < LEAST_CALLS:
            start = time.perf_counter_ns()
            for _ in range(count):
                function(*arguments)
            torch.cuda.synchronize()
            found.append((time.perf_counter_ns() - start) / 1e3 / count)
    return median(found)


def main() -> None:
    for line in sys.stdin:
        print(_median_us(*eager_of(from_json(Subgraph, json.loads(line)), Device.CUDA)), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
