"""Apply passes to a graph of torch.fx. What no pass takes stays as it was, down to the objects that it names."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
import torch.fx

from passnet_core.fx import signatures, tracing
from passnet_core.fx.modules import Function
from passnet_core.fx.tracing import FxReading
from passnet_core.graphs.ir import Graph, Node, NodeKind
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.operations.binding import bind
from passnet_core.records import PassMatches

Making = Callable[[TracedPass, Sequence[Any]], tuple[Function, Sequence[Any]]]
"""Makes the function that a replaced match calls, and its arguments, given the arguments of the pass: nodes of the new
graph, and constants."""


def device_of(example_inputs: Sequence[Any]) -> str:
    """The type of the device of the first tensor, "cpu" if there is none."""
    return next((each.device.type for each in example_inputs if isinstance(each, torch.Tensor)), "cpu")


def apply(captured: torch.fx.Graph, passes: Sequence[TracedPass], making: Making) -> tuple[PassMatches, ...]:
    """Apply the passes, in order, to all their matches, in place. Return the matches of each pass.

    Raises BadInput for a graph that data cannot represent, such as one that calls modules; it and whatever making
    raises leave the graph as it was."""
    read = tracing.graph_of_fx(captured)
    rewriting = rewrite(read.graph, passes, bind=bind)
    if rewriting.calls:
        _change(captured, read, rewriting.graph, {each.replacement: each for each in passes}, making)
    return rewriting.reports


def _change(
    captured: torch.fx.Graph, read: FxReading, after: Graph, passes: Mapping[str, TracedPass], making: Making
) -> None:
    """Make the captured graph say what after says. Nodes that stay are moved, not copied: Dynamo marks its own."""
    (output,) = captured.find_nodes(op="output")
    nodes: dict[str, torch.fx.Node] = {}
    with ExitStack() as undoing, captured.inserting_before(output):
        for node in after.nodes:
            if read.graph.by_name.get(node.name) == node:
                nodes[node.name] = read.origins[node.name]
            else:
                made = nodes[node.name] = _made(captured, node, nodes, passes, making)
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
    passes: Mapping[str, TracedPass],
    making: Making,
) -> torch.fx.Node:
    args: Sequence[Any] = signatures.filled(node.args, nodes)
    kwargs = {name: signatures.filled(value, nodes) for name, value in node.kwargs}
    if node.kind is NodeKind.METHOD:
        return captured.create_node("call_method", node.target, tuple(args), kwargs, node.name)
    if node.target in passes:
        function, args = making(passes[node.target], args)
    else:
        function = signatures.resolve(node.target)
    return captured.create_node("call_function", function, tuple(args), kwargs, node.name)
