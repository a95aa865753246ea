"""Where captured graphs are cut, and how a part is made to stand alone. Pure: what fuses is asked of the caller.

*Runs* lie between heavy operations; recipes pick some of them by name. *Fusible* cuts grow from every operation for as
long as Inductor makes no second kernel of them. *Typical* cuts are stretches of a model, heavy operations and all.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value, substituted
from passnet_core.graphs.vocabulary import operator_family
from passnet_core.records import TensorSpec

Part = tuple[Node, ...]

# fmt: off
PRODUCTS = frozenset((
    "linear", "matmul", "bmm", "baddbmm", "addmm", "mm", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "einsum", "_grouped_mm", "grouped_mm_fallback",
))
HEAVY = PRODUCTS | frozenset((
    "embedding", "scaled_dot_product_attention", "topk", "sort", "nonzero", "item", "unfold", "histc", "setitem",
    "index_add", "_set_grad_enabled",
))
# fmt: on
"""Operations at which a run ends: their own kernels dominate, or they write into what others read."""


def label(node: Node) -> str:
    """The last part of the target: what recipes spell runs in."""
    return node.target.rsplit(".", 1)[-1]


def runs(graph: Graph) -> Iterator[Part]:
    """Every way to cut the graph between its heavy operations: narrow runs, then the wider ones, each once."""
    seen: set[tuple[str, ...]] = set()
    for part in (*_narrow(graph), *_wide(graph)):
        names = tuple(node.name for node in part)
        if names not in seen:
            seen.add(names)
            yield part


def _narrow(graph: Graph) -> Iterator[Part]:
    """Connected operations that stand together between two heavy ones.

    A stretch is contiguous in a valid order, so whatever connects two of its operations lies in it too: taking a
    connected part out never tears a path in two.
    """
    stretch: list[Node] = []
    for node in graph.operations:
        if label(node) not in HEAVY:
            stretch.append(node)
        else:
            yield from _connected(stretch)
            stretch = []
    yield from _connected(stretch)


def _wide(graph: Graph) -> Iterator[Part]:
    """Connected operations with equally many heavy ones on the longest way to them.

    A path through a heavy operation ends deeper than it began, so none leaves such a part and comes back.
    """
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
    """Whether the node's value is read outside the part."""
    inside = {each.name for each in part}
    return node.name in graph.returned or any(user not in inside for user in graph.users[node.name])


def standalone(
    graph: Graph, part: Sequence[Node], specs: dict[str, TensorSpec | None]
) -> tuple[Graph, tuple[TensorSpec, ...]] | None:
    """The part as a graph of its own, named in_0, tmp_0, …; None where anything but tensors crosses its edge."""
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
        arguments = tuple(substituted(value, names) for value in node.args)
        keywords = tuple((key, substituted(value, names)) for key, value in node.kwargs)
        nodes.append(Node(f"tmp_{index}", node.kind, node.target, arguments, keywords))
    given = tuple(replace(spec, name=f"in_{index}", original_name=spec.name) for index, spec in enumerate(entering))
    return Graph(tuple(nodes), tuple(names[name] for name in results)), given


# --- single operations, and stretches of many ---

TYPICAL_OPERATIONS = 24
LEAST_TYPICAL, LEAST_HEAVY = 12, 2


def single(graph: Graph) -> Iterator[Part]:
    """Every operation that computes something, alone."""
    for node in graph.operations:
        if operator_family(node) not in ("layout", "indexing", "creation", "other"):
            yield (node,)


def typical(graph: Graph, several: Collection[str] = ()) -> Iterator[Part]:
    """Connected stretches of about so many operations, some of them heavy, as a model's blocks are.

    A stretch is contiguous in a valid order, as narrow runs are. It does not end amid what takes results apart.
    """
    operations, start = graph.operations, 0
    while start < len(operations):
        end = start + TYPICAL_OPERATIONS
        while end < len(operations) and any(name in several for name in operations[end].inputs):
            end += 1
        for part in _connected(operations[start:end]):
            if len(part) >= LEAST_TYPICAL and sum(label(node) in HEAVY for node in part) >= LEAST_HEAVY:
                yield part
        start = end


# --- by what fuses ---

MOST_OPERATIONS = 40
"""Of a fusible cut."""


def fusible(graph: Graph, fits: Callable[[Part], bool], several: Collection[str] = ()) -> Iterator[Part]:
    """For every operation the longest cut that begins with it and fuses, in the order of their beginnings; each once,
    and none of a single operation.

    A cut takes in what reads from it, in order, while it fits. What does not is left out, with all that depends on it:
    so no path leaves a cut and comes back.

    fits: whether Inductor makes at most one kernel of its own of it, after at most one call of a library's. A connected
    part of what fits is taken to fit as well, so that it is asked little. several: operations with several results,
    which are taken in together with what takes them apart.
    """
    operations = graph.operations
    known: list[frozenset[str]] = []

    def asked(part: Part) -> bool:
        names = frozenset(node.name for node in part)
        if any(names <= each for each in known):
            return True
        if any(label(node) in HEAVY for node in part[1:]) or not fits(part):
            return False
        known.append(names)
        return True

    def whole(node: Node) -> Part:
        users = graph.users[node.name] if node.name in several else ()
        return (node, *(graph.by_name[user] for user in users))

    for start, first in enumerate(operations):
        if any(name in several for name in first.inputs) or not asked(whole(first)):
            continue
        part = whole(first)
        inside, outside = {node.name for node in part}, set[str]()
        for node in operations[start + 1 :]:
            if node.name in inside:
                continue
            if outside.intersection(node.inputs):
                outside.add(node.name)
            elif inside.intersection(node.inputs):
                more = whole(node)
                if len(part) < MOST_OPERATIONS and asked((*part, *more)):
                    part = (*part, *more)
                    inside.update(each.name for each in more)
                else:
                    outside.add(node.name)
        if len(part) > 1:
            yield tuple(node for node in operations if node.name in inside)
