"""Summaries of tasks, for tables that show thousands of them without reading every task."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import Family, Subgraph, Task


@dataclass(frozen=True)
class TaskSummary:
    """A task in one line of a table.

    subgraphs: how many there are. operators: labels of the first subgraph's operations, in order. vocabulary: all
    labels of the task, sorted. operations: the largest number of operations in a subgraph. shapes: the distinct shapes
    of the subgraphs' largest inputs."""

    id: str
    family: Family
    split: str
    subgraphs: int
    source_models: tuple[str, ...]
    dtypes: tuple[str, ...]
    operators: tuple[str, ...]
    vocabulary: tuple[str, ...]
    operations: int
    shapes: tuple[tuple[int, ...], ...]


def summary(task: Task) -> TaskSummary:
    """Summarize a task. Raises BadInput, naming the subgraph, if its model.py is not straight-line code."""
    sequences = [operations_of(subgraph) for subgraph in task.subgraphs]
    shapes = [max((spec.shape for spec in each.inputs), key=math.prod, default=()) for each in task.subgraphs]
    return TaskSummary(
        id=task.id,
        family=task.family,
        split=task.split,
        subgraphs=len(task.subgraphs),
        source_models=tuple(sorted({each.source_model for each in task.subgraphs})),
        dtypes=tuple(sorted({each.dtype for each in task.subgraphs if each.dtype})),
        operators=sequences[0] if sequences else (),
        vocabulary=tuple(sorted({label for sequence in sequences for label in sequence})),
        operations=max((len(sequence) for sequence in sequences), default=0),
        shapes=tuple(dict.fromkeys(shapes)),
    )


def operations_of(subgraph: Subgraph) -> tuple[str, ...]:
    """Return the labels of the operations in order. Raises BadInput, naming the subgraph, for other code."""
    try:
        return operator_sequence(parse(subgraph.code))
    except BadInput as error:
        raise BadInput(f"{subgraph.id}/model.py: {error}") from error


def summary_from_json(data: Mapping[str, Any]) -> TaskSummary:
    """Read a summary that to_json has written. Raises KeyError, TypeError or ValueError if it is none.
    Unlike from_json, it does not check every item's type: an index holds many thousands of summaries."""
    return TaskSummary(
        id=data["id"],
        family=Family(data["family"]),
        split=data["split"],
        subgraphs=int(data["subgraphs"]),
        source_models=tuple(data["source_models"]),
        dtypes=tuple(data["dtypes"]),
        operators=tuple(data["operators"]),
        vocabulary=tuple(data["vocabulary"]),
        operations=int(data["operations"]),
        shapes=tuple(map(tuple, data["shapes"])),
    )
