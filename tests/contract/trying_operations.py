"""Have the rules write passes for torch's own samples of its operations, and run them beside eager.

python -m tests.contract.trying_operations [--each N] [--dtype NAME ...] [--all] prints for each operation how many of
its samples the rules wrote, how many they left to PyTorch and why, and what is wrong. --each: how many samples of each
operation are tried. --all: show operations too of which nothing was written."""

import os

os.environ["TRITON_INTERPRET"] = "1"

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch

from passnet_core.bundles.static_rules.findings import findings
from passnet_core.errors import BadInput
from passnet_core.fx import signatures
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, substituted
from passnet_core.graphs.source import emit, parse
from passnet_core.operations.table import spelling
from passnet_core.records import Family, Subgraph, Task, TensorSpec, digest_of
from passnet_core.solvers.rules.explained import explained
from tests.contract.trying_rules import difference
from tests.loading import loaded
from tools.describing import ObservedCall, samples, watch

MOST_ELEMENTS = 1 << 12
"""Larger samples are not tried: the interpreter would take long."""


@dataclass
class Tried:
    """What came of an operation's samples. left: how many for each reason. wrong: a sentence for each that is."""

    written: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def subgraph_of(call: ObservedCall) -> Subgraph | None:
    """A subgraph that makes this call and returns what it gives; None if a subgraph cannot."""
    names = [f"in_{place}" for place in range(len(call.given))]
    values = {str(place): Ref(name) for place, name in enumerate(names)}
    args = tuple(substituted(each, dict(values)) for each in call.node.args)
    kwargs = tuple((name, substituted(each, dict(values))) for name, each in call.node.kwargs)
    node = Node("tmp_0", call.node.kind, call.node.target, args, kwargs)
    graph = Graph((*(Node(name, NodeKind.INPUT, "") for name in names), node), (Ref("tmp_0"),))
    if signatures.refusal(graph):
        return None
    try:
        code = emit(graph)
        parse(code)
    except BadInput:
        return None
    return Subgraph("sample", "sample", "none", code, tuple(map(_spec, names, call.given)))


def _spec(name: str, value: torch.Tensor) -> TensorSpec:
    whole = not value.is_floating_point() and not value.is_complex()
    data = tuple(value.double().flatten().tolist()) if whole else None
    return TensorSpec(name, tuple(value.shape), str(value.dtype).removeprefix("torch."), data=data)


def chosen(dtypes: Sequence[torch.dtype], each: int) -> Iterator[tuple[str, Subgraph]]:
    """Yield so many samples of each operation, by what they are: the same ones each time."""
    found: dict[str, dict[str, Subgraph]] = defaultdict(dict)

    def note(call: ObservedCall) -> None:
        if call.given and sum(value.numel() for value in call.given) <= MOST_ELEMENTS:
            subgraph = subgraph_of(call)
            if subgraph is not None:
                found[spelling(call.node)][digest_of([subgraph.code, str(subgraph.inputs)])] = subgraph

    watch(samples(dtypes), note)
    for operation, by_digest in sorted(found.items()):
        yield from ((operation, by_digest[digest]) for digest in sorted(by_digest)[:each])


def tried(subgraphs: Iterator[tuple[str, Subgraph]]) -> dict[str, Tried]:
    """What the rules make of these subgraphs, by operation."""
    results: dict[str, Tried] = defaultdict(Tried)
    for operation, subgraph in subgraphs:
        result = results[operation]
        try:
            problem = _problem(subgraph)
        except BadInput as error:
            result.left[str(error).removeprefix("The rules write no pass for sample: ").rstrip(".")] += 1
            continue
        except Exception as error:  # what goes wrong with a sample is reported, and the others are tried
            problem = f"{type(error).__name__}: {error}"
        if problem:
            line = subgraph.code.strip().splitlines()[-2].strip()
            shapes = [(each.dtype, each.shape) for each in subgraph.inputs]
            result.wrong.append(f"{line} of {shapes}: {problem}")
        else:
            result.written += 1
    return results


def _problem(subgraph: Subgraph) -> str:
    """What is wrong with what the rules write for a subgraph. Raises BadInput if they write nothing."""
    bundle = explained(Task("sample", Family.SINGLE, "", (subgraph,))).bundle
    if broken := findings(bundle):
        return f"it breaks a rule: {broken[0]}"
    with loaded(bundle) as passes:
        return difference(subgraph, passes)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=1 << 30, metavar="N")
    parser.add_argument("--dtype", action="append", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true", help="print what is wrong, and how many were written, as JSON")
    args = parser.parse_args(given)
    results = tried(chosen([getattr(torch, each) for each in args.dtype or ["float32"]], args.each))
    wrong = [f"{name}: {each}" for name, result in results.items() for each in result.wrong]
    written = {name: result.written for name, result in results.items() if result.written}
    if args.json:
        print(json.dumps({"operations": len(results), "written": written, "wrong": wrong}))
        return
    for name, result in results.items():
        if args.all or result.written or result.wrong:
            reason = max(result.left, key=result.left.__getitem__, default="")
            print(f"{name:<52}{result.written:>6}{result.left.total():>6}{len(result.wrong):>6}  {reason[:80]}")
    print(
        f"{len(written)} of {len(results)} operations have a sample that was written; {len(wrong)} samples are wrong."
    )
    print(*wrong, sep="\n")


if __name__ == "__main__":
    main()
