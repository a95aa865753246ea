"""Apply passes to a graph of torch.fx. What no pass takes stays as it was, down to the objects that it names."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
import torch.fx

from passnet_core.fx import signatures, tracing
from passnet_core.fx.modules import Function
from passnet_core.fx.tracing import FxReading
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, Value
from passnet_core.graphs.matching import Match
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.operations.binding import bind
from passnet_core.records import PassMatches

Examples = Mapping[str, Any]
"""What the values of a graph look like, by name: fake tensors and numbers."""
Making = Callable[[TracedPass, Sequence[Value], Examples], Function]
"""Makes the function that a replaced match calls with those arguments of the pass that are values of the graph."""
Staying = Callable[[Graph, TracedPass, Match, Examples], bool]
"""Whether a match stays as it is."""


def device_of(example_inputs: Sequence[Any]) -> str:
    """The type of the device of the first tensor, "cpu" if there is none."""
    return next((each.device.type for each in example_inputs if isinstance(each, torch.Tensor)), "cpu")


def apply(
    captured: torch.fx.Graph, passes: Sequence[TracedPass], making: Making, staying: Staying
) -> tuple[PassMatches, ...]:
    """Apply the passes, in order, to all their matches that do not stay, in place. Return the matches of each pass.

    Raises BadInput for a graph that data cannot represent, such as one that calls modules; it and whatever making
    raises leave the graph as it was."""
    read = tracing.graph_of_fx(captured)
    examples = {name: node.meta.get("example_value") for name, node in read.origins.items()}
    rewriting = rewrite(
        read.graph,
        passes,
        bind=bind,
        stays=lambda traced, match: staying(read.graph, traced, match, examples),
    )
    if rewriting.calls:
        by_key = {each.replacement: each for each in passes}
        _change(captured, read, rewriting.graph, set(by_key), lambda key, args: making(by_key[key], args, examples))
    return rewriting.reports


def _change(
    captured: torch.fx.Graph,
    read: FxReading,
    after: Graph,
    keys: Collection[str],
    function_for: Callable[[str, Sequence[Value]], Function],
) -> None:
    """Make the captured graph say what after says. Nodes that stay are moved, not copied: Dynamo marks its own.
    keys: what stands for the passes in calls. function_for: makes the function that a call of one calls, by its
    arguments."""
    (output,) = captured.find_nodes(op="output")
    nodes: dict[str, torch.fx.Node] = {}
    with ExitStack() as undoing, captured.inserting_before(output):
        for node in after.nodes:
            if read.graph.by_name.get(node.name) == node:
                nodes[node.name] = read.origins[node.name]
            else:
                made = nodes[node.name] = _made(captured, node, nodes, keys, function_for)
                undoing.callback(captured.erase_node, made)
                # values keep their names, so later matches find what they look like
                made.meta.update(read.origins[node.name].meta if node.name in read.origins else {})
        # nothing has failed: all of them stay
        undoing.pop_all()
    gone = [(origin, nodes.get(name)) for name, origin in read.origins.items() if nodes.get(name) is not origin]
    for origin, other in gone:
        if other is not None:
            origin.replace_all_uses_with(other)
    for node in after.nodes:
        output.prepend(nodes[node.name])
    for origin, _ in reversed(gone):
        captured.erase_node(origin)


def _made(
    captured: torch.fx.Graph,
    node: Node,
    nodes: Mapping[str, torch.fx.Node],
    keys: Collection[str],
    function_for: Callable[[str, Sequence[Value]], Function],
) -> torch.fx.Node:
    kwargs = {name: signatures.filled(value, nodes) for name, value in node.kwargs}
    if node.target in keys:
        given = tuple(nodes[each.name] for each in node.args if isinstance(each, Ref))
        return captured.create_node("call_function", function_for(node.target, node.args), given, {}, node.name)
    args = tuple(signatures.filled(value, nodes) for value in node.args)
    if node.kind is NodeKind.METHOD:
        return captured.create_node("call_method", node.target, args, kwargs, node.name)
    return captured.create_node("call_function", signatures.resolve(node.target), args, kwargs, node.name)
