"""What a table shows of a task without reading it."""

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
    """What a table shows of a task without reading it.

    operators: labels of the first subgraph's operations, in order; vocabulary: every label in the task, each once.
    operations: most operations in one subgraph. shapes: per subgraph that of its largest input, each once.
    """

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
    """Raises BadInput, naming the subgraph, where a model.py is not straight-line code."""
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
    """The labels of its operations in order. Raises BadInput, naming it, for code that is not straight-line."""
    try:
        return operator_sequence(parse(subgraph.code))
    except BadInput as error:
        raise BadInput(f"{subgraph.id}/model.py: {error}") from error


def summary_from_json(data: Mapping[str, Any]) -> TaskSummary:
    """A summary as to_json writes it. Of many thousands, so without looking at every item's type; raises KeyError,
    TypeError or ValueError for what cannot be one."""
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
