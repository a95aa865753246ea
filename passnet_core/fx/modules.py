"""Build modules of graphs, which call the replacement functions of passes, and prepare their weights."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from passnet_core.errors import BadInput
from passnet_core.fx import signatures
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.placement import placed
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.graphs.source import emit
from passnet_core.graphs.spelling import Names

Function = Callable[..., Any]


def module_of(graph: Graph, functions: Mapping[str, Function]) -> torch.nn.Module:
    """The graph as a module that calls these functions by name. Raises BadInput for unknown operations."""
    problem = signatures.refusal(graph, frozenset(functions))
    if problem:
        raise BadInput(problem)
    namespace: dict[str, Any] = dict(functions)
    # drop values after their last use, as captured modules do: peak memory is part of a graph's behaviour
    exec(compile(emit(graph, release=True), "<subgraph>", "exec"), namespace)
    module: torch.nn.Module = namespace["GraphModule"]()
    return module.eval()


def globals_of(module: torch.nn.Module) -> dict[str, Any]:
    """The names that the module's code looks up."""
    namespace: dict[str, Any] = type(module).forward.__globals__
    return namespace


def attribute(module: torch.nn.Module, path: str) -> Any:
    """What lies at a dotted path in a module."""
    return operator.attrgetter(path)(module)


def placed_passes(traced: Sequence[TracedPass], device: str) -> tuple[TracedPass, ...]:
    """The passes, placed on this device as the captured graph is."""
    return tuple(
        replace(each, pattern=placed(each.pattern, device), arguments=placed(each.arguments, device)) for each in traced
    )


@dataclass(frozen=True)
class Hook:
    """prepare(weights) of the passes that share a replacement. names: for each argument of the replacement, the
    pattern's input that is passed there unchanged, or an empty string."""

    prepare: Function
    names: tuple[str, ...]


@dataclass(frozen=True)
class Packing:
    """One call of a hook. weights: the indices of the inputs that it gets, by argument name."""

    prepare: Function
    weights: Mapping[str, int]

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Call the hook. Return the prepared weights in their order. Raises TypeError if the hook returns others."""
        found = self.prepare({name: inputs[index] for name, index in self.weights.items()})
        if not isinstance(found, dict) or set(found) != set(self.weights):
            given = ", ".join(map(str, found)) if isinstance(found, dict) else type(found).__name__
            raise TypeError(f"prepare() returned {given}. Return a dict with {', '.join(self.weights)}.")
        return [found[name] for name in self.weights]


def with_packed(graph: Graph, hooks: Mapping[str, Hook], weights: Sequence[str]) -> tuple[Graph, tuple[Packing, ...]]:
    """Append an input for each weight that a hook prepares. Return the graph, and the hook calls that fill these."""
    places = {node.name: index for index, node in enumerate(graph.inputs)}
    names = Names(tuple(graph.by_name))
    more: list[Node] = []
    packings: list[Packing] = []
    operations: list[Node] = []
    for node in graph.operations:
        hook = hooks.get(node.target)
        chosen: dict[str, int] = {}
        args = list(node.args)
        for position, (name, value) in enumerate(zip(hook.names, node.args) if hook else ()):
            if name and isinstance(value, Ref) and value.name in weights and name not in chosen:
                chosen[name] = places[value.name]
                packed = names.free(f"packed_{value.name}")
                more.append(Node(packed, NodeKind.INPUT, packed))
                args[position] = Ref(packed)
        if hook and chosen:
            packings.append(Packing(hook.prepare, chosen))
        operations.append(replace(node, args=tuple(args)))
    return Graph((*graph.inputs, *more, *operations), graph.result), tuple(packings)
