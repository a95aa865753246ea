"""Cut captured graphs into parts, and turn a part into a graph of its own. Pure: the caller says what fuses.

*Runs* lie between heavy operations; recipes pick some of them by name. *Fusible* cuts grow from every operation for as
long as Inductor needs only one kernel for them. *Typical* cuts are stretches of a model, heavy operations included."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, reading
from passnet_core.graphs.vocabulary import operator_family
from passnet_core.operations.kinds import named
from passnet_core.operations.table import row, spelling
from passnet_core.records import TensorSpec

Part = tuple[Node, ...]

PRODUCTS = named("products")
HEAVY = named("heavy")


def label(node: Node) -> str:
    """Return the last part of the node's target. Recipes describe runs by these labels."""
    return node.target.rsplit(".", 1)[-1]


def left_out(graph: Graph) -> frozenset[str]:
    """The operations that no part may contain: those that the judge does not know, and all between the calls that begin
    and end a torch.vmap, whose values have an axis that no other operation sees."""
    found: set[str] = set()
    depth = 0
    for node in graph.operations:
        depth += label(node) == "_vmap_increment_nesting"
        if depth or row(spelling(node)) is None:
            found.add(node.name)
        depth -= label(node) == "_vmap_decrement_nesting"
    return frozenset(found)


def runs(graph: Graph) -> Iterator[Part]:
    """Yield the parts between heavy operations, each once: first the narrow runs, then the wide ones."""
    seen: set[tuple[str, ...]] = set()
    for part in (*_narrow(graph), *_wide(graph)):
        names = tuple(node.name for node in part)
        if names not in seen:
            seen.add(names)
            yield part


def _narrow(graph: Graph) -> Iterator[Part]:
    """Yield connected operations between two heavy ones that follow each other in the graph.
    A stretch is contiguous in a topological order, so it contains every path between two of its operations: no path
    leaves a part and comes back."""
    stretch: list[Node] = []
    for node in graph.operations:
        if label(node) not in HEAVY:
            stretch.append(node)
        else:
            yield from _connected(stretch)
            stretch = []
    yield from _connected(stretch)


def _wide(graph: Graph) -> Iterator[Part]:
    """Yield connected operations of equal depth: with equally many heavy operations on the longest path to them.
    A path through a heavy operation ends deeper than it began, so no path leaves a part and comes back."""
    depth: dict[str, int] = {node.name: 0 for node in graph.inputs}
    levels: dict[int, list[Node]] = {}
    for node in graph.operations:
        heavy = label(node) in HEAVY
        depth[node.name] = max((depth[name] for name in node.inputs), default=0) + heavy
        if not heavy:
            levels.setdefault(depth[node.name], []).append(node)
    for level in sorted(levels):
        yield from _connected(levels[level])


def _connected(stretch: Sequence[Node]) -> Iterator[Part]:
    """Yield the connected components of a stretch, each in the stretch's order."""
    group: dict[str, int] = {}
    for index, node in enumerate(stretch):
        group[node.name] = index
        for name in node.inputs:
            if name in group and group[name] != group[node.name]:
                old, new = group[name], group[node.name]
                group.update({key: new for key, value in group.items() if value == old})
    for number in dict.fromkeys(group.values()):
        yield tuple(node for node in stretch if group[node.name] == number)


def is_result(graph: Graph, part: Sequence[Node], node: Node) -> bool:
    """Whether the node's value is read outside the part, or returned by the graph."""
    inside = {each.name for each in part}
    return node.name in graph.returned or any(user not in inside for user in graph.users[node.name])


def standalone(
    graph: Graph, part: Sequence[Node], specs: dict[str, TensorSpec | None]
) -> tuple[Graph, tuple[TensorSpec, ...]] | None:
    """Return the part as a graph of its own, whose nodes are named in_0, tmp_0 and so on, with its inputs.
    Returns None if a value that is not a tensor enters or leaves the part, or if nothing leaves it."""
    inside = {node.name for node in part}
    outer = list(dict.fromkeys(name for node in part for name in node.inputs if name not in inside))
    results = [node.name for node in part if is_result(graph, part, node)]
    entering = [spec for name in outer if (spec := specs.get(name))]
    if not results or len(entering) != len(outer) or any(specs.get(name) is None for name in results):
        return None
    names: dict[str, Value] = {name: Ref(f"in_{index}") for index, name in enumerate(outer)}
    names |= {node.name: Ref(f"tmp_{index}") for index, node in enumerate(part)}
    nodes = [Node(f"in_{index}", NodeKind.INPUT, f"in_{index}") for index in range(len(outer))]
    for index, node in enumerate(part):
        nodes.append(replace(reading(node, names), name=f"tmp_{index}", line=None))
    given = tuple(replace(spec, name=f"in_{index}", original_name=spec.name) for index, spec in enumerate(entering))
    return Graph(tuple(nodes), tuple(names[name] for name in results)), given


# --- single operations, and stretches of many ---

TYPICAL_OPERATIONS = 24
"""The length of a typical stretch before it is split into connected parts."""
LEAST_TYPICAL, LEAST_HEAVY = 12, 2
"""The fewest operations, and heavy operations, of a typical part."""


def single(graph: Graph) -> Iterator[Part]:
    """Yield every operation that computes something, alone."""
    for node in graph.operations:
        if operator_family(node) not in ("layout", "indexing", "creation", "other"):
            yield (node,)


def typical(graph: Graph, several: Collection[str] = (), left: Collection[str] = ()) -> Iterator[Part]:
    """Yield connected parts of about TYPICAL_OPERATIONS operations, some of them heavy, like the blocks of a model.
    A stretch is contiguous in a topological order, as for narrow runs. several: operations with several results; a
    stretch does not end between one and the operations that unpack its results. left: operations that no part contains,
    and at which a stretch ends."""
    operations, start = graph.operations, 0
    while start < len(operations):
        if operations[start].name in left:
            start += 1
            continue
        end = start + TYPICAL_OPERATIONS
        while end < len(operations) and any(name in several for name in operations[end].inputs):
            end += 1
        end = next((at for at in range(start, min(end, len(operations))) if operations[at].name in left), end)
        for part in _connected(operations[start:end]):
            if len(part) >= LEAST_TYPICAL and sum(label(node) in HEAVY for node in part) >= LEAST_HEAVY:
                yield part
        start = end


# --- parts that fuse ---

MOST_OPERATIONS = 40
"""The most operations of a fusible cut, save for those that unpack results."""


def fusible(graph: Graph, fits: Callable[[Part], bool], several: Collection[str] = ()) -> Iterator[Part]:
    """Yield, for every operation in order, the longest cut that begins with it and fuses, if it has two or more.

    A cut takes in the operations that read from it, in order, as long as it fuses. An operation that does not fit is
    left out with everything that depends on it, so no path leaves a cut and comes back.

    fits: whether Inductor generates at most one kernel for a part, after at most one library call. It is expensive, so
    it is not asked again for a subset of a part that fits. several: operations with several results; each is taken in
    together with the operations that unpack its results."""
    operations = graph.operations
    fitting: list[frozenset[str]] = []

    def is_fusible(part: Part) -> bool:
        names = frozenset(node.name for node in part)
        if any(names <= each for each in fitting):
            return True
        if any(label(node) in HEAVY for node in part[1:]) or not fits(part):
            return False
        fitting.append(names)
        return True

    def unpacked(node: Node) -> Part:
        users = graph.users[node.name] if node.name in several else ()
        return (node, *(graph.by_name[user] for user in users))

    for start, first in enumerate(operations):
        if any(name in several for name in first.inputs) or not is_fusible(unpacked(first)):
            continue
        part = unpacked(first)
        inside, outside = {node.name for node in part}, set[str]()
        for node in operations[start + 1 :]:
            if node.name in inside:
                continue
            if outside.intersection(node.inputs):
                outside.add(node.name)
            elif inside.intersection(node.inputs):
                more = unpacked(node)
                if len(part) < MOST_OPERATIONS and is_fusible((*part, *more)):
                    part = (*part, *more)
                    inside.update(each.name for each in more)
                else:
                    outside.add(node.name)
        if len(part) > 1:
            yield tuple(node for node in operations if node.name in inside)
