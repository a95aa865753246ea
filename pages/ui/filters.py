"""The search over tasks and the table of its results. It does not use Streamlit, so tests need no page."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from passnet_core.corpus.likeness import Neighbours
from passnet_core.corpus.searching import corrected, fits, read_query, searched
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.gains import NEVER_TRIED, TaskStanding, order_by_gain
from passnet_core.records import CLOCK_VERSION, Profile

if TYPE_CHECKING:  # loading it takes a third of a second, and Start needs no table
    import pyarrow as pa

UNSOLVED = "unsolved"
INDUCTOR_SLOWER = "Inductor slower than eager"
TRIED = "tried"
MEASURED = "measured"
STATES = (UNSOLVED, INDUCTOR_SLOWER, TRIED, MEASURED)
SIZES: Mapping[str, range] = {
    "1 to 3": range(4),
    "4 to 10": range(4, 11),
    "11 to 50": range(11, 51),
    "more": range(51, 10**9),
}
MOST_TO_GAIN = "Most to gain"
ORDERS: Mapping[str, tuple[str, bool] | None] = {
    MOST_TO_GAIN: None,
    "Slowest in eager": ("eager µs", True),
    "Slowest with Inductor": ("Inductor ×", False),
    "Highest best ×": ("best ×", True),
    "Most subgraphs": ("subgraphs", True),
    "Most operations": ("operations", True),
    "Name": ("task", False),
}
"""The orders of the table: by which column, and whether the largest value comes first. None: gains.order_by_gain."""


@dataclass(frozen=True)
class Search:
    """The fields of a search. An empty field excludes nothing. order: a key of ORDERS."""

    text: str = ""
    families: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    operators: Sequence[str] = ()
    sources: Sequence[str] = ()
    splits: Sequence[str] = ()
    sizes: Sequence[str] = ()
    states: Sequence[str] = ()
    order: str = MOST_TO_GAIN


@dataclass(frozen=True)
class Slowed:
    """The tasks that TorchInductor makes slower than eager. worst: its smallest speedup among them."""

    tasks: int
    worst: float


class Standings(NamedTuple):
    """Tasks with their standings: the positions of all, by gain, and a row for each, in the order of the listing."""

    standings: Mapping[str, TaskStanding]
    order: Sequence[int]
    rows: "pa.Table"


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
        self._ranked: Standings | None = None

    def found(self, search: Search, standings: Mapping[str, TaskStanding]) -> list[int]:
        """Return the positions of the tasks that match every field, in the order of the search. A task must have all
        operators of the search; in the other fields, one of the choices is enough."""
        ranked = self._by_gain(standings)
        found = list(ranked.order)
        for demand in self._demands(search, standings):
            found = [place for place in found if demand(place)]
        by = ORDERS.get(search.order)
        if by:
            column, largest_first = by
            values = ranked.rows[column].to_pylist()
            known = [place for place in found if values[place] is not None]
            # the sort is stable: among equals, and without a value, the order stays
            known.sort(key=values.__getitem__, reverse=largest_first)
            found = known + [place for place in found if values[place] is None]
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

    def corrected(self, text: str) -> str:
        """Return the search text with likely operators, models and families in place of words that no task has; empty
        if there is nothing to propose."""
        return corrected(text, self._words)

    @functools.cached_property
    def _words(self) -> list[str]:
        names = {part for task in self.tasks for part in re.split(r"[\W\d]+", task.id.lower()) if len(part) > 2}
        return sorted({*names, *(each.lower() for each in (*self.operators, *self.sources, *self.families))})

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

    def table(self, places: Sequence[int], standings: Mapping[str, TaskStanding]) -> "pa.Table":
        """Return a row for the task at each of these positions, with its results so far."""
        import pyarrow as pa

        return self._by_gain(standings).rows.take(pa.array(places, pa.int64()))

    def slowed(self, places: Sequence[int], standings: Mapping[str, TaskStanding]) -> Slowed | None:
        """Return how many of these tasks TorchInductor makes slower, and by how much at worst; None if none."""
        stood = (standings.get(self.tasks[place].id, NEVER_TRIED) for place in places)
        slower = [each.inductor for each in stood if each.inductor is not None and each.inductor_slower]
        return Slowed(len(slower), min(slower)) if slower else None

    def _by_gain(self, standings: Mapping[str, TaskStanding]) -> Standings:
        """Return the tasks with these standings; the same object while the standings are the same object."""
        known = self._ranked
        if known is None or known.standings is not standings:
            stood = [standings.get(task.id, NEVER_TRIED) for task in self.tasks]
            keys = [order_by_gain(task.id, each, len(task.source_models)) for task, each in zip(self.tasks, stood)]
            order = sorted(range(len(keys)), key=keys.__getitem__)
            known = self._ranked = Standings(standings, order, self._rows(stood))
        return known

    def _rows(self, stood: Sequence[TaskStanding]) -> "pa.Table":
        import pyarrow as pa

        tasks = self.tasks
        return pa.table(
            {
                "task": [task.id for task in tasks],
                "operators": [" ".join(task.operators) for task in tasks],
                "eager µs": pa.array([each.eager_us for each in stood], pa.float64()),
                "Inductor ×": pa.array([each.inductor for each in stood], pa.float64()),
                "best ×": pa.array([each.best for each in stood], pa.float64()),
                "by": pa.array([each.best_by or None for each in stood], pa.string()),
                "status": [_status(task, each) for task, each in zip(tasks, stood)],
                "subgraphs": [task.subgraphs for task in tasks],
                "dtypes": [" ".join(task.dtypes) for task in tasks],
                "operations": [task.operations for task in tasks],
                "models": [", ".join(task.source_models) for task in tasks],
                "split": [task.split for task in tasks],
                "family": [task.family.value for task in tasks],
                "measured": pa.array([_measured(task, each) for task, each in zip(tasks, stood)], pa.string()),
            }
        )


def _every(names: Iterable[Iterable[str]]) -> list[str]:
    return sorted({name for each in names for name in each})


def conditions_of(standing: TaskStanding) -> str:
    """Name device, capture, and any older clock version or lighter profile that the figures are of; empty if none."""
    if not standing.measured:
        return ""
    one = standing.measured[0]
    pieces = (
        one.device,
        f"{one.capture.value} capture" if one.capture else "",
        "PassNet's rules" if one.profile is Profile.PASSNET else "",
        f"clock version {one.clock_version}" if one.clock_version != CLOCK_VERSION else "",
    )
    return ", ".join(filter(None, pieces))


def _measured(task: TaskSummary, standing: TaskStanding) -> str | None:
    conditions = conditions_of(standing)
    return f"{len(standing.measured)} of {task.subgraphs} on {conditions}" if conditions else None


def _status(task: TaskSummary, standing: TaskStanding) -> str:
    return f"{standing.right} of {task.subgraphs} accepted" if standing.attempts else "not tried"


def _stands(task: TaskSummary, states: Sequence[str], standing: TaskStanding) -> bool:
    return (
        (UNSOLVED not in states or standing.right < task.subgraphs)
        and (INDUCTOR_SLOWER not in states or standing.inductor_slower)
        and (TRIED not in states or standing.attempts > 0)
        and (MEASURED not in states or standing.best is not None)
    )
