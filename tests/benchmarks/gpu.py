"""python -m tests.benchmarks.gpu measures how far the judge's times can be trusted on this machine's GPU.

Both sides of an A/A pair are eager: the passes are eager once more, in place of the candidate. All of MEASURE runs,
including its checks. A slowdown is injected by making each time of the passes 5% longer. Eager's times are compared
with those of a tight loop in a process of its own, on inputs that stay the same, right before and after.
Several GPUs share the work: each measures its --share into a file --out, and --read joins the files.
"""

import argparse
import contextlib
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import torch

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.core import core
from passnet_core.errors import BadInput
from passnet_core.graphs import placement, source
from passnet_core.judge.numerics.input_draws import draw
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, LoopTimes, Preparation
from passnet_core.judge.stages import measure
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.supervisor import sandbox
from passnet_core.judge.supervisor.fork_server import WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import (
    NOISE_FLOOR,
    Bundle,
    Capture,
    Clock,
    Contender,
    Device,
    EvalSpec,
    Job,
    PassFile,
    Stage,
    Subgraph,
    Verdict,
    from_json,
    to_json,
)
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from tests.benchmarks.tight_loop import TightLoop
from tests.shares import share_of

SUBGRAPHS = 60
TRIALS = 40
SLOWDOWN = 1.05
PROCESSES = 3
"""How many pairs of processes share the subgraphs: two processes that run the same code may differ."""
BOUNDS = ((100.0, float("inf"), 0.01), (30.0, 100.0, 0.02), (0.0, 30.0, 0.03))
"""(from, to) microseconds of eager end to end, and how far the 95th percentile of the A/A ratio may be from 1."""


@dataclass(frozen=True)
class Pair:
    """An A/A measurement. ratio: the speedup of eager over eager, end to end. tight_us: eager's time in a tight
    loop, the mean of before and after."""

    subgraph: str
    eager_us: float
    tight_us: float
    ratio: float
    low: float
    high: float
    floor: str
    verdict: Verdict
    reason: str
    seconds: float
    slowed: bool


class Slower:
    """A client that lengthens the times of the passes."""

    def __init__(self, child: WorkerProcess, factor: float) -> None:
        self.child, self.factor = child, factor

    def loops(self, names: Sequence[str], *asked: Any, **more: Any) -> LoopTimes:
        made = self.child.loops(names, *asked, **more)
        factors = [self.factor if name == CallableName.PASSES else 1.0 for name in names]
        host, device = (
            tuple(tuple(us * factor for us in samples) for samples, factor in zip(clock, factors))
            for clock in (made.host_us, made.device_us)
        )
        return LoopTimes(host, device)

    def __getattr__(self, name: str) -> object:
        return getattr(self.child, name)


def pairs(subgraphs: Sequence[Subgraph], factor: float = 1.0) -> Iterator[Pair]:
    """Measure A/A pairs over these subgraphs, shared by PROCESSES pairs of processes. factor: by how much the passes
    are slowed. A subgraph that does not run, as one without room for both processes on the device, is left out."""
    bundle = Bundle((PassFile("same.py", ""),))
    share = -(-len(subgraphs) // PROCESSES)
    for start in range(0, len(subgraphs), share):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ending:
            pool = WorkerPool(WorkerPlace(sandbox.chosen("auto"), Path(folder)))
            ending.callback(pool.close)
            tight_loop = TightLoop()
            ending.callback(tight_loop.close)
            pool.refill(Device.CUDA, checking=False)
            candidate, witness = (
                WorkerProcess(fork_server, who, deadline_s=3600.0, lifetime_s=3600.0, compiling=True)
                for who, fork_server in (
                    ("candidate", pool.for_bundle(bundle.digest, Device.CUDA)),
                    ("witness", pool.ready("witness", Device.CUDA)),
                )
            )
            ending.callback(candidate.close)
            ending.callback(witness.close)
            candidate.settle()
            witness.settle()
            for subgraph in subgraphs[start : start + share]:
                try:
                    pair = _pair(subgraph, bundle, candidate, witness, tight_loop, factor)
                except CandidateFault as fault:
                    print(f"{subgraph.task_id} {subgraph.id}: left out: {fault}", file=sys.stderr, flush=True)
                else:
                    yield pair
                candidate.forget()
                witness.forget()


def _pair(
    subgraph: Subgraph,
    bundle: Bundle,
    candidate: WorkerProcess,
    witness: WorkerProcess,
    tight_loop: TightLoop,
    factor: float,
) -> Pair:
    graph = source.parse(subgraph.code)
    original = source.emit(placement.placed(graph, "cuda"))
    eager = Preparation(Contender.EAGER, original, Capture.DIRECT, Device.CUDA)
    inputs = draw(subgraph.inputs, "typical", 1, roles=roles(graph, subgraph.inputs))
    for child, name in ((witness, "eager"), (witness, "float64"), (candidate, "passes")):
        child.prepare(name, replace(eager, float64=name == "float64"))
        child.give(inputs)
        child.run(name)  # as VERIFY does before MEASURE
    job = Job(subgraph, bundle, EvalSpec(Stage.MEASURE, Device.CUDA))
    tight_us = [tight_loop.microseconds(subgraph)]
    start = time.monotonic()
    slower = Slower(candidate, factor)
    preparations = {"eager": eager, "baseline": replace(eager, contender=Contender.BASELINE), "passes": eager}
    asked = PreparedJob(job, graph, preparations, slower, witness, seed=1)  # type: ignore[arg-type]
    found = measure.measure(asked)
    seconds = time.monotonic() - start
    tight_us.append(tight_loop.microseconds(subgraph))
    timings = {each.contender: each for each in found.timings if each.clock is Clock.END_TO_END}
    own = [each for each in found.speedups if each.contender is Contender.PASSES and each.clock is Clock.END_TO_END]
    words = {each.topic: each.text for each in found.evidence}
    return Pair(
        subgraph=f"{subgraph.task_id} {subgraph.id}",
        eager_us=timings[Contender.EAGER].median if timings else 0.0,
        tight_us=fmean(tight_us),
        ratio=own[0].value if own else math.nan,
        low=own[0].low if own else math.nan,
        high=own[0].high if own else math.nan,
        floor=words.get(NOISE_FLOOR, ""),
        verdict=found.verdict,
        reason=found.reason,
        seconds=seconds,
        slowed=factor > 1,
    )


def chosen(corpus: Corpus, count: int) -> list[Subgraph]:
    """Choose subgraphs spread evenly over the core, the same ones each time."""
    found = [task.subgraphs[0] for task in core(corpus)]
    step = max(1, len(found) // count)
    return found[::step][:count]


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(found: Sequence[Pair]) -> Iterator[str]:
    """Yield the A/A pairs by size, as a Markdown table."""
    yield "| eager end to end | pairs | 95th percentile of |A/A − 1| | allowed | over a tight loop | no speedup | |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for low, high, allowed in BOUNDS:
        here = [each for each in found if low <= each.eager_us < high]
        sure = [each for each in here if not math.isnan(each.ratio)]
        if not sure:
            continue
        off = percentile([abs(each.ratio - 1) for each in sure], 0.95)
        name = f"{low:.0f} to {high:.0f} µs" if high < float("inf") else f"above {low:.0f} µs"
        loop = median(each.eager_us / each.tight_us for each in here)
        missed = "" if off <= allowed else "missed"
        yield f"| {name} | {len(here)} | {off:.1%} | {allowed:.0%} | {loop:.2f} | {len(here) - len(sure)} | {missed} |"


def report(found: Sequence[Pair]) -> Iterator[str]:
    """Yield all figures as Markdown."""
    same, slow = ([each for each in found if each.slowed is slowed] for slowed in (False, True))
    yield from table(same)
    verdicts = Counter(each.verdict.value for each in same)
    yield f"\nVerdicts on eager as a pass: {', '.join(f'{count} {name}' for name, count in verdicts.most_common())}."
    if slow:
        seen = sum(each.verdict is Verdict.SLOWER for each in slow)
        yield f"An injected slowdown of 5%, above 100 µs, was called slower in {seen} of {len(slow)} trials."
    if same:
        loop = median(each.eager_us / each.tight_us for each in same)
        yield f"Eager takes {loop:.2f} times as long as in a tight loop, median over {len(same)} subgraphs."
        yield f"MEASURE alone took {median(each.seconds for each in same):.1f} s, median over {len(same)} subgraphs."


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gpu", description=__doc__)
    parser.add_argument("--subgraphs", type=int, default=SUBGRAPHS)
    parser.add_argument("--trials", type=int, default=TRIALS, help="trials of the injected slowdown")
    parser.add_argument("--out", type=Path, metavar="FILE", help="append every pair to this file, as a JSON line")
    parser.add_argument("--share", default="1/1", metavar="N/OF", help="every OF-th subgraph and trial, from the N-th")
    parser.add_argument("--read", type=Path, nargs="+", metavar="FILE", help="measure nothing; report these files")
    options = parser.parse_args(arguments)
    try:
        share = share_of(options.share)
    except BadInput as error:
        parser.error(str(error))
    if options.read:
        lines = [line for file in options.read for line in file.read_text().splitlines()]
        print("\n".join(report([from_json(Pair, json.loads(line)) for line in lines])))
        return 0
    if not torch.cuda.is_available():
        print("This machine has no CUDA device; nothing was measured.", file=sys.stderr)
        return 3
    corpus = corpus_of(read_settings())

    def noted(found: Iterator[Pair]) -> list[Pair]:
        kept = []
        for each in found:
            kept.append(each)
            if options.out:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(to_json(each)) + "\n")
            print(
                f"{each.subgraph}: {each.eager_us:.1f} µs ({each.tight_us:.1f} in a loop),"
                f" ratio {each.ratio:.4f} ({each.low:.4f} to {each.high:.4f}),"
                f" {each.verdict.value}, {each.seconds:.1f} s. {each.floor}",
                flush=True,
            )
        return kept

    same = noted(pairs(chosen(corpus, options.subgraphs)[share]))
    large = [each for each in same if each.eager_us >= BOUNDS[0][0]]
    slow: list[Pair] = []
    if large and options.trials:
        names = [each.subgraph for each in large]
        wanted = [each for each in chosen(corpus, options.subgraphs) if f"{each.task_id} {each.id}" in names]
        repeated = sorted((wanted[index % len(wanted)] for index in range(options.trials)), key=wanted.index)
        slow = noted(pairs(repeated[share], SLOWDOWN))
    print(f"\nDevice: {torch.cuda.get_device_name(0)}, torch {torch.__version__}.\n")
    print("\n".join(report([*same, *slow])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
