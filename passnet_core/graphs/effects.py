"""Effects of operations besides their results: changes in place, random draws, global switches."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.operations.kinds import named
from passnet_core.operations.memory import deeds

VIEWS = named("views")


def last_part(node: Node) -> str:
    """The last part of an operation's target: "relu_" of torch.relu_; for an attribute its name, such as "shape"."""
    match node:
        case Node(target="builtins.getattr", args=(_, str(member))):
            return member
    return node.target.rpartition(".")[2]


def is_one_of(node: Node, kind: str) -> bool:
    """Whether it is an operation of this kind in operations/kinds.toml."""
    return last_part(node) in named(kind)


def changed(node: Node) -> tuple[Ref, ...]:
    """Return the values that the operation changes in place, or may change."""
    return deeds(node).writes


def changes_inputs(graph: Graph) -> bool:
    """Whether any operation changes an input of the graph in place, or may change it."""
    storage = storage_of(graph)
    given = {storage[node.name] for node in graph.inputs}
    return any(storage[each.name] in given for node in graph.operations for each in changed(node))


def is_random(node: Node) -> bool:
    """Whether it draws random numbers, so that its order among other draws matters."""
    return deeds(node).random


def is_switch(node: Node) -> bool:
    return node.kind is NodeKind.CALL and is_one_of(node, "switches")


def has_effect(node: Node) -> bool:
    """Whether it has an effect, so that it must stay even if nothing reads its value."""
    done = deeds(node)
    return bool(done.writes) or done.random or is_switch(node)


def live(graph: Graph) -> dict[str, Node]:
    """Return the operations that the graph's results or effects depend on, by name, in order."""
    wanted = set(graph.returned) | {node.name for node in graph.operations if has_effect(node)}
    found: dict[str, Node] = {}
    for node in reversed(graph.operations):
        if node.name in wanted:
            found[node.name] = node
            wanted.update(node.inputs)
    return dict(reversed(found.items()))


def shares_memory(node: Node) -> tuple[Ref, ...]:
    """Return the operands in whose memory the result lies, or may lie: of views, and of what works in place."""
    return deeds(node).shares


@dataclass(frozen=True)
class Effects:
    """Operations that must keep their order although no value flows between them.

    storage: node -> a node that stands for all memory in which its value may lie. before: node -> the nodes that must
    run earlier because of an effect. after: the inverse of before."""

    storage: Mapping[str, str]
    before: Mapping[str, tuple[str, ...]]
    after: Mapping[str, tuple[str, ...]]


def effects(graph: Graph) -> Effects:
    """Find the order that effects impose: on reads and changes of one memory, on random draws, and on switches."""
    storage = storage_of(graph)
    disturbed = {storage[each.name] for node in graph.nodes for each in changed(node)}
    pairs: list[tuple[str, str]] = []
    writer: dict[str, str] = {}
    readers: dict[str, list[str]] = {}
    for node in graph.nodes:
        for resource, is_write in _touched(node, storage, disturbed):
            if resource in writer:
                pairs.append((writer[resource], node.name))
            if is_write:
                pairs.extend((reader, node.name) for reader in readers.get(resource, ()))
                writer[resource] = node.name
                readers[resource] = []
            else:
                readers.setdefault(resource, []).append(node.name)
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for first, second in dict.fromkeys(pairs):
        before.setdefault(second, []).append(first)
        after.setdefault(first, []).append(second)
    return Effects(
        storage,
        {name: tuple(each) for name, each in before.items()},
        {name: tuple(each) for name, each in after.items()},
    )


def storage_of(graph: Graph, copies: Callable[[Node], bool] = lambda node: False) -> dict[str, str]:
    """Each node with the first one of all whose values may lie in one memory. copies: whether an operation, which may
    share its operand's memory, is known not to."""
    storage: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    for node in graph.nodes:
        shared = () if copies(node) else shares_memory(node)
        owners = list(dict.fromkeys(storage[each.name] for each in shared)) or [node.name]
        first = owners[0]
        joined = [name for each in owners[1:] for name in members.pop(each)]
        members.setdefault(first, []).extend([*joined, node.name])
        storage.update(dict.fromkeys([*joined, node.name], first))
    return storage


def _touched(node: Node, storage: Mapping[str, str], disturbed: set[str]) -> Iterator[tuple[str, bool]]:
    written = dict.fromkeys(storage[each.name] for each in changed(node))
    for resource in written:
        yield resource, True
    for resource in dict.fromkeys(storage[name] for name in node.inputs):
        if resource in disturbed and resource not in written:
            yield resource, False
    # these two stand for global state, not for the memory of a node
    if is_random(node):
        yield "random numbers", True
    if is_switch(node):
        yield "switches", True
