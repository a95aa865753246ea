"""Use the bundles that come with the playground in models for which they were not judged.

python -m tests.contract.using_bundles [--each N] [--seed N] [--part I/N] [--rest inductor] [--samples] [--json]: each
bundle in N programs around the operations of its task, with inputs of other dtypes, sizes and layouts, under autocast,
with changes in place before and after. --samples: instead, all bundles together on N samples of each of torch's own
operations. Each program runs three times with the bundles and without; prints what differs, and what raises an
exception that eager does not raise. --part: only each Nth bundle or operation, from the Ith on."""

import os

os.environ["TRITON_INTERPRET"] = "1"

import argparse
import copy
import json
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from passnet_core.bundles.reading import read_bundle
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.solved import read_solved
from passnet_core.fx import modules
from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import parse
from passnet_core.integrate import PassBackend
from passnet_core.integrate.bundles import found as named
from passnet_core.judge.gpu_on_cpu import interpreter
from passnet_core.judge.numerics.input_draws import draw
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.stages.sizes import small_shapes
from passnet_core.records import Bundle, Subgraph
from passnet_core.settings import BUNDLED_DATA, rules_file
from tests.contract.trying_operations import chosen, sample_of

CLOSE = {torch.float16: 2e-2, torch.bfloat16: 1e-1, torch.float32: 1e-3, torch.float64: 1e-7}
"""By which share of an element and of the mean element two results may differ: more is no rounding."""
TURNS = 3
MOST_ELEMENTS = 200_000
"""Beyond so many elements of inputs, which cannot always shrink, the interpreter takes minutes."""

Inputs = list[Any]
Program = Callable[..., Any]


@dataclass(frozen=True)
class Use:
    """A bundle in a program. name: the bundle, the inputs and the program."""

    name: str
    backend: PassBackend
    program: Program
    inputs: Inputs


# --- inputs -----------------------------------------------------------------------------------------------------------


def floats(inputs: Inputs) -> list[int]:
    return [at for at, each in enumerate(inputs) if isinstance(each, torch.Tensor) and each.is_floating_point()]


def in_dtype(dtype: torch.dtype) -> Callable[[Inputs, random.Random], Inputs]:
    def change(inputs: Inputs, chance: random.Random) -> Inputs:
        return [each.to(dtype) if at in floats(inputs) else each for at, each in enumerate(inputs)]

    return change


def one_in_half(inputs: Inputs, chance: random.Random) -> Inputs:
    at = chance.choice(floats(inputs))
    return [*inputs[:at], inputs[at].half(), *inputs[at + 1 :]]


def sizes(inputs: Inputs) -> list[int]:
    return sorted({size for each in inputs if isinstance(each, torch.Tensor) for size in each.shape if size > 1})


def resized(inputs: Inputs, chance: random.Random) -> Inputs:
    """All axes of one size in another size."""
    old = chance.choice(sizes(inputs))
    new = chance.choice([1, 2, old - 1, old // 2, 0])
    return [_cut(each, [new if size == old else size for size in each.shape]) for each in inputs]


def broadcast(inputs: Inputs, chance: random.Random) -> Inputs:
    """One axis of one input in size 1."""
    at = chance.choice([at for at, each in enumerate(inputs) if isinstance(each, torch.Tensor) and each.dim()])
    shape = list(inputs[at].shape)
    shape[chance.randrange(len(shape))] = 1
    return [*inputs[:at], _cut(inputs[at], shape), *inputs[at + 1 :]]


def _cut(value: Any, shape: Sequence[int]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value[tuple(slice(size) for size in shape)].contiguous()


def transposed(inputs: Inputs, chance: random.Random) -> Inputs:
    return [each.mT.contiguous().mT if isinstance(each, torch.Tensor) and each.dim() > 1 else each for each in inputs]


def sliced(inputs: Inputs, chance: random.Random) -> Inputs:
    return [
        torch.stack([each, each], -1)[..., 0] if isinstance(each, torch.Tensor) and each.dim() else each
        for each in inputs
    ]


def expanded(inputs: Inputs, chance: random.Random) -> Inputs:
    return [
        each[:1].expand(each.shape) if isinstance(each, torch.Tensor) and each.dim() > 1 and len(each) > 1 else each
        for each in inputs
    ]


def doubled(inputs: Inputs, chance: random.Random) -> Inputs:
    """The same tensor for all inputs that look like one."""
    met: dict[Any, Any] = {}
    return [
        met.setdefault((each.shape, each.dtype), each) if isinstance(each, torch.Tensor) else each for each in inputs
    ]


INPUTS: Mapping[str, Callable[[Inputs, random.Random], Inputs]] = {
    "as they are": lambda inputs, chance: inputs,
    "float16": in_dtype(torch.float16),
    "bfloat16": in_dtype(torch.bfloat16),
    "float64": in_dtype(torch.float64),
    "int64": in_dtype(torch.int64),
    "one in float16": one_in_half,
    "resized": resized,
    "broadcast": broadcast,
    "transposed": transposed,
    "sliced": sliced,
    "expanded": expanded,
    "the same twice": doubled,
}


# --- programs ---------------------------------------------------------------------------------------------------------


def under_autocast(function: Program) -> Program:
    def program(*inputs: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return function(*inputs)

    return program


def after_a_change(function: Program) -> Program:
    def program(*inputs: Any) -> Any:
        _changed(inputs)
        return function(*inputs), inputs

    return program


def before_a_change(function: Program) -> Program:
    def program(*inputs: Any) -> Any:
        results = function(*inputs)
        _changed(inputs)
        return results, inputs

    return program


def with_changed_results(function: Program) -> Program:
    def program(*inputs: Any) -> Any:
        results = function(*inputs)
        _changed(tree_leaves(results))
        return results, inputs

    return program


def _changed(values: Sequence[Any]) -> None:
    for each in values:
        if isinstance(each, torch.Tensor) and each.is_floating_point():
            each.flatten().add_(1.0)
            each.mul_(0.5)


def viewed(function: Program) -> Program:
    def program(*inputs: Any) -> Any:
        results = [each for each in tree_leaves(function(*inputs)) if isinstance(each, torch.Tensor)]
        return [each.as_strided((each.numel() // 2,), (1,)) for each in results], [each + 0 for each in results]

    return program


def twice(function: Program) -> Program:
    def program(*inputs: Any) -> Any:
        return function(*inputs), function(
            *(each.clone() if isinstance(each, torch.Tensor) else each for each in inputs)
        )

    return program


PROGRAMS: Mapping[str, Callable[[Program], Program]] = {
    "alone": lambda function: function,
    "under autocast": under_autocast,
    "after a change of the inputs": after_a_change,
    "before a change of the inputs": before_a_change,
    "with its results changed": with_changed_results,
    "with its results viewed": viewed,
    "twice": twice,
}


# --- uses -------------------------------------------------------------------------------------------------------------


def bundles() -> Iterator[tuple[str, Bundle, Subgraph]]:
    """The reference bundles and those of the rules, each with a subgraph of its task."""
    corpus = Corpus([BUNDLED_DATA / "tasks"])
    for about in sorted((BUNDLED_DATA / "bundles").glob("*/about.json")):
        for task in json.loads(about.read_text())["tasks"]:
            yield about.parent.name, read_bundle(about.parent), corpus.task(task).subgraphs[0]
    for task, bundle in read_solved(rules_file()).items():
        yield task, bundle, corpus.task(task).subgraphs[0]


def samples(each: int, part: tuple[int, int], rest: str) -> Iterator[Use]:
    """Calls of torch's operations, each with all bundles."""
    backend = PassBackend(
        [named(bundle) for bundle in {bundle.digest: bundle for _, bundle, _ in bundles()}.values()], rest
    )
    for name, _, call in chosen([torch.float32], each, part):
        try:
            sample = sample_of(call)
        except Exception:  # a call that cannot run again
            continue
        if sample is not None and "empty" not in name:
            program = modules.module_of(placed(parse(sample.subgraph.code), "cpu"), {}).forward
            yield Use(name, backend, program, list(sample.given))


def uses(each: int, seed: int, part: tuple[int, int], rest: str) -> Iterator[Use]:
    first, step = part
    for number, (name, bundle, subgraph) in enumerate(bundles()):
        if number % step != first:
            continue
        chance = random.Random(f"{seed} {name}")
        graph = placed(parse(subgraph.code), "cpu")
        function = modules.module_of(graph, {}).forward
        known = roles(graph, subgraph.inputs)
        given = draw(
            subgraph.inputs, "typical", seed, roles=known, shapes=small_shapes(graph, subgraph.inputs, known),
            device="cpu",
        )  # fmt: skip
        if sum(each.numel() for each in given if isinstance(each, torch.Tensor)) > MOST_ELEMENTS:
            continue
        for _ in range(each):
            change, around = chance.choice(list(INPUTS)), chance.choice(list(PROGRAMS))
            try:
                inputs = INPUTS[change](list(given), chance)
            except (IndexError, RuntimeError):  # there is no such input
                continue
            backend = PassBackend([named(bundle)], rest)
            yield Use(f"{name}, {change}, {around}", backend, PROGRAMS[around](function), inputs)


def difference(use: Use) -> tuple[str, int]:
    """What is different with the bundle, empty if nothing is, and how many matches were replaced. Raises
    LookupError if eager does not run either, or Dynamo cannot capture it."""
    torch._dynamo.reset()
    given = copy.deepcopy(use.inputs)
    try:
        wanted = tree_leaves(use.program(*given))
    except Exception as error:
        raise LookupError from error
    replaced_before = _replaced(use.backend)
    compiled = torch.compile(use.program, backend=use.backend, dynamic=False)
    for turn in range(TURNS):
        own = copy.deepcopy(use.inputs)
        try:
            found = tree_leaves(compiled(*own))
        except (
            torch._dynamo.exc.TorchRuntimeError
        ) as error:  # Dynamo cannot capture the program, with passes or without
            raise LookupError from error
        except Exception as error:
            return f"call {turn} raises {type(error).__name__}: {str(error)[:300]}", 0
        for what, one, other in (("result", wanted, found), ("input", given, own)):
            for place, (before, after) in enumerate(zip(one, other, strict=True)):
                if problem := _problem(before, after, use.backend.rest):
                    return f"call {turn}, {what} {place}: {problem}", 0
    return "", _replaced(use.backend) - replaced_before


def differs_without(use: Use) -> bool:
    """Whether Inductor alone differs from eager in this program, or raises."""
    torch._dynamo.reset()
    wanted = tree_leaves(use.program(*copy.deepcopy(use.inputs)))
    try:
        compiled = torch.compile(use.program, backend="inductor", dynamic=False)
        found = tree_leaves(compiled(*copy.deepcopy(use.inputs)))
    except Exception:  # whatever Inductor raises
        return True
    return any(_problem(before, after, "inductor") for before, after in zip(wanted, found, strict=True))


def _replaced(backend: PassBackend) -> int:
    return sum(graph.count for graph in backend.explain().graphs)


def _problem(wanted: Any, found: Any, rest: str) -> str:
    if not isinstance(wanted, torch.Tensor):
        return "" if wanted == found or wanted != wanted else f"{found} in place of {wanted}"
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype}{list(found.shape)} in place of {wanted.dtype}{list(wanted.shape)}"
    if wanted.layout is not torch.strided or wanted.is_quantized:
        wanted, found = (each.dequantize() if each.is_quantized else each.to_dense() for each in (wanted, found))
    axes = zip(wanted.shape, wanted.stride(), found.stride())
    if wanted.numel() and any(one != two for size, one, two in axes if size > 1):
        return f"strides {found.stride()} in place of {wanted.stride()}"
    if not (wanted.is_floating_point() or wanted.is_complex()):
        return "" if torch.equal(wanted, found) else "other values"
    one, other = (each.to(torch.complex128 if each.is_complex() else torch.float64) for each in (wanted, found))
    usual = one[one.isfinite()].abs().mean().nan_to_num() if one.numel() else 0.0
    # what a graph computes in float32 in between, Inductor rounds otherwise
    share = max(CLOSE.get(wanted.dtype, 1e-2), 1e-5 if rest == "inductor" else 0.0)
    close = (one - other).abs() <= share * (one.abs() + usual)
    wrong = ~(close | (one == other) | (one.isnan() & other.isnan()))
    return f"{int(wrong.sum())} of {wrong.numel()} elements differ" if wrong.any() else ""


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--part", default="0/1", metavar="I/N")
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("--rest", choices=("eager", "inductor"), default="eager")
    parser.add_argument("--json", action="store_true", help="print the counts and what differs as JSON")
    args = parser.parse_args(given)
    interpreter.mend()
    warnings.simplefilter("ignore")
    first, step = map(int, args.part.split("/"))
    counts: Counter[str] = Counter()
    different: list[str] = []
    with torch.no_grad():
        part = (first, step)
        for use in samples(args.each, part, args.rest) if args.samples else uses(args.each, args.seed, part, args.rest):
            try:
                problem, matches = difference(use)
            except LookupError:
                counts["eager fails"] += 1
                continue
            if problem and args.rest == "inductor" and differs_without(use):
                counts["Inductor differs without bundles"] += 1
                continue
            counts["different" if problem else "replaced" if matches else "left alone"] += 1
            if problem:
                different.append(f"{use.name}: {problem}")
                print(different[-1], file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps({"counts": counts, "different": different}))
    else:
        print(*different, ", ".join(f"{name}: {count}" for name, count in counts.most_common()), sep="\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
