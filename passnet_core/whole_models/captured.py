"""A model as torch.compile captures it, and the file that makes the model. Loads no torch."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, references
from passnet_core.graphs.source import emit, parse
from passnet_core.records import Subgraph, TensorSpec, digest_of, from_json, to_json

LONGEST_NAME = 60
WHOLE = "graph-"
"""Begins the id of a whole graph as a subgraph."""
OWN_OPERATORS, KNOWN_OPERATORS = "torch.ops.", ("torch.ops.aten.", "torch.ops.prims.")
"""Begins the operators that libraries register, which a judge does not have, and those that torch itself has."""
WITHIN_VMAP = ("torch._functorch.", "torch._C._functorch.")
"""Begins what torch.vmap leaves in a graph. Between them values are rows of others."""
WITHOUT_REFERENCE = frozenset({"torch._grouped_mm", "torch.nn.functional.grouped_mm"})
"""Operations that cannot be computed in float64."""
MOST_OPERATIONS = 50_000
"""The most operations of all graphs of a model together."""


@dataclass(frozen=True)
class ModelFile:
    """A Python file that makes a model. name: the file's, for messages. factory: the function that returns the model
    and its example inputs: a tensor, a tuple of positional arguments, or a dict of keyword arguments. inputs: the
    function that returns the example inputs, if factory returns the model alone."""

    code: str
    name: str
    factory: str
    inputs: str = ""

    @property
    def digest(self) -> str:
        return digest_of(to_json(self))


@dataclass(frozen=True)
class CapturedGraph:
    """One graph that Dynamo captures in a call of the model. code: as the source of a GraphModule. inputs: what the
    graph got, in the order of forward's arguments. values: what its operations gave, as far as these are tensors.
    calls: how often one call of the model runs it."""

    code: str
    inputs: tuple[TensorSpec, ...]
    values: tuple[TensorSpec, ...]
    calls: int = 1

    @cached_property
    def graph(self) -> Graph:
        return parse(self.code)

    @cached_property
    def specs(self) -> Mapping[str, TensorSpec | None]:
        """What each value is, by its name; None for one that is no tensor."""
        known = {each.name: each for each in (*self.inputs, *self.values)}
        return {node.name: known.get(node.name) for node in self.graph.nodes}

    @cached_property
    def opaque(self) -> tuple[Node, ...]:
        """The operations that a judge cannot compute, and those that read what they give besides tensors."""
        found: dict[str, Node] = {}
        for node in self.graph.operations:
            if _is_opaque(node) or any(name in found and self.specs[name] is None for name in node.inputs):
                found[node.name] = node
        return tuple(found.values())

    @cached_property
    def judged(self) -> tuple[Graph, tuple[TensorSpec, ...]]:
        """The graph as a judge can compute it, and its inputs: what opaque operations give is an input, and what they
        read is among the results."""
        if not self.opaque:
            return self.graph, self.inputs
        names = {node.name for node in self.opaque}
        kept = [node for node in self.graph.operations if node.name not in names]
        used = {name for node in kept for name in node.inputs} & names
        specs = tuple(spec for node in self.opaque if node.name in used and (spec := self.specs[node.name]) is not None)
        inputs = tuple(Node(each.name, NodeKind.INPUT, each.name) for each in specs)
        computed = {node.name for node in kept if self.specs[node.name] is not None}
        read = (*references(self.graph.result), *(name for node in self.opaque for name in node.inputs))
        result = tuple(Ref(name) for name in dict.fromkeys(read) if name in computed)
        return Graph((*self.graph.inputs, *inputs, *kept), result), (*self.inputs, *specs)


@dataclass(frozen=True)
class CapturedModel:
    """A captured model. parameters: how many numbers its parameters hold. training: whether it is in train mode.
    notes: sentences about what was left out."""

    name: str
    graphs: tuple[CapturedGraph, ...]
    parameters: int
    training: bool
    notes: tuple[str, ...] = ()

    @cached_property
    def operations(self) -> int:
        """How many operations one call of the model runs."""
        return sum(len(each.graph.operations) * each.calls for each in self.graphs)

    def subgraph(self, place: int) -> Subgraph:
        """A whole graph as a subgraph, which a judge can take."""
        captured = self.graphs[place]
        graph, inputs = captured.judged
        code = emit(graph) if captured.opaque else captured.code
        return Subgraph(f"{WHOLE}{place}", self.name, self.name, code, inputs)


def _is_opaque(node: Node) -> bool:
    if node.kind is not NodeKind.CALL:
        return False
    own = node.target.startswith(OWN_OPERATORS) and not node.target.startswith(KNOWN_OPERATORS)
    return own or node.target.startswith(WITHIN_VMAP) or node.target in WITHOUT_REFERENCE


def captured_model(answer: bytes) -> CapturedModel:
    """Read what the capturing program wrote, which is not trusted, as a stranger's code ran in it. Raises BadInput."""
    try:
        model = from_json(CapturedModel, json.loads(answer))
    except ValueError as error:
        raise BadInput(f"The captured model cannot be read: {error}") from error
    # it becomes part of the names of subgraphs and files
    model = replace(model, name=re.sub(r"[^A-Za-z0-9_-]+", "-", model.name)[:LONGEST_NAME].strip("-") or "model")
    if not model.graphs:
        said = " ".join(model.notes) or "The call of the model runs no operation that torch.compile captures."
        raise BadInput(f"Nothing was captured. {said}")
    if model.operations > MOST_OPERATIONS:
        raise BadInput(
            f"The model runs {model.operations:,} operations, more than {MOST_OPERATIONS:,}. Give it fewer layers:"
            " equal layers need equal passes."
        )
    for each in model.graphs:
        named = [node.name for node in each.graph.nodes if node.kind is NodeKind.INPUT]
        if [spec.name for spec in each.inputs] != named:
            raise BadInput("The captured model is damaged: its inputs are not those of its graphs.")
    return model
