"""A model as torch.compile captures it, and the file that makes the model. Loads no torch."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph, NodeKind
from passnet_core.graphs.source import parse
from passnet_core.records import Subgraph, TensorSpec, digest_of, from_json, to_json

LONGEST_NAME = 60
WHOLE = "graph-"
"""Begins the id of a whole graph as a subgraph."""
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
        graph = self.graphs[place]
        return Subgraph(f"{WHOLE}{place}", self.name, self.name, graph.code, graph.inputs)


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
