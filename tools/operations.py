"""Say which operations a subgraph may use, of those that torch offers and those that the subgraphs of corpora use: for
each, how many subgraphs use it, and why it is refused if it is. --write instead describes them all anew, with the torch
that is installed, in passnet_core/operations/table.json.

python -m tools.operations [--tasks DIR ...] [--refused] | --write
"""

import argparse
import sys
import types
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.fx import signatures
from passnet_core.fx.refused_operations import Reason, refused_for
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.source import parse
from passnet_core.operations.table import spelling
from passnet_core.records import Subgraph
from tools import describing

DATA = Path(__file__).resolve().parents[1] / "data" / "tasks"

OFFERING = {"torch": torch, "torch._C._nn": torch._C._nn, "torch.nn.functional": torch.nn.functional}
"""The namespaces whose functions are listed, besides the methods and attributes of torch.Tensor."""


@dataclass(frozen=True)
class Use:
    """Which subgraphs use what. operations: how many use each. unread: a sentence for each that cannot be read."""

    subgraphs: int
    operations: Mapping[str, int]
    unread: tuple[str, ...]


def offered() -> Iterator[str]:
    """Yield the operations that torch offers: "torch.relu" for a function, "Tensor.view" for a method."""
    for space, module in OFFERING.items():
        for name, value in sorted(vars(module).items()):
            is_function = callable(value) and not isinstance(value, type | types.ModuleType)
            if is_function and not name.startswith("__") and getattr(value, "__module__", None) != "typing":
                yield f"{space}.{name}"
    yield from (f"Tensor.{name}" for name in dir(torch.Tensor) if not name.startswith("__"))


def refusal(name: str) -> Reason | None:
    """Return why a subgraph may not use an operation, None if it may."""
    space, _, member = name.rpartition(".")
    called = (NodeKind.METHOD, member) if space == "Tensor" else (NodeKind.CALL, name)
    given = Node("x", NodeKind.INPUT, "")
    if not signatures.refusal(Graph((given, Node("y", *called, (Ref("x"),))), Ref("y"))):
        return None
    return refused_for(name) or (Reason.PRIVATE if member.startswith("_") else Reason.UNKNOWN)


def used(subgraphs: Sequence[Subgraph]) -> Use:
    """Count the subgraphs that use each operation."""
    operations: Counter[str] = Counter()
    unread: list[str] = []
    for subgraph in subgraphs:
        try:
            operations.update({spelling(node) for node in parse(subgraph.code).operations})
        except BadInput as problem:
            unread.append(f"{subgraph.task_id}/{subgraph.id}: {problem}")
    return Use(len(subgraphs), operations, tuple(unread))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.operations", description=__doc__)
    parser.add_argument(
        "--tasks", type=Path, action="append", default=[], metavar="DIR", help="one more folder of tasks"
    )
    parser.add_argument("--refused", action="store_true", help="list only what is refused")
    parser.add_argument("--write", action="store_true", help="write the table of operations")
    asked = parser.parse_args(arguments)
    if asked.write:
        describing.write()
        return 0
    corpus = Corpus([DATA, *asked.tasks])
    found = used([subgraph for each in corpus.tasks() for subgraph in corpus.task(each.id).subgraphs])
    names = {*offered(), *found.operations}
    refusals = {name: refusal(name) for name in names}
    print(f"{'subgraphs':>9}  {'operation':<56}  may be used")
    for name in sorted(names, key=lambda name: (-found.operations.get(name, 0), name)):
        reason = refusals[name]
        if reason or not asked.refused:
            print(f"{found.operations.get(name, 0):>9}  {name:<56}  {f'no: {reason}' if reason else 'yes'}")
    for problem in (*corpus.problems, *found.unread):
        print(problem)
    refused = Counter(reason for reason in refusals.values() if reason)
    print(f"Of {len(names)} operations {len(names) - refused.total()} may be used and {refused.total()} may not:")
    for reason, count in refused.most_common():
        print(f"{count:>9}  {reason}")
    hindered = sum(count for name, count in found.operations.items() if refusals[name])
    print(f"Of {found.subgraphs} subgraphs {len(found.unread)} cannot be read; uses of refused operations: {hindered}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
