"""Cut whole models into tasks of the three families: single operations, what Inductor fuses, and typical stretches.

There are three steps. The first takes hours, and resumes if interrupted:
python -m tools.harvesting cut --out FOLDER        one pack for each architecture
python -m tools.harvesting join FOLDER --out FILE  one pack, with like subgraphs in one task
python -m tools.harvesting choose FILE --out FILE  a benchmark of some hundred tasks
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
"""Batches for each dtype, in addition to the architecture's own sizes."""

MOST_MEMBERS = 60
"""Most subgraphs of a task in the bundled benchmark: of as many models, dtypes and sizes as possible."""

TRIED_BYTES = 64 << 20
"""Most bytes of the inputs of a subgraph that is run before it is chosen."""

BREAKDOWNS = (
    PlaygroundError, ImportError, RuntimeError, ValueError, TypeError, LookupError, AttributeError, AssertionError,
    ArithmeticError, OSError,
)  # fmt: skip
"""What another library's model raises if its settings do not fit together; the other models must still be cut."""


Graphs = list[tuple[Graph, Specs]]


def harvested(architecture: Architecture) -> Iterator[Task]:
    """Yield the tasks of this architecture, one for each sequence of operations and family."""
    partition = Partition()
    for place, graphs in _met(architecture):
        partition.add(graphs, place, architecture.name)
    yield from partition.tasks()


def _met(architecture: Architecture) -> Iterator[tuple[str, Graphs]]:
    """Yield the architecture's graphs in every dtype and size, with the first part of their subgraphs' names.

    They are computed once, at the first size in single precision. The others differ only in shapes; where they do not,
    they are computed too.
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
    """Return the model's graphs at that size if they equal computed ones except for shapes, else None."""
    with contextlib.suppress(*BREAKDOWNS):
        return traced(model, dtype, size, computed) if computed else None
    return None


def _runs(task: Task) -> bool:
    """Whether the task's subgraphs run on this CPU, as far as their inputs are small enough to try."""
    small = [each for each in task.subgraphs if bytes_of(each.inputs) <= TRIED_BYTES]
    problems = [f"{task.id}/{each.id}: left out: {problem}" for each in small if (problem := problem_of(each, "cpu"))]
    print(*problems, sep="\n", end="\n" * bool(problems), file=sys.stderr, flush=True)
    return not problems


def cut(architectures: Sequence[Architecture], out: Path, jobs: int = 1) -> int:
    """Write a pack for each architecture that has none yet, and return how many failed."""
    wanted = [(each, path) for each in architectures if not (path := out / f"{each.name}{SUFFIX}").exists()]
    out.mkdir(parents=True, exist_ok=True)
    if jobs == 1:
        return sum(not _cut_one(*each) for each in wanted)
    # one process per model: what it leaves behind in torch.compile ends with the process
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
    """Return exit code 0, or 1 if an architecture could not be cut, or 2 for wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.harvesting",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    steps = parser.add_subparsers(dest="step", required=True)
    cutting = steps.add_parser("cut", help="write one pack per architecture; existing packs are kept")
    cutting.add_argument("--only", nargs="+", metavar="ARCHITECTURE", help="names of architectures; default: all")
    cutting.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    cutting.add_argument("--jobs", type=int, default=1, metavar="N", help="processes, each with some GB of memory")
    joining = steps.add_parser("join", help="join all packs of a folder into one")
    joining.add_argument("folder", type=Path)
    joining.add_argument("--out", type=Path, required=True, metavar="FILE")
    choosing = steps.add_parser("choose", help="choose some hundred tasks of a pack, as varied as possible")
    choosing.add_argument("file", type=Path)
    choosing.add_argument("--beside", type=Path, metavar="FOLDER", help="tasks whose operations are not chosen again")
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
