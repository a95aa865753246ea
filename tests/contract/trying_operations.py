"""Have the rules write passes for torch's own samples of its operations, and run them beside eager.

python -m tests.contract.trying_operations [--each N] [--dtype NAME ...] [--part I/N] [--all] prints for each operation
of torch's database how many of its samples the rules wrote, how many they left to PyTorch and why, and what is wrong.
--each: how many samples of each spelling of an operation are tried. --part: only each Nth operation, from the Ith on.
--all: show operations too of which nothing was written.

What is only a view is written together with the operation that reads it: then it is tried with a + 1."""

import os

os.environ["TRITON_INTERPRET"] = "1"

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from passnet_core.bundles.static_rules.findings import findings
from passnet_core.errors import BadInput
from passnet_core.fx import signatures
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, substituted
from passnet_core.graphs.source import emit, parse
from passnet_core.graphs.vocabulary import operator_family
from passnet_core.operations.table import spelling
from passnet_core.records import Family, Subgraph, Task, TensorSpec, digest_of
from passnet_core.solvers.rules.solver import explained
from tests.contract.trying_rules import difference
from tests.loading import loaded
from tools.describing import ObservedCall, samples_of, watch

COVERED = {
    "pointwise": "elementwise", "reduction": "reductions", "normalisation": "normalisations",
    "softmax": "normalisations", "layout": "views", "indexing": "indexing",
}  # fmt: skip
"""Families of operations that the rules write, or leave for a reason, with the words of the table for them."""
OF_CLASS = {"UnaryUfuncInfo": "elementwise", "BinaryUfuncInfo": "elementwise", "ReductionOpInfo": "reductions"}
"""Classes of torch's descriptions, with the family of all of them."""

ALL_LEFT = "they leave all of its operations to PyTorch."

MOST_ELEMENTS = 1 << 12
"""Larger samples are not tried: the interpreter would take long."""


@dataclass
class Tried:
    """What came of an operation's samples. left: how many for each reason. wrong: a sentence for each that is. family:
    one of COVERED, or another."""

    written: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    family: str = ""


@dataclass(frozen=True)
class Sample:
    """A call as a subgraph. given: its inputs."""

    subgraph: Subgraph
    given: tuple[torch.Tensor, ...]


def sample_of(call: ObservedCall, *, read: bool = False) -> Sample | None:
    """A subgraph that makes this call and returns what it gives, plus 1 if it is read; None if a subgraph cannot."""
    names = [f"in_{place}" for place in range(len(call.given))]
    values = {str(place): Ref(name) for place, name in enumerate(names)}
    args = tuple(substituted(each, dict(values)) for each in call.node.args)
    kwargs = tuple((name, substituted(each, dict(values))) for name, each in call.node.kwargs)
    nodes = [Node("tmp_0", call.node.kind, call.node.target, args, kwargs)]
    results = ["tmp_0"]

    def add(target: str, *operands: Value) -> str:
        nodes.append(Node(f"tmp_{len(nodes)}", NodeKind.CALL, target, operands))
        return nodes[-1].name

    if call.results is not None:
        results = [add("operator.getitem", Ref("tmp_0"), place) for place in range(call.results)]
    if read:
        results = [add("operator.add", Ref(each), 1) for each in results]
    graph = Graph((*(Node(name, NodeKind.INPUT, "") for name in names), *nodes), tuple(map(Ref, results)))
    if not results or signatures.refusal(graph):
        return None
    try:
        code = emit(graph)
        parse(code)
    except BadInput:
        return None
    given = tuple(each.contiguous() for each in call.given)
    return Sample(Subgraph("sample", "sample", "none", code, tuple(map(_spec, names, given))), given)


def _spec(name: str, value: torch.Tensor) -> TensorSpec:
    whole = not value.is_floating_point() and not value.is_complex()
    data = tuple(value.double().flatten().tolist()) if whole else None
    return TensorSpec(name, tuple(value.shape), str(value.dtype).removeprefix("torch."), data=data)


def family_of(operation: Any) -> str:
    """The family of one of torch's descriptions."""
    node = Node("y", NodeKind.CALL, operation.name)
    return OF_CLASS.get(type(operation).__name__) or COVERED.get(operator_family(node), "others")


def chosen(
    dtypes: Sequence[torch.dtype], each: int, part: tuple[int, int] = (0, 1)
) -> Iterator[tuple[str, str, ObservedCall]]:
    """Yield the name and the family of each operation of torch's database, with so many samples of each spelling: the
    same ones each time. part: from the first of these on, each of that many operations."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[tuple[str, str], dict[str, dict[str, ObservedCall]]] = defaultdict(lambda: defaultdict(dict))
    for operation in op_db[part[0] :: part[1]]:
        name = operation.formatted_name, family_of(operation)

        def note(call: ObservedCall, name: tuple[str, str] = name) -> None:
            if call.given and not call.random and sum(value.numel() for value in call.given) <= MOST_ELEMENTS:
                sample = sample_of(call)
                if sample is not None:
                    digest = digest_of([sample.subgraph.code, str(sample.subgraph.inputs)])
                    found[name][spelling(call.node)][digest] = call

        watch(samples_of(operation, dtypes), note)
    for name, spellings in sorted(found.items()):
        for by_digest in spellings.values():
            yield from ((*name, by_digest[digest]) for digest in sorted(by_digest)[:each])


def tried(calls: Iterator[tuple[str, str, ObservedCall]]) -> dict[str, Tried]:
    """What the rules make of these calls, by operation."""
    results: dict[str, Tried] = defaultdict(Tried)
    for operation, family, call in calls:
        result = results[operation]
        result.family = family
        try:
            problem = _problem(call)
        except BadInput as error:
            result.left[str(error).removeprefix("The rules write no pass for sample: ").rstrip(".")] += 1
            continue
        except Exception as error:  # what goes wrong with a sample is reported, and the others are tried
            problem = f"{type(error).__name__}: {error}"
        if problem:
            result.wrong.append(problem)
        else:
            result.written += 1
    return results


def _problem(call: ObservedCall) -> str:
    """What is wrong with what the rules write for a call. Raises BadInput if they write nothing."""
    sample = sample_of(call)
    assert sample is not None
    try:
        return _difference(sample)
    except BadInput as error:
        sample = sample_of(call, read=True)
        if sample is None or not str(error).endswith(ALL_LEFT):
            raise
    return _difference(sample)


def _difference(sample: Sample) -> str:
    subgraph = sample.subgraph
    bundle = explained(Task("sample", Family.SINGLE, "", (subgraph,))).bundle
    problem = ""
    if broken := findings(bundle):
        problem = f"it breaks a rule: {broken[0]}"
    else:
        with loaded(bundle) as passes:
            try:
                problem = difference(subgraph, passes, inputs=sample.given)
            except Exception as error:  # what goes wrong with a sample is reported, and the others are tried
                problem = f"{type(error).__name__}: {error}"
    lines = "; ".join(line.strip() for line in subgraph.code.splitlines() if " = " in line)
    return problem and f"{lines} of {[(each.dtype, each.shape) for each in subgraph.inputs]}: {problem}"


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=1 << 30, metavar="N")
    parser.add_argument("--dtype", action="append", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--part", default="0/1", metavar="I/N")
    parser.add_argument("--json", action="store_true", help="print what is wrong, and how many were written, as JSON")
    args = parser.parse_args(given)
    first, step = map(int, args.part.split("/"))
    calls = chosen([getattr(torch, each) for each in args.dtype or ["float32"]], args.each, (first, step))
    results = tried(calls)
    wrong = [f"{name}: {each}" for name, result in results.items() for each in result.wrong]
    written = {name: result.written for name, result in results.items() if result.written}
    if args.json:
        print(json.dumps({"operations": len(results), "written": written, "wrong": wrong}))
        return
    for name, result in results.items():
        if args.all or result.written or result.wrong:
            reason = max(result.left, key=result.left.__getitem__, default="")
            print(f"{name:<52}{result.written:>6}{result.left.total():>6}{len(result.wrong):>6}  {reason[:80]}")
    for family in dict.fromkeys(COVERED.values()):
        own = [each for each in results.values() if each.family == family]
        print(f"{family}: {sum(each.written > 0 for each in own)} of {len(own)}")
    print(
        f"{len(written)} of {len(results)} operations have a sample that was written; {len(wrong)} samples are wrong."
    )
    print(*wrong, sep="\n")


if __name__ == "__main__":
    main()
