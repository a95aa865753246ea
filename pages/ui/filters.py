"""The search over tasks and the table of its results. It does not use Streamlit, so tests need no page."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from passnet_core.corpus.likeness import Neighbours
from passnet_core.corpus.searching import fits, read_query, searched
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.service import Standing

UNSOLVED = "unsolved"
INDUCTOR_SLOWER = "Inductor slower than eager"
TRIED = "tried"
SIZES: Mapping[str, range] = {
    "1 to 3": range(4),
    "4 to 10": range(4, 11),
    "11 to 50": range(11, 51),
    "more": range(51, 10**9),
}


@dataclass(frozen=True)
class TaskStanding:
    """The results of a task over its subgraphs. right: on how many of them some bundle is right."""

    attempts: int = 0
    right: int = 0
    inductor_slower: bool = False
    best_speedup: float | None = None
    best_run_id: str | None = None


NEVER_TRIED = TaskStanding()


@dataclass(frozen=True)
class Search:
    """The fields of a search. An empty field excludes nothing."""

    text: str = ""
    families: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    operators: Sequence[str] = ()
    sources: Sequence[str] = ()
    splits: Sequence[str] = ()
    sizes: Sequence[str] = ()
    states: Sequence[str] = ()


def standing_by_task(standings: Iterable[Standing]) -> dict[str, TaskStanding]:
    by_task: dict[str, list[Standing]] = {}
    for each in standings:
        by_task.setdefault(each.task_id, []).append(each)
    return {task_id: _together(each) for task_id, each in by_task.items()}


def _together(standings: Sequence[Standing]) -> TaskStanding:
    measured = [each for each in standings if each.best_speedup is not None]
    best = max(measured, key=lambda each: each.best_speedup or 0.0, default=None)
    return TaskStanding(
        attempts=sum(each.attempts for each in standings),
        right=sum(each.right > 0 for each in standings),
        inductor_slower=any(each.inductor_speedup is not None and each.inductor_speedup < 1 for each in standings),
        best_speedup=best.best_speedup if best else None,
        best_run_id=best.best_run_id if best else None,
    )


class Listing:
    """Tasks to search and show. What all searches share is computed once, as there may be many thousands of tasks."""

    def __init__(self, tasks: Sequence[TaskSummary]) -> None:
        self.tasks = tuple(tasks)
        self.operators = _every(task.vocabulary for task in tasks)
        self.dtypes = _every(task.dtypes for task in tasks)
        self.sources = _every(task.source_models for task in tasks)
        self.splits = _every((task.split,) for task in tasks if task.split)
        self.families = _every((task.family.value,) for task in tasks)
        self._searched = [searched(task) for task in tasks]
        self._known_alike: dict[tuple[int, int], list[tuple[int, float]]] = {}
        self._vocabularies = [frozenset(task.vocabulary) for task in tasks]
        self._dtypes = [task.dtypes for task in tasks]
        self._places = {task.id: place for place, task in enumerate(tasks)}
        self._table = pa.table(
            {
                "task": [task.id for task in tasks],
                "subgraphs": [task.subgraphs for task in tasks],
                "operations": [task.operations for task in tasks],
                "operators": [" ".join(task.operators) for task in tasks],
                "dtypes": [" ".join(task.dtypes) for task in tasks],
                "best": pa.nulls(len(tasks), pa.float64()),
                "accepted": [f"0 of {task.subgraphs}" for task in tasks],
                "split": [task.split for task in tasks],
                "family": [task.family.value for task in tasks],
                "models": [", ".join(task.source_models) for task in tasks],
            }
        )

    def found(self, search: Search, standings: Mapping[str, TaskStanding]) -> list[int]:
        """Return the positions of the tasks that match every field. A task must have all operators of the search; in
        the other fields, one of the choices is enough."""
        found = list(range(len(self.tasks)))
        for demand in self._demands(search, standings):
            found = [place for place in found if demand(place)]
        return found

    def _demands(self, search: Search, standings: Mapping[str, TaskStanding]) -> Iterator[Callable[[int], bool]]:
        tasks = self.tasks
        if search.text.strip():
            query = read_query(search.text)
            yield lambda place: fits(query, self._searched[place])
        if search.families:
            yield lambda place: tasks[place].family.value in search.families
        if search.splits:
            yield lambda place: tasks[place].split in search.splits
        if search.sizes:
            sizes = [SIZES[size] for size in search.sizes if size in SIZES]
            yield lambda place: any(tasks[place].operations in size for size in sizes)
        if search.dtypes:
            # many thousands of tasks share a few combinations
            fitting = {each for each in set(self._dtypes) if not set(search.dtypes).isdisjoint(each)}
            yield lambda place: self._dtypes[place] in fitting
        if search.operators:
            operators = frozenset(search.operators)
            yield lambda place: operators <= self._vocabularies[place]
        if search.sources:
            sources = frozenset(search.sources)
            yield lambda place: not sources.isdisjoint(tasks[place].source_models)
        if search.states:
            yield lambda place: _stands(tasks[place], search.states, standings.get(tasks[place].id, NEVER_TRIED))

    def alike(self, task_id: str, most: int = 8) -> list[tuple[TaskSummary, float]]:
        """Return the tasks with the most similar operations, each with its likeness from 0 to 1."""
        place = self._places.get(task_id)
        if place is None:
            return []
        if (place, most) not in self._known_alike:
            self._known_alike[place, most] = self._neighbours.of(place, most)
        return [(self.tasks[other], likeness) for other, likeness in self._known_alike[place, most]]

    @functools.cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours([task.operators for task in self.tasks])

    def table(self, places: Sequence[int], standings: Mapping[str, TaskStanding]) -> pa.Table:
        """Return a row for the task at each of these positions, with its results so far."""
        rows = self._table.take(pa.array(places, pa.int64()))
        stand = {
            place: (standing.best_speedup, f"{standing.right} of {self.tasks[place].subgraphs}")
            for task_id, standing in standings.items()
            if (place := self._places.get(task_id)) is not None
        }
        known = pa.array([place in stand for place in places], pa.bool_())
        in_order = [stand[place] for place in places if place in stand]
        for name, kind, values in zip(("best", "accepted"), (pa.float64(), pa.string()), zip(*in_order)):
            column = pc.replace_with_mask(rows[name], known, pa.array(values, kind))
            rows = rows.set_column(rows.column_names.index(name), name, column)
        return rows


def _every(names: Iterable[Iterable[str]]) -> list[str]:
    return sorted({name for each in names for name in each})


def _stands(task: TaskSummary, states: Sequence[str], standing: TaskStanding) -> bool:
    return (
        (UNSOLVED not in states or standing.right < task.subgraphs)
        and (INDUCTOR_SLOWER not in states or standing.inductor_slower)
        and (TRIED not in states or standing.attempts > 0)
    )
