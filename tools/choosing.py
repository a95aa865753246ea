"""Choose a benchmark from very many tasks: tasks that many models contain, as different as possible. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from passnet_core.corpus.cutting import label
from passnet_core.corpus.likeness import grams, likeness
from passnet_core.corpus.members import spread
from passnet_core.graphs.effects import is_random
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_family, operator_label, operator_sequence
from passnet_core.records import Family, Subgraph, Task

# fmt: off
UNFIT = frozenset((
    "_grouped_mm", "grouped_mm_fallback", "item", "nonzero", "_set_grad_enabled", "empty",
    "empty_like", "new_empty", "setitem",
))
# fmt: on
"""Operations that need values which belong together, unlike random ones, that compute nothing, or that are random."""

IDLE = ("layout", "indexing", "creation")
"""Operator families that compute nothing; dropout outside training computes nothing either."""


@dataclass(frozen=True)
class Quota:
    """How many tasks of a family, with this range of operations, to choose: at most so many, each with at most so many
    subgraphs. at_least: tasks with fewer subgraphs are not chosen."""

    family: Family
    operations: range
    tasks: int
    subgraphs: int
    at_least: int


QUOTAS = (
    *(
        Quota(Family.FUSIBLE, range(low, high), tasks, 12, 6)
        for low, high, tasks in ((2, 3, 44), (3, 4, 52), (4, 5, 40), (5, 7, 44), (7, 9, 22), (9, 13, 22), (13, 41, 26))
    ),
    Quota(Family.SINGLE, range(1, 2), 66, 8, 4),
    Quota(Family.TYPICAL, range(12, 41), 66, 5, 2),
)
"""The numbers of operations are distributed like PassBench's: median 3 to 4, up to 33."""


def chosen(
    tasks: Sequence[Task],
    taken: Sequence[tuple[str, ...]],
    runs: Callable[[Task], bool],
    quotas: Sequence[Quota] = QUOTAS,
) -> Iterator[Task]:
    """Yield the chosen tasks by name. taken: sequences of operations that the benchmark already has. runs: whether a
    task with its chosen subgraphs runs on drawn inputs; another task replaces one that does not."""
    known = frozenset(taken)
    sequences = {task.id: operator_sequence(parse(task.subgraphs[0].code)) for task in tasks}
    found: list[Task] = []
    for quota in quotas:
        fitting = [
            replace(task, subgraphs=spread(task.subgraphs, quota.subgraphs))
            for task in tasks
            if task.family is quota.family
            and len(sequences[task.id]) in quota.operations
            and len(task.subgraphs) >= quota.at_least
            and sequences[task.id] not in known
            and not any(_is_unfit(subgraph) for subgraph in task.subgraphs)
        ]
        found += most_varied(fitting, sequences, quota.tasks, runs)
    yield from sorted(found, key=lambda task: task.id)


def _is_unfit(subgraph: Subgraph) -> bool:
    graph = parse(subgraph.code)
    idle = all(operator_family(node) in IDLE or operator_label(node) == "dropout" for node in graph.operations)
    return idle or any(label(node) in UNFIT or is_random(node) for node in graph.operations)


def most_varied(
    tasks: Sequence[Task], operators: Mapping[str, tuple[str, ...]], most: int, runs: Callable[[Task], bool]
) -> list[Task]:
    """Pick tasks that run, one at a time: common in many models, and least like the tasks picked before."""
    left = {task.id: task for task in sorted(tasks, key=lambda task: task.id)}
    all_grams = {name: grams(operators[name]) for name in left}
    worth = {name: len({each.source_model for each in task.subgraphs}).bit_length() for name, task in left.items()}
    closest = dict.fromkeys(left, 0.0)
    picked: list[Task] = []
    while left and len(picked) < most:
        name = max(left, key=lambda each: worth[each] * (1 - closest[each]))
        task = left.pop(name)
        if not runs(task):
            continue
        picked.append(task)
        for other in left:
            closest[other] = max(closest[other], likeness(all_grams[name], all_grams[other]))
    return picked
