"""Say how well the judge's input draws tell subgraphs from their mutants: the same computations with one slip each.

For each subgraph it counts the mutants that can differ by more than the judge's bound (on some of many draws of all
kinds), says how many of them the chosen draws tell apart on other seeds than those they were chosen on, and names the
rest. On the CPU, at reduced sizes.
python -m tools.telling [FOLDER] --split eval --sample 20 [--only TASK] [--every]
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from passnet_core.corpus.catalogue import Corpus
from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import emit, parse
from passnet_core.judge.numerics import telling_draws
from passnet_core.judge.numerics.input_draws import INPUT_DRAWS
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.numerics.local_bench import TrialBench
from passnet_core.judge.numerics.mutants import Mutant
from passnet_core.judge.protocol import encoding
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Preparation, Returned
from passnet_core.judge.protocol.reference_bench import TellingDraws
from passnet_core.judge.stages.sizes import small_shapes
from passnet_core.judge.worker import building
from passnet_core.judge.worker.staging import Staging
from passnet_core.records import Capture, Contender, Device, Subgraph

DATA = Path(__file__).resolve().parents[1] / "data" / "tasks"

MANY = tuple(f"{kind} {turn}" for turn in (3, 4, 5) for kind in INPUT_DRAWS)
"""The draws on which a mutant may show that it can differ, besides those that are tried for the choice."""


@dataclass(frozen=True)
class Told:
    """The findings on one subgraph. can_differ: how many mutants can. told: how many of them the chosen draws tell
    apart on new seeds; by_six: how many the six draws alone. missed: the names of the others. seconds: of processor
    time that choosing took."""

    can_differ: int
    told: int
    by_six: int
    missed: tuple[str, ...]
    chosen: TellingDraws
    seconds: float


class WitnessHere:
    """A witness in this process. Subgraphs are only parsed and emitted anew, but it is no sandbox."""

    def __init__(self) -> None:
        self.calls: dict[str, building.Prepared] = {}
        self.staging = Staging(Device.CPU)

    def prepare(self, name: str, preparation: Preparation) -> None:
        self.calls[name] = building.prepared(preparation, (), {})

    def give(self, inputs: Sequence[torch.Tensor | int]) -> None:
        self.staging.give(inputs)

    def run(self, name: str) -> Returned:
        try:
            seen = self.staging.call(self.calls[name])
        except Exception as error:  # a mutant may fail in any way
            raise CandidateFault("runtime", f"{type(error).__name__}: {error}") from error
        many = isinstance(seen.returned, tuple | list)
        values = seen.returned if many else (seen.returned,)
        outputs = tuple(map(encoding.produced, values, seen.shares))
        return encoding.placed(Returned(outputs, "tuple" if many else "", 0.0, changed=seen.changed), "cpu", copy=True)


def told(subgraph: Subgraph) -> Told:
    """Choose draws for a subgraph, and try them on new seeds. Raises CandidateFault if eager cannot run it."""
    graph = placed(parse(subgraph.code), "cpu")
    shapes = small_shapes(graph, subgraph.inputs, roles(graph, subgraph.inputs))
    specs = tuple(replace(spec, shape=shape) for spec, shape in zip(subgraph.inputs, shapes))
    asked = telling_draws.Asked(graph, specs, roles(graph, specs))
    witness = WitnessHere()
    eager = Preparation(Contender.EAGER, emit(graph), Capture.DIRECT, Device.CPU)
    witness.prepare(CallableName.EAGER, eager)
    witness.prepare(CallableName.FLOAT64, replace(eager, float64=True))
    witness.prepare(CallableName.MOVED, replace(eager, moved=True))

    def trial(seed: int) -> TrialBench:
        return TrialBench.of(asked, seed, witness, Device.CPU)

    def prepare(name: str, mutant: Mutant) -> None:
        witness.prepare(name, replace(eager, source=mutant.source))

    start = time.process_time()
    chosen = telling_draws.chosen(asked, trial, prepare)
    seconds = time.process_time() - start
    alive = telling_draws.prepared_mutants(asked, prepare)
    fresh = trial(1)
    by_six = telling_draws.told_apart(asked, fresh, INPUT_DRAWS, list(alive))
    left = [name for name in alive if name not in by_six]
    by_chosen = by_six | telling_draws.told_apart(asked, fresh, _further(chosen), left)
    left = [name for name in left if name not in by_chosen]
    possible = by_chosen | telling_draws.told_apart(asked, trial(2), (*telling_draws.others(asked), *MANY), left)
    missed = tuple(alive[name].name for name in alive if name in possible - by_chosen)
    return Told(len(possible), len(by_chosen), len(by_six), missed, chosen, seconds)


def _further(chosen: TellingDraws) -> tuple[str, ...]:
    return tuple(each for each in chosen.draws if each not in INPUT_DRAWS)


def _chosen_subgraphs(corpus: Corpus, asked: argparse.Namespace) -> list[Subgraph]:
    tasks = [each for each in corpus.tasks() if each.split == asked.split and (not asked.only or each.id == asked.only)]
    if asked.only and not tasks:
        tasks = [each for each in corpus.tasks() if each.id == asked.only]
    if asked.sample and len(tasks) > asked.sample:
        tasks = random.Random(0).sample(tasks, asked.sample)
    found = [corpus.task(each.id).subgraphs for each in tasks]
    return [subgraph for each in found for subgraph in (each if asked.every else each[:1])]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.telling", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA, help="a corpus; the bundled one by default")
    parser.add_argument("--split", default="eval")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only so many tasks, always the same ones")
    parser.add_argument("--only", default="", metavar="TASK")
    parser.add_argument("--every", action="store_true", help="all subgraphs of a task, not the first one only")
    asked = parser.parse_args(arguments)
    # small tensors: a second thread would only wait for the first
    torch.set_num_threads(1)
    subgraphs = _chosen_subgraphs(Corpus([asked.folder]), asked)
    if not subgraphs:
        print(f"No task fits. Choose another --split, or one of the tasks in {asked.folder} with --only.")
        return 1
    totals = [0, 0, 0]
    for subgraph in subgraphs:
        try:
            found = told(subgraph)
        except CandidateFault as fault:
            print(f"{subgraph.task_id}/{subgraph.id}: eager fails: {fault.text}")
            continue
        totals = [sum(each) for each in zip(totals, (found.can_differ, found.told, found.by_six))]
        further = ", ".join(_further(found.chosen)) or "none"
        print(
            f"{subgraph.task_id}/{subgraph.id}: {found.told} of {found.can_differ} told apart"
            f" ({found.by_six} by the six), further draws: {further}; {found.seconds:.1f} s",
            flush=True,
        )
        if found.chosen.untried:
            print(f"    the limit of work left out: {found.chosen.untried} mutants")
        for name in found.missed:
            print(f"    not told apart: {name}")
        for name in found.chosen.untold:
            print(f"    within the bound on all draws: {name}")
        for name in found.chosen.alike:
            print(f"    equal on all draws: {name}")
    print(f"{totals[1]} of {totals[0]} mutants that can differ are told apart ({totals[2]} by the six draws alone).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
