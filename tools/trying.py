"""Run every subgraph of a corpus once on this machine, and list those that do not run. With --kernels, compile one
subgraph of each fusible task with Inductor instead, and count the kernels that a call launches on the GPU.

Use it for your own corpora only: subgraphs consist of torch calls, but they run in no sandbox.
python -m tools.trying FOLDER --device cuda --jobs 8 [--kernels]
"""

import argparse
import functools
import math
import multiprocessing
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.running import drawn, module_of
from passnet_core.errors import BadInput
from passnet_core.records import Family, Subgraph

FAILURES = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, AssertionError)
"""What torch raises for a subgraph that it cannot run."""


def problem_of(subgraph: Subgraph, device: str) -> str:
    """Return why a subgraph does not run on "cpu" or "cuda" with inputs drawn as recorded, or an empty string."""
    import torch

    try:
        with torch.no_grad():
            results = module_of(subgraph, device)(*(drawn(spec, device) for spec in subgraph.inputs))
            if device == "cuda":
                torch.cuda.synchronize()
    except FAILURES as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    return "" if all(isinstance(each, torch.Tensor) for each in results) else "It returns something that is no tensor."


def kernels_of(subgraph: Subgraph) -> tuple[int, int]:
    """Return how many kernels of Inductor's own, and how many of libraries, the compiled subgraph launches per call."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch._dynamo.reset()
    inputs = [drawn(spec, "cuda") for spec in subgraph.inputs]
    with torch.no_grad():
        compiled = torch.compile(module_of(subgraph, "cuda"), dynamic=False)
        for _ in range(2):
            compiled(*inputs)
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            compiled(*inputs)
            torch.cuda.synchronize()
    names = [each.name for each in seen.events() if each.device_type is torch.autograd.DeviceType.CUDA]
    kernels = [name for name in names if not name.startswith(("Memcpy", "Memset"))]
    own = sum(name.startswith("triton_") for name in kernels)
    return own, len(kernels) - own


Name = tuple[str, str]
"""(task id, subgraph id)."""


def _share(folder: Path, device: str, names: Sequence[Name]) -> tuple[int, list[tuple[str, str]], Sequence[Name]]:
    """Return how many were tried, which of them do not run and why, and those left over after the device failed."""
    import torch

    torch.set_num_threads(1)
    corpus = Corpus([folder])
    problems: list[tuple[str, str]] = []
    for place, (task_id, subgraph_id) in enumerate(names, 1):
        if problem := problem_of(corpus.subgraph(task_id, subgraph_id), device):
            problems.append((f"{task_id}/{subgraph_id}", problem))
            if device == "cuda" and not _alive():
                return place, problems, names[place:]
    return len(names), problems, ()


def _alive() -> bool:
    """Whether this process can still use its GPU; after a failed device assertion it cannot."""
    import torch

    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def _tried(folder: Path, device: str, jobs: int) -> int:
    corpus = Corpus([folder])
    names = [(summary.id, each.id) for summary in corpus.tasks() for each in corpus.task(summary.id).subgraphs]
    start, count, failed = time.monotonic(), 0, 0
    share = functools.partial(_share, folder, device)
    # more shares than jobs, so that one slow share does not delay the end
    shares: list[Sequence[Name]] = [names[number :: 16 * jobs] for number in range(16 * jobs)]
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1 if device == "cuda" else None) as pool:
        while shares:
            rest = []
            for number, problems, left in pool.imap_unordered(share, filter(None, shares)):
                count, failed = count + number, failed + len(problems)
                rest += [left] if left else []
                for name, problem in problems:
                    print(f"{name}: {problem}", flush=True)
                print(f"{count:,} of {len(names):,}", file=sys.stderr, flush=True)
            shares = rest
    print(f"{count - failed} of {count} subgraphs run on {device} ({time.monotonic() - start:.0f} s).")
    return 1 if failed else 0


def _counted(folder: Path, number: int, of: int) -> list[tuple[str, tuple[int, int] | str]]:
    """Count the kernels of the smallest subgraph of every of-th fusible task, or say why that failed."""
    corpus = Corpus([folder])
    found: list[tuple[str, tuple[int, int] | str]] = []
    fusible = [summary for summary in corpus.tasks() if summary.family is Family.FUSIBLE]
    for summary in fusible[number::of]:
        subgraph = min(corpus.task(summary.id).subgraphs, key=elements)
        try:
            found.append((f"{summary.id}/{subgraph.id}", kernels_of(subgraph)))
        except FAILURES as error:
            found.append((f"{summary.id}/{subgraph.id}", f"{type(error).__name__}: {error}".splitlines()[0]))
    return found


def elements(subgraph: Subgraph) -> int:
    """Return the number of elements of all inputs together."""
    return sum(math.prod(spec.shape) for spec in subgraph.inputs)


def _print_kernels(found: Sequence[tuple[str, tuple[int, int] | str]]) -> int:
    counted = [(name, count) for name, count in found if not isinstance(count, str)]
    for name, what in sorted(found):
        if isinstance(what, str):
            print(f"{name}: {what}")
        elif what[0] > 1:
            print(f"{name}: {what[0]} kernels of Inductor's own, {what[1]} of libraries")
    fused = sum(own <= 1 for _, (own, _) in counted)
    print(f"Of {fused} of {len(counted)} fusible subgraphs Inductor makes at most one kernel of its own.")
    return 0 if len(counted) == len(found) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Return exit code 0 if all subgraphs run, 1 if some do not, 2 for wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.trying",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--kernels", action="store_true", help="count what Inductor launches; needs --device cuda")
    asked = parser.parse_args(arguments)
    try:
        if asked.jobs < 1 or not Corpus([asked.folder]).tasks():
            raise BadInput("--jobs is at least 1." if asked.jobs < 1 else f"{asked.folder} has no tasks.")
        if asked.kernels and asked.device != "cuda":
            raise BadInput("--kernels needs --device cuda: kernels are counted on a GPU.")
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    if not asked.kernels:
        return _tried(asked.folder, asked.device, asked.jobs)
    jobs = [(asked.folder, number, 4 * asked.jobs) for number in range(4 * asked.jobs)]
    with multiprocessing.get_context("spawn").Pool(asked.jobs, maxtasksperchild=1) as pool:
        return _print_kernels([each for part in pool.starmap(_counted, jobs, chunksize=1) for each in part])


if __name__ == "__main__":
    sys.exit(main())
