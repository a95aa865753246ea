"""python -m tests.benchmarks.decompose says what makes a call in a burst slower than one in a tight loop.

It times eager's calls of some subgraphs of the core, with more and more of what a burst has: a pinned core, work on the
host between the calls, marks, inputs drawn on the device, copies and digests of the outputs. It does so in a free
process, in one that has a worker's limits and filter of system calls, and in two that have taken a device trace before,
of which one took the tracer down.

Clocks of a shared host wander by a factor of two within seconds: run it several times, and compare the least times.
"""

import argparse
import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import torch

from passnet_core.corpus.core import core
from passnet_core.graphs import source
from passnet_core.judge.numerics import output_digest, timed_inputs
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol import framing, timed_calls
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.device_lock import steady_core
from passnet_core.judge.worker import timing, timing_loop
from passnet_core.records import Clock, Device, Subgraph
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from tests.benchmarks.tight_loop import eager_of

TASKS = ("merge-heads", "layer-norm-getitem-7615b3", "not-fcaf32", "linear-add-layer-norm-3f701e")
CALLS = 200
PAUSE_US = 200.0
ROUNDS = 60


def rows(subgraph: Subgraph, device: Device) -> Iterator[tuple[str, float]]:
    """Yield the name of each way to call, and the median microseconds of a call."""
    call, given = eager_of(subgraph, device)
    known = roles(source.parse(subgraph.code), subgraph.inputs)
    buffers = timed_inputs.Buffers(timed_inputs.fills(subgraph.inputs, known), given, device)
    here, there = socket.socketpair()
    timing.warm_up(call, given, 0.2, device)

    def same() -> list[Any]:
        return given

    def after_a_pause() -> list[Any]:
        end = time.perf_counter_ns() + PAUSE_US * 1e3
        while time.perf_counter_ns() < end:
            pass
        return given

    seeds = itertools.count(1)

    def drawn() -> list[Any]:
        seed = next(seeds)
        return buffers.drawn(seed, seed % timed_calls.SLOTS)

    def digested(returned: Any) -> None:
        output_digest.begun(output_digest.listed(timing_loop.copied(returned)))

    yield "tight loop", _median(call, device, same)
    with steady_core() as chosen, timing_loop.on_core(chosen):
        yield "on the judge's core", _median(call, device, same)
        yield f"after {PAUSE_US:.0f} µs of Python", _median(call, device, after_a_pause)
        yield "inputs drawn before", _median(call, device, drawn)
        yield "copied and digested behind", _median(call, device, same, digested)
        yield "both", _median(call, device, drawn, digested)
        made = timing_loop.burst(
            [call],
            timed_calls.planned(1, 1, ROUNDS),
            buffers,
            Clock.END_TO_END,
            device,
            chosen,
            lambda: framing.send_mark(there, timed_calls.MARK),
        )
        framing.receive_marks(here, timed_calls.MARK, ROUNDS * 2)
        yield "burst", median(made.claimed_us)


def _median(
    call: Callable[[list[Any]], Any],
    device: Device,
    before: Callable[[], list[Any]],
    after: Callable[[Any], object] = lambda returned: None,
) -> float:
    wait = torch.cuda.synchronize if device is Device.CUDA else lambda: None
    found = []
    with torch.no_grad():
        for _ in range(CALLS):
            inputs = before()
            wait()
            start = time.perf_counter_ns()
            returned = call(inputs)
            wait()
            found.append((time.perf_counter_ns() - start) / 1e3)
            after(returned)
    return median(found[CALLS // 10 :])


KINDS: Mapping[str, Mapping[str, str]] = {
    "free": {},
    "confined": {},
    "traced": {"TEARDOWN_CUPTI": "0"},
    "traced, taken down": {"TEARDOWN_CUPTI": "1"},
}
"""The kinds of processes, with the variables in the environment of each."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.decompose", description=__doc__)
    parser.add_argument("--device", choices=[each.value for each in Device], default="cuda")
    parser.add_argument("--only", nargs="+", default=TASKS, metavar="TASK", help="tasks of the core")
    parser.add_argument("--kind", choices=KINDS, help="only this kind of process, with the environment as it is")
    options = parser.parse_args()
    if options.kind is None:
        common = ["--device", options.device, "--only", *options.only]
        for kind, variables in KINDS.items():
            arguments = [sys.executable, "-m", "tests.benchmarks.decompose", "--kind", kind, *common]
            if code := subprocess.run(arguments, env={**os.environ, **variables}, check=False).returncode:
                return code
        return 0
    device = Device(options.device)
    subgraphs = [task.subgraphs[0] for task in core(corpus_of(read_settings())) if task.id in options.only]
    if options.kind == "confined":
        sandbox.limit_this_process(device=device, cpu_s=1e6)
        sandbox.confine_this_process(device)
    if options.kind.startswith("traced") and device is Device.CUDA:
        timing.kernels(lambda inputs: inputs[0] + 1, [torch.zeros(8, device="cuda")], 2)
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    speculation = [line for line in status if line.startswith("Speculation")]
    print(f"{options.kind}: {'; '.join(speculation)}", flush=True)
    for subgraph in subgraphs:
        cells = ", ".join(f"{name} {us:.1f}" for name, us in rows(subgraph, device))
        print(f"{subgraph.task_id} {subgraph.id}, µs a call: {cells}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
