"""Which tasks a search finds: pure, so that it is tested without a page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    """What is known of a task, over its subgraphs. right: subgraphs on which some bundle is right."""

    attempts: int = 0
    right: int = 0
    inductor_slower: bool = False
    best_speedup: float | None = None
    best_run_id: str | None = None


@dataclass(frozen=True)
class Search:
    """What is looked for; an empty field finds everything."""

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


def found(
    tasks: Iterable[TaskSummary], search: Search, standings: Mapping[str, TaskStanding]
) -> tuple[TaskSummary, ...]:
    """The tasks that fit every field; operators must all be there, of the other fields one choice is enough."""
    words = search.text.lower().split()
    return tuple(each for each in tasks if _fits(each, words, search, standings.get(each.id, TaskStanding())))


def _fits(task: TaskSummary, words: Sequence[str], search: Search, standing: TaskStanding) -> bool:
    if words:
        text = " ".join((task.id, task.split, *task.source_models, *task.vocabulary)).lower()
        if not all(word in text for word in words):
            return False
    return (
        (not search.families or task.family.value in search.families)
        and (not search.dtypes or not set(search.dtypes).isdisjoint(task.dtypes))
        and set(search.operators) <= set(task.vocabulary)
        and (not search.sources or not set(search.sources).isdisjoint(task.source_models))
        and (not search.splits or task.split in search.splits)
        and (not search.sizes or any(task.operations in SIZES[size] for size in search.sizes if size in SIZES))
        and (UNSOLVED not in search.states or standing.right < task.subgraphs)
        and (INDUCTOR_SLOWER not in search.states or standing.inductor_slower)
        and (TRIED not in search.states or standing.attempts > 0)
    )
