"""Have the judge check an honest pass beside each of torch's operations.

python -m tests.contract.judging_operations [--each N] [--dtype NAME ...] [--part I/N] [--device cuda] [--json]: in a
graph that makes a call and adds 1 to its results, the rules write the addition, and the judge compares the whole.
Prints how many calls got each verdict, and those that were not called right. --part: only each Nth operation, from the
Ith on."""

import os

os.environ["TRITON_INTERPRET"] = "1"

import argparse
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch.utils._pytree import tree_leaves

from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.fx import modules
from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import parse
from passnet_core.records import (
    Bundle,
    Device,
    EvalSpec,
    Family,
    Job,
    Outcome,
    Stage,
    Subgraph,
    Task,
    TensorSpec,
    Verdict,
)
from passnet_core.solvers.rules.regions import FusedRegion, Surveyed
from passnet_core.solvers.rules.solver import written_for
from tests.contract.trying_operations import chosen, sample_of
from tests.waiting import seconds
from tools.describing import ObservedCall


def additions(call: ObservedCall) -> tuple[Subgraph, Bundle] | None:
    """A subgraph that adds 1 to what a call gives, with a bundle that replaces the additions; None if the rules write
    none."""
    sample, alone = sample_of(call, read=True), sample_of(call)
    if sample is None or alone is None:
        return None
    graph, here = parse(sample.subgraph.code), placed(parse(alone.subgraph.code), "cpu")
    with torch.no_grad():
        whole = tree_leaves(modules.module_of(here, {})(*(each.clone() for each in alone.given)))
    if not all(isinstance(each, torch.Tensor) for each in whole):
        return None
    last = [node for node in graph.operations if node.name in graph.returned]
    sources = dict(zip([node.inputs[0] for node in last], whole, strict=True))
    captured: dict[str, TensorSpec | None] = {
        name: TensorSpec(name, tuple(value.shape), str(value.dtype).removeprefix("torch."))
        for name, value in sources.items()
    }
    surveyed = Surveyed(sample.subgraph, graph, captured)
    for name in (node.name for node in graph.operations if node not in last):
        surveyed.libraries.add(name)
    regions = [FusedRegion((node.name,), node.inputs[:1], (node.name,)) for node in last]
    task = Task("sample", Family.SINGLE, "", (sample.subgraph,))
    try:
        return sample.subgraph, written_for(task, [(surveyed, regions)]).bundle
    except BadInput:
        return None


def jobs(dtypes: Sequence[torch.dtype], each: int, part: tuple[int, int]) -> Iterator[tuple[str, Subgraph, Bundle]]:
    """Yield the name of each operation with a subgraph that calls it, and a bundle for that."""
    for name, _, call in chosen(dtypes, each, part):
        if "empty" in name:
            continue  # what they hold is not defined
        try:
            found = additions(call)
        except Exception:  # a call that cannot run again
            continue
        if found is not None:
            yield name, *found


def judged(found: Iterator[tuple[str, Subgraph, Bundle]], device: Device) -> Iterator[tuple[str, Subgraph, Outcome]]:
    """Yield what the judge says of each."""
    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(2) as lanes:
        backend = LocalBackend(sys.executable, "auto", Path(home), judges=2, checkers=0)

        def judge(subgraph: Subgraph, bundle: Bundle) -> Outcome:
            job = Job(subgraph, bundle, EvalSpec(stage=Stage.VERIFY, device=device, deadline_s=seconds(60)))
            return backend.run(job, lambda event: None, threading.Event())

        try:
            asked = [(name, subgraph, lanes.submit(judge, subgraph, bundle)) for name, subgraph, bundle in found]
            for name, subgraph, outcome in asked:
                yield name, subgraph, outcome.result()
        finally:
            backend.close()


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=1, metavar="N")
    parser.add_argument("--dtype", action="append", metavar="NAME")
    parser.add_argument("--part", default="0/1", metavar="I/N")
    parser.add_argument("--device", type=Device, default=Device.CPU)
    parser.add_argument("--json", action="store_true", help="print the verdicts, and those that are wrong, as JSON")
    args = parser.parse_args(given)
    first, step = map(int, args.part.split("/"))
    verdicts: Counter[str] = Counter()
    wrong: list[str] = []
    for name, subgraph, outcome in judged(
        jobs([getattr(torch, each) for each in args.dtype or ["float32"]], args.each, (first, step)), args.device
    ):
        verdicts[outcome.verdict.value] += 1
        if outcome.verdict is not Verdict.VALUES_ONLY:
            call = next(line.strip() for line in subgraph.code.splitlines() if " = " in line)
            shapes = [(each.dtype, each.shape) for each in subgraph.inputs]
            wrong.append(f"{name}: {outcome.verdict.value}: {call} of {shapes}: {outcome.reason}")
    if args.json:
        print(json.dumps({"verdicts": verdicts, "wrong": wrong}))
        return
    print(*wrong, sep="\n")
    print(", ".join(f"{each}: {count}" for each, count in verdicts.most_common()))


if __name__ == "__main__":
    main()
