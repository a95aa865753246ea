"""Reduce a large graph for display: show only a window of it, and fold chains of operations into one node."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.vocabulary import operator_label

LIMIT = 1000
"""Most operations that are shown at once. A window shows part of a larger graph."""
SHORTEST_CHAIN = 5
"""Fewest operations of a chain that can be folded."""


@dataclass(frozen=True)
class Chain:
    """Operations that each read only the one before. alike: number of chains in the graph with the same operators."""

    names: tuple[str, ...]
    operators: tuple[str, ...]
    alike: int


def window(graph: Graph, limit: int = LIMIT, *, around: Collection[str] = ()) -> tuple[Graph, str]:
    """Return at most limit operations of the graph, beginning near the first node of around, and a sentence about them.

    The sentence is empty if the graph is complete. Values computed before the window become inputs."""
    operations = graph.operations
    if len(operations) <= limit:
        return graph, ""
    wanted = next((index for index, node in enumerate(operations) if node.name in around), 0)
    start = max(0, min(wanted - limit // 10, len(operations) - limit))
    inside = operations[start : start + limit]
    names = {node.name for node in inside}
    read = {name for node in inside for name in node.inputs}
    outside = [node for node in graph.nodes if node.name in read and node.name not in names]
    inputs = tuple(Node(node.name, NodeKind.INPUT, "", line=node.line) for node in outside)
    leaving = tuple(
        Ref(node.name)
        for node in inside
        if node.name in graph.returned or any(user not in names for user in graph.users[node.name])
    )
    sentence = (
        f"This graph has {len(operations):,} operations. Shown are operations {start + 1:,} to "
        f"{start + len(inside):,}, {inside[0].name} to {inside[-1].name}."
    )
    return Graph((*inputs, *inside), leaving), sentence


def chains(graph: Graph, *, apart: Collection[str] = (), shortest: int = SHORTEST_CHAIN) -> tuple[Chain, ...]:
    """Find the longest runs in which each operation reads only the one before (besides inputs) and is its only reader.

    apart: nodes to keep out of chains, so that they stay visible."""
    runs = [run for run in _runs(graph, frozenset(apart)) if len(run) >= shortest]
    operators = [tuple(operator_label(node) for node in run) for run in runs]
    alike = Counter(operators)
    return tuple(Chain(tuple(node.name for node in run), labels, alike[labels]) for run, labels in zip(runs, operators))


def _runs(graph: Graph, apart: frozenset[str]) -> Iterator[list[Node]]:
    taken: set[str] = set()
    for node in graph.operations:
        if node.name in apart or node.name in taken:
            continue
        run = [node]
        while (after := _only_user(graph, run[-1])) is not None and after.name not in apart:
            run.append(after)
        taken.update(each.name for each in run)
        yield run


def _only_user(graph: Graph, node: Node) -> Node | None:
    """Return the only reader of the node, if it reads no other operation."""
    users = graph.users[node.name]
    if len(users) != 1 or node.name in graph.returned:
        return None
    user = graph.by_name[users[0]]
    read = {name for name in user.inputs if graph.by_name[name].kind is not NodeKind.INPUT}
    return user if read == {node.name} else None
