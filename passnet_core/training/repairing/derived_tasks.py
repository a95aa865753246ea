"""Small train tasks: connected stretches of the graphs of the train tasks, as graphs of their own.

None has the structure or the operations of a task that is held back, and none has a name that the benchmark's rule for
splits gives to another split, so that cutting a model later never makes a task of eval that was trained on."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from passnet_core.corpus.cutting import Part, standalone
from passnet_core.corpus.partitioning import PREFIX, TRAIN, split_of, task_name
from passnet_core.corpus.shapes import Shapes
from passnet_core.errors import BadInput
from passnet_core.graphs.source import emit, parse
from passnet_core.graphs.vocabulary import operator_family
from passnet_core.records import Family, Subgraph, Task, TensorSpec, digest_of
from passnet_core.records.inspections import NodeValue
from passnet_core.solvers.rules.candidates import candidates
from passnet_core.training.choosing import Fingerprints, fingerprints
from passnet_core.training.repairing.plain import STYLES, plain

LONGEST_PART = 12
"""The most operations of a part."""
MOST_ELEMENTS = 1 << 18
"""The most elements of all tensors of a part together: Triton's interpreter takes time for each."""
MOST_ELEMENTS_OF_A_SECOND = 1 << 13
"""A task has a second subgraph, of another dtype, if that has at most so many elements."""
LARGEST_GRAPH = 1 << 22
"""Graphs with inputs of more elements are not looked into."""
MOST_GRAPHS = 4
"""How many subgraphs of a train task are cut, the smallest first."""


@dataclass(frozen=True)
class _Found:
    """A part of a graph, as a subgraph. elements: of all its tensors together."""

    subgraph: Subgraph
    family: Family
    elements: int


def derived(
    train: Iterable[Task], held_back: Fingerprints, values_of: Callable[[Sequence[Subgraph]], Shapes]
) -> Iterator[Task]:
    """The tasks that can be cut from the train tasks and that the rules write passes for, in an order that mixes them.

    held_back: fingerprints of tasks to which none may be related. values_of: finds the shapes and dtypes in subgraphs;
    one that it leaves out is not cut. Values of tensors within a graph are taken to be normal."""
    graphs = [(task, subgraph) for task in train for subgraph in _smallest(task)]
    values = values_of([subgraph for _, subgraph in graphs])
    parts: dict[str, list[_Found]] = defaultdict(list)
    for task, subgraph in graphs:
        for found in _parts(task, subgraph, values.get(subgraph.digest, ())):
            parts[found.subgraph.task_id].append(found)
    for name in sorted(parts, key=digest_of):
        task = _task(name, parts[name])
        if not fingerprints(task) & held_back and _is_written(task):
            yield task


def _smallest(task: Task) -> list[Subgraph]:
    """The subgraphs of a train task that are cut: of each dtype in turn, the smallest first."""
    by_dtype: dict[str, list[Subgraph]] = defaultdict(list)
    for each in sorted(task.subgraphs, key=lambda each: (_size(each.inputs), each.id)):
        if _size(each.inputs) <= LARGEST_GRAPH:
            by_dtype[each.dtype].append(each)
    rounds = [
        each for number in range(MOST_GRAPHS) for alike in by_dtype.values() for each in alike[number : number + 1]
    ]
    return rounds[:MOST_GRAPHS]


def _size(specs: Iterable[TensorSpec]) -> int:
    return sum(math.prod(each.shape) for each in specs)


def _parts(task: Task, subgraph: Subgraph, values: Sequence[NodeValue]) -> Iterator[_Found]:
    graph = parse(subgraph.code)
    specs = _specs(subgraph, values)
    given = {each.name for each in subgraph.inputs}
    place = "/".join(subgraph.id.split("/")[:2])
    for start in range(len(graph.operations)):
        for end in range(start + 1, min(start + LONGEST_PART, len(graph.operations)) + 1):
            part = graph.operations[start:end]
            made = standalone(graph, part, specs) if _is_connected(part) and _computes(part) else None
            if made is None or not _are_known(made[1], given):
                continue
            alone, inputs = made
            elements = _size(inputs) + sum(_size([spec]) for node in part if (spec := specs.get(node.name)))
            family = Family.SINGLE if len(part) == 1 else Family.FUSIBLE
            name = PREFIX + task_name(alone, family)
            if elements <= MOST_ELEMENTS and split_of(name) == TRAIN:
                where = f"{place}/{task.id}_op{start}"
                yield _Found(Subgraph(where, name, subgraph.source_model, emit(alone), inputs), family, elements)


def _specs(subgraph: Subgraph, values: Sequence[NodeValue]) -> dict[str, TensorSpec | None]:
    """A description of each node's value; None of one that is not a single tensor."""
    specs: dict[str, TensorSpec | None] = {}
    for value in values:
        if len(value.tensors) == 1:
            form = value.tensors[0]
            normal = (0.0, 1.0) if "float" in form.dtype else (None, None)
            specs[value.node] = TensorSpec(value.node, form.shape, form.dtype, "cuda:0", *normal)
    return {**specs, **{each.name: each for each in subgraph.inputs}}


def _are_known(inputs: Sequence[TensorSpec], given: set[str]) -> bool:
    """Whether values can be drawn: whole numbers from within a graph may be indices, of which no range is known."""
    return all(each.original_name in given or "float" in each.dtype or each.dtype == "bool" for each in inputs)


def _is_connected(part: Part) -> bool:
    group = {part[0].name}
    left = list(part[1:])
    while joined := [
        each for each in left if group & {*each.inputs} or any(each.name in _of(part, name) for name in group)
    ]:
        group.update(each.name for each in joined)
        left = [each for each in left if each.name not in group]
    return not left


def _of(part: Part, name: str) -> tuple[str, ...]:
    """What the node of this name reads."""
    return next(tuple(each.inputs) for each in part if each.name == name)


def _computes(part: Part) -> bool:
    return any(operator_family(each) not in ("layout", "indexing", "creation", "other") for each in part)


def _task(name: str, found: Sequence[_Found]) -> Task:
    first, *others = sorted(found, key=lambda each: (each.elements, each.subgraph.digest))
    kept = [first.subgraph]
    second = (each for each in others if each.subgraph.dtype != first.subgraph.dtype)
    kept += [each.subgraph for each in second if each.elements <= MOST_ELEMENTS_OF_A_SECOND][:1]
    return Task(name, first.family, TRAIN, tuple(sorted(kept, key=lambda each: each.id)))


def _is_written(task: Task) -> bool:
    try:
        return any(plain(each.bundle, STYLES[0]) is not None for each in candidates(task))
    except BadInput:
        return False
