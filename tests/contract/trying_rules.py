"""Run bundles that the rules wrote through Triton's interpreter, in this process, and compare them with eager.

`python -m tests.contract.trying_rules [TASK…]` tries tasks of the corpus, or folders of tasks, and prints what differs.
It is far quicker than the judge, and no substitute for it."""

import os

os.environ["TRITON_INTERPRET"] = "1"

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.layout import read_task
from passnet_core.errors import PlaygroundError
from passnet_core.fx import modules
from passnet_core.graphs.placement import placed
from passnet_core.graphs.rewriting import rewrite
from passnet_core.graphs.source import parse
from passnet_core.judge.gpu_on_cpu import interpreter
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.stages.sizes import smaller
from passnet_core.operations.binding import bind
from passnet_core.records import Subgraph, Task, TensorSpec
from passnet_core.scoring.tolerances import tolerance
from passnet_core.solvers.rules.candidates import candidates
from passnet_core.solvers.rules.solver import written
from tests.loading import Loaded, loaded

CLOSE = "close from t ="
DATA = Path(__file__).resolve().parents[2] / "data"

interpreter.mend()


def drawn(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    """Values for an input; integers stay in their recorded range."""
    dtype = getattr(torch, spec.dtype)
    if dtype is torch.bool:
        return torch.rand(spec.shape, generator=generator) > 0.5
    if not dtype.is_floating_point:
        if spec.data is not None and len(spec.data) == math.prod(spec.shape):
            return torch.tensor(spec.data).reshape(spec.shape).to(dtype)
        low, high = int(spec.low or 0), int(spec.high if spec.high is not None else 3)
        return torch.randint(low, max(high, low) + 1, spec.shape, generator=generator).to(dtype)
    values = torch.randn(spec.shape, generator=generator) * 0.7
    if "var" in spec.original_name:
        values = values.abs() + 0.1
    return (values + 0.1).to(dtype)


def reduced(subgraph: Subgraph) -> Subgraph:
    """The subgraph with inputs of the least sizes at which the judge compares values without a GPU."""
    graph = placed(parse(subgraph.code), "cpu")
    steps = smaller(graph, subgraph.inputs, roles(graph, subgraph.inputs))
    if not steps:
        return subgraph
    pairs = zip(subgraph.inputs, steps[-1].shapes)
    return replace(subgraph, inputs=tuple(replace(spec, shape=shape) for spec, shape in pairs))


def difference(
    subgraph: Subgraph,
    passes: Loaded,
    seed: int = 0,
    *,
    strided: bool = False,
    inputs: Sequence[torch.Tensor] | None = None,
) -> str:
    """What is wrong with a subgraph after its passes: "" if nothing is. strided: its inputs lie in another order.
    inputs: drawn here by default."""
    graph = placed(parse(subgraph.code), "cpu")
    rewriting = rewrite(graph, passes.traced, bind=bind)
    if not any(report.matches for report in rewriting.reports):
        return "no pass matches"
    generator = torch.Generator().manual_seed(seed)
    inputs = inputs or [drawn(each, generator) for each in subgraph.inputs]
    if strided:
        inputs = [each.mT.contiguous().mT if each.dim() > 1 else each for each in inputs]
    with torch.no_grad():
        given, mine = [each.clone() for each in inputs], [each.clone() for each in inputs]
        wanted = modules.module_of(graph, {})(*given)
        found = modules.module_of(rewriting.graph, passes.functions)(*mine)
    for place, (one, other) in enumerate(zip(given, mine)):
        if problem := _unlike(one, other):
            return f"input {place} is changed otherwise: {problem}"
    problems = {
        place: text for place, (a, b) in enumerate(zip(_tuple(wanted), _tuple(found))) if (text := _unlike(a, b))
    }
    if problems and all(each.startswith(CLOSE) for each in problems.values()):
        # on some CPUs eager itself rounds more often in half precision
        precise = [each.double() if each.is_floating_point() else each for each in inputs]
        exact = modules.module_of(graph, {})(*precise)
        both = tuple(zip(_tuple(exact), _tuple(wanted), _tuple(found)))
        problems = {place: text for place, text in problems.items() if _is_worse(*both[place])}
    return "; ".join(f"output {place}: {text}" for place, text in problems.items())


def _is_worse(exact: torch.Tensor, wanted: torch.Tensor, found: torch.Tensor) -> bool:
    """Whether a result is further from the exact one than eager's is."""
    return bool((found.double() - exact).abs().max() > (wanted.double() - exact).abs().max())


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _unlike(wanted: Any, found: Any) -> str:
    if not isinstance(wanted, torch.Tensor):
        return "" if wanted == found else f"{found} is not {wanted}"
    if wanted.dtype != found.dtype or wanted.shape != found.shape:
        return f"{found.dtype} {tuple(found.shape)} is not {wanted.dtype} {tuple(wanted.shape)}"
    strides = [(a, b) for a, b, size in zip(wanted.stride(), found.stride(), wanted.shape) if size > 1]
    if any(a != b for a, b in strides):
        return f"strides {found.stride()} are not {wanted.stride()}"
    if not wanted.numel():
        return ""
    if not wanted.is_floating_point():
        return "" if torch.equal(wanted, found) else f"{int((wanted != found).sum())} of {wanted.numel()} differ"
    for t in (-5, -4, -3, -2, -1, 0):
        allowed = tolerance(str(wanted.dtype).removeprefix("torch."), t)
        if torch.allclose(found, wanted, rtol=allowed.rtol, atol=allowed.atol, equal_nan=True):
            return "" if t <= -3 else f"{CLOSE} {t} only, by {float((found - wanted).abs().max()):.3g}"
    return f"off by {float((found.double() - wanted.double()).abs().max()):.3g}"


def tasks_named(names: Sequence[str]) -> list[Task]:
    corpus = Corpus([DATA / "tasks"])
    if not names:
        return [corpus.task(each.id) for each in corpus.tasks() if each.split == "eval" or each.id in corpus.in_folders]
    found: list[Task] = []
    for name in names:
        if Path(name).is_dir() and not (Path(name) / "graphs").is_dir():
            found += [read_task(each) for each in sorted(Path(name).iterdir()) if each.is_dir()]
        else:
            found.append(corpus.resolve(name))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=2_000_000, help="skip subgraphs with more input elements")
    parser.add_argument("--each", type=int, default=3, help="subgraphs of each task to try, spread over them")
    parser.add_argument("--reduced", action="store_true", help="shrink inputs as the judge does without a GPU")
    parser.add_argument("--candidates", action="store_true", help="try all ways to write a task's bundle")
    parser.add_argument("--part", default="0/1", help="which part of the tasks, such as 1/2")
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_args(arguments)
    part, parts = map(int, options.part.split("/"))
    bad = tried = 0
    for task in tasks_named(options.tasks)[part::parts]:
        began = time.monotonic()
        try:
            found = candidates(task) if options.candidates else ()
            bundles = {f" ({each.name})": each.bundle for each in found} or {"": written(task).bundle}
        except PlaygroundError as problem:
            print(f"{task.id}: {problem}", flush=True)
            bad += 1
            continue
        subgraphs = [reduced(each) for each in task.subgraphs] if options.reduced else task.subgraphs
        small = [each for each in subgraphs if sum(math.prod(i.shape) for i in each.inputs) <= options.most]
        small = small or sorted(subgraphs, key=lambda each: sum(math.prod(i.shape) for i in each.inputs))[:1]
        chosen = small[:: max(1, len(small) // options.each)][: options.each]
        for way, bundle in bundles.items():
            with loaded(bundle) as passes:
                for subgraph in chosen:
                    tried += 1
                    try:
                        problem_text = difference(subgraph, passes)
                    except Exception as error:  # whatever a bundle does wrong
                        problem_text = f"{type(error).__name__}: {str(error)[:300]}"
                    if problem_text:
                        bad += 1
                        print(f"{task.id} {subgraph.id}{way}: {problem_text}", flush=True)
        if time.monotonic() - began > 20:
            print(f"  {task.id} took {time.monotonic() - began:.0f} s", flush=True)
    print(f"{tried} tried, {bad} problems")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
