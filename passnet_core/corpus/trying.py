"""Runs every subgraph of a corpus once on this machine, and lists those that do not run.

A developer's program, apart from the app: python -m passnet_core.corpus.trying FOLDER --device cuda --jobs 8
"""

import argparse
import math
import multiprocessing
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import emit, parse
from passnet_core.records import Subgraph, TensorSpec

BLOCK = 1 << 20
"""Random numbers that are drawn of a tensor; they repeat in a larger one."""


def problem_of(subgraph: Subgraph, device: str) -> str:
    """Why it does not run on "cpu" or "cuda" with inputs as recorded, or an empty string."""
    import torch

    namespace: dict[str, Any] = {}
    # parsed and emitted again: what runs is a list of tensor operations, whatever the file held
    exec(compile(emit(placed(parse(subgraph.code), device), release=True), subgraph.id, "exec"), namespace)
    try:
        with torch.no_grad():
            results = namespace["GraphModule"]()(*(_drawn(spec, device) for spec in subgraph.inputs))
            if device == "cuda":
                torch.cuda.synchronize()
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    return "" if all(isinstance(each, torch.Tensor) for each in results) else "It returns something that is no tensor."


def _drawn(spec: TensorSpec, device: str) -> Any:
    import torch

    dtype, count = getattr(torch, spec.dtype), math.prod(spec.shape)
    block = min(count, BLOCK)
    if dtype is torch.bool:
        drawn = torch.rand(block, device=device) < 0.5
    elif dtype.is_floating_point or dtype.is_complex:
        drawn = torch.randn(block, device=device) * (spec.std or 0.1) + (spec.mean or 0.0)
        drawn = drawn.clamp(spec.low, spec.high) if spec.low is not None else drawn
    else:
        drawn = torch.randint(int(spec.low or 0), int(spec.high or 0) + 1, (block,), device=device)
    whole = drawn.to(dtype).repeat(-(-count // max(block, 1)))[:count]
    return whole.reshape(spec.shape)


def _share(folder: Path, device: str, number: int, of: int) -> tuple[int, list[tuple[str, str]]]:
    """(how many were run, which of them do not run and why) of every of-th task, from that number on."""
    import torch

    torch.set_num_threads(1)
    corpus, count = Corpus([folder]), 0
    problems: list[tuple[str, str]] = []
    for summary in corpus.tasks()[number::of]:
        for subgraph in corpus.task(summary.id).subgraphs:
            count += 1
            if problem := problem_of(subgraph, device):
                problems.append((f"{summary.id}/{subgraph.id}", problem))
    return count, problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 where all run, 1 where some do not, 2 for wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m passnet_core.corpus.trying",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    asked = parser.parse_args(arguments)
    start = time.monotonic()
    try:
        if asked.jobs < 1 or not Corpus([asked.folder]).tasks():
            raise BadInput("--jobs is at least 1." if asked.jobs < 1 else f"{asked.folder} has no tasks.")
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        # more shares than jobs, so that a slow one does not hold up the end
        shares = [(asked.folder, asked.device, number, 8 * asked.jobs) for number in range(8 * asked.jobs)]
        found = pool.starmap(_share, shares, chunksize=1)
    for name, problem in sorted(each for _, problems in found for each in problems):
        print(f"{name}: {problem}")
    count, failed = sum(count for count, _ in found), sum(len(problems) for _, problems in found)
    print(f"{count - failed} of {count} subgraphs run on {asked.device} ({time.monotonic() - start:.0f} s).")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
