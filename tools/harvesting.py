"""Cuts whole models into tasks of the three families: single operations, what Inductor fuses, and typical stretches.

In three steps, of which the first takes hours and goes on where it was:
python -m tools.harvesting cut --out FOLDER        one pack for each architecture
python -m tools.harvesting join FOLDER --out FILE  look-alikes in one task, in one pack
python -m tools.harvesting choose FILE --out FILE  a benchmark of some hundreds of them
"""

import argparse
import contextlib
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.evaluation import Specs
from passnet_core.corpus.packs import SUFFIX, Pack, packs_in, write_pack
from passnet_core.corpus.partitioning import Partition, bytes_of, joined
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.graphs.ir import Graph
from passnet_core.records import Family, Task
from tools.architectures import ARCHITECTURES, Architecture
from tools.choosing import chosen
from tools.extraction import built, captured, traced
from tools.trying import problem_of

BATCHES = {"float32": (8, 64, 256), "float16": (16, 128, 512), "bfloat16": (32, 256)}
"""Beyond the architecture's own sizes, for each dtype."""

MOST_MEMBERS = 60
"""Of one task of the bundled benchmark: of as many models, dtypes and sizes as possible."""

TRIED_BYTES = 64 << 20
"""Of the inputs of subgraphs that are run before they are chosen."""

BREAKDOWNS = (
    PlaygroundError, ImportError, RuntimeError, ValueError, TypeError, LookupError, AttributeError, AssertionError,
    ArithmeticError, OSError,
)  # fmt: skip
"""What a model of another library raises where its settings do not fit together; the others are still to be cut."""


Graphs = list[tuple[Graph, Specs]]


def harvested(architecture: Architecture) -> Iterator[Task]:
    """All tasks that this architecture gives, one for each sequence of operations and family."""
    partition = Partition()
    for place, graphs in _met(architecture):
        partition.add(graphs, place, architecture.name)
    yield from partition.tasks()


def _met(architecture: Architecture) -> Iterator[tuple[str, Graphs]]:
    """The architecture's graphs in every dtype and size, with the first part of their subgraphs' names.

    Computed once, at the first size in single precision: the others differ in shapes alone, unless the model says
    otherwise.
    """
    import torch

    kind, _, length = architecture.sizes[0]
    computed: list[Graphs] = []
    for dtype, batches in BATCHES.items():
        model = built(architecture).to(getattr(torch, dtype))
        for number, size in enumerate((*architecture.sizes, *((kind, batch, length) for batch in batches))):
            graphs = _retraced(model, dtype, size, computed)
            if graphs is None and number < len(architecture.sizes):
                graphs = list(captured(architecture, dtype, size))
                computed.append(graphs)
            if graphs is not None:
                yield f"{dtype}/{number}", graphs


def _retraced(model: Any, dtype: str, size: tuple[str, int, int], computed: Sequence[Graphs]) -> Graphs | None:
    """The model's graphs at that size, where they are those of one that was computed."""
    with contextlib.suppress(*BREAKDOWNS):
        return traced(model, dtype, size, computed) if computed else None
    return None


def _runs(task: Task) -> bool:
    """Whether the subgraphs that are not too large for that run here."""
    small = [each for each in task.subgraphs if bytes_of(each.inputs) <= TRIED_BYTES]
    problems = [f"{task.id}/{each.id}: left out: {problem}" for each in small if (problem := problem_of(each, "cpu"))]
    print(*problems, sep="\n", end="\n" * bool(problems), file=sys.stderr, flush=True)
    return not problems


def cut(architectures: Sequence[Architecture], out: Path, jobs: int = 1) -> int:
    """Writes a pack for each architecture that has none yet, and returns how many failed."""
    wanted = [(each, path) for each in architectures if not (path := out / f"{each.name}{SUFFIX}").exists()]
    out.mkdir(parents=True, exist_ok=True)
    if jobs == 1:
        return sum(not _cut_one(*each) for each in wanted)
    # a process for each: what a model leaves behind in torch.compile is gone with it
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        return sum(not done for done in pool.starmap(_cut_one, wanted, chunksize=1))


def _cut_one(architecture: Architecture, path: Path) -> bool:
    start = time.monotonic()
    try:
        tasks = list(harvested(architecture))
    except BREAKDOWNS as error:
        print(f"{architecture.name}: left out: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return False
    write_pack(path, tasks)
    counts = Counter(task.family.value for task in tasks)
    words = ", ".join(f"{counts[family.value]} {family.value}" for family in Family)
    subgraphs = sum(len(task.subgraphs) for task in tasks)
    seconds = time.monotonic() - start
    print(f"{architecture.name}: {words} tasks, {subgraphs} subgraphs ({seconds:.0f} s)", flush=True)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, or 1 where an architecture could not be cut, or 2 for wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.harvesting",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    steps = parser.add_subparsers(dest="step", required=True)
    cutting = steps.add_parser("cut", help="one pack for each architecture; those that are there are kept")
    cutting.add_argument("--only", nargs="+", metavar="ARCHITECTURE", help="names of architectures; default: all")
    cutting.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    cutting.add_argument("--jobs", type=int, default=1, metavar="N", help="processes, each with some GB of memory")
    joining = steps.add_parser("join", help="all packs of a folder into one")
    joining.add_argument("folder", type=Path)
    joining.add_argument("--out", type=Path, required=True, metavar="FILE")
    choosing = steps.add_parser("choose", help="some hundreds of the tasks of a pack, as varied as possible")
    choosing.add_argument("file", type=Path)
    choosing.add_argument("--beside", type=Path, metavar="FOLDER", help="of tasks whose like is not chosen")
    choosing.add_argument("--out", type=Path, required=True, metavar="FILE")
    asked = parser.parse_args(arguments)
    try:
        if asked.step == "cut":
            wanted = [each for each in ARCHITECTURES if not asked.only or each.name in asked.only]
            missing = set(asked.only or ()) - {each.name for each in wanted}
            if missing:
                raise BadInput(f"There is no architecture {', '.join(sorted(missing))}.")
            return 1 if cut(wanted, asked.out, max(1, asked.jobs)) else 0
        if not asked.out.name.endswith(SUFFIX):
            raise BadInput(f"The name must end with {SUFFIX}.")
        if asked.step == "choose":
            pack = Pack(asked.file)
            beside = [folder for folder in (asked.beside,) if folder]
            taken = [task.operators for task in Corpus(beside).tasks()]
            tasks = list(chosen([pack.task(name) for name in sorted(pack.entries)], taken, _runs))
        else:
            packs = [Pack(path) for path in packs_in(asked.folder)]
            if not packs:
                raise BadInput(f"{asked.folder} has no packs.")
            tasks = list(joined(packs, MOST_MEMBERS))
        write_pack(asked.out, tasks)
        print(f"{len(tasks)} tasks, {sum(len(task.subgraphs) for task in tasks)} subgraphs.")
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
