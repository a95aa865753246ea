"""The gallery: the best of many bundles, of every family of tasks."""

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.grounds import ground_of
from passnet_core.outside import syntax_tree
from passnet_core.records import Bundle, Family, Outcome, PassFile, Subgraph, Task, Verdict
from passnet_core.store.rows import ScoreRow

SIZE = 40
"""How many bundles the gallery shows."""
LEAST = 6
"""How many of each family it shows at least, if there are as many."""


@dataclass(frozen=True)
class Exhibit:
    """A bundle in the gallery. recorded: its highest recorded speedup; None: no time of it is recorded. measured: on
    how many subgraphs of the task it was measured. outcome: what recorded is a summary of."""

    task: TaskSummary
    bundle: Bundle
    recorded: ScoreRow | None = None
    measured: int = 0
    outcome: Outcome | None = None

    @property
    def speedup(self) -> float | None:
        return self.recorded.speedup if self.recorded else None

    def passes_on(self, subgraph_id: str) -> tuple[PassFile, ...]:
        """The passes that matched this subgraph when it was measured; else those that name it; else all."""
        match = self.outcome.match if self.outcome and self.outcome.subgraph_id == subgraph_id else None
        matched = {each.name for each in match.passes if each.matches} if match else set()
        passes = self.bundle.passes
        return (
            tuple(file for file in passes if file.name.removesuffix(".py") in matched)
            or tuple(file for file in passes if subgraph_id in docstring(file.code).split())
            or passes
        )

    @property
    def gist(self) -> str:
        """The first line of what its first pass says of itself, on the subgraph that was measured."""
        passes = self.passes_on(self.recorded.subgraph_id) if self.recorded else self.bundle.passes
        return docstring(passes[0].code).partition("\n")[0] if passes else ""

    def subgraph_of(self, task: Task) -> Subgraph:
        """The subgraph to show with it: the one that was measured, else one that its passes name, else the first.
        Raises UnknownItem if the task has changed since."""
        if self.recorded:
            return task.subgraph(self.recorded.subgraph_id)
        named = {word for file in self.bundle.passes[:1] for word in docstring(file.code).split()}
        return next((each for each in task.subgraphs if each.id in named), task.subgraphs[0])


@functools.lru_cache(maxsize=512)
def docstring(code: str) -> str:
    """What a file says of itself; empty for one that says nothing or cannot be read."""
    try:
        return ast.get_docstring(syntax_tree(code)) or ""
    except (SyntaxError, ValueError):
        return ""


def chosen(
    bundles: Mapping[str, Bundle],
    tasks: Iterable[TaskSummary],
    rows: Iterable[ScoreRow],
    *,
    size: int = SIZE,
    least: int = LEAST,
) -> tuple[Exhibit, ...]:
    """Choose from the bundles by task id. Families with more recorded speedups come first, and within a family higher
    ones.

    Only recorded results count, so that what visitors run changes nothing, and only those of the conditions under which
    most bundles were measured, so that speedups can be compared. A bundle that was measured has to be right wherever it
    was, and faster where it is fastest. Every family gets at least so many places, then families take turns. Places
    that are left go to bundles without a recorded time, those first whose task occurs in the most models."""
    results = _results(bundles, rows)
    families: defaultdict[Family, list[Exhibit]] = defaultdict(list)
    for task in tasks:
        if task.id in bundles:
            found = _exhibit(task, bundles[task.id], results.get(task.id, ()))
            if found is not None:
                families[task.family].append(found)
    for each in families.values():
        each.sort(key=_order)
    timed_of = {family: sum(each.recorded is not None for each in found) for family, found in families.items()}
    order = sorted(families, key=lambda family: (-timed_of[family], _order(families[family][0])))
    reserved = _in_turn([families[family][:least] for family in order])
    others = [families[family][least:] for family in order]
    timed = _in_turn([[each for each in family if each.recorded] for family in others])
    untimed = _in_turn([[each for each in family if not each.recorded] for family in others])
    taken = [*reserved, *timed, *untimed][:size]
    return tuple(sorted(taken, key=lambda each: (order.index(each.task.family), _order(each))))


def _order(exhibit: Exhibit) -> tuple[float, int, str]:
    return -(exhibit.speedup or 0.0), -len(exhibit.task.source_models), exhibit.task.id


def _in_turn(queues: Sequence[Sequence[Exhibit]]) -> list[Exhibit]:
    """Take the first of each queue, then the second of each, and so on."""
    return [each for each in chain.from_iterable(zip_longest(*queues)) if each is not None]


def _results(bundles: Mapping[str, Bundle], rows: Iterable[ScoreRow]) -> Mapping[str, Sequence[ScoreRow]]:
    """Return the results by task, from the conditions that cover the most tasks."""
    own = [
        row
        for row in rows
        if row.recorded and row.task_id in bundles and row.bundle_digest == bundles[row.task_id].digest
    ]
    covered = Counter(ground for ground, _ in {(ground_of(row), row.task_id) for row in own})
    if not covered:
        return {}
    # the newest clock version, and then the names, decide between conditions with as many tasks
    best = max(covered, key=lambda ground: (covered[ground], ground[3], ground))
    found: defaultdict[str, list[ScoreRow]] = defaultdict(list)
    for row in own:
        if ground_of(row) == best:
            found[row.task_id].append(row)
    return found


def _exhibit(task: TaskSummary, bundle: Bundle, results: Sequence[ScoreRow]) -> Exhibit | None:
    """Return what to show of a bundle; None if a result speaks against it."""
    if not results:
        return Exhibit(task, bundle)
    if any(row.error_class is not None or row.speedup is None for row in results):
        return None
    best = min(results, key=lambda row: (-(row.speedup or 0.0), row.subgraph_id))
    return Exhibit(task, bundle, best, len(results)) if best.verdict is Verdict.FASTER else None


def with_outcomes(exhibits: Iterable[Exhibit], outcomes: Callable[[str], Sequence[Outcome]]) -> tuple[Exhibit, ...]:
    """Return the exhibits with their outcomes. outcomes: returns those of a run."""
    return tuple(_with_outcome(each, outcomes) for each in exhibits)


def _with_outcome(exhibit: Exhibit, outcomes: Callable[[str], Sequence[Outcome]]) -> Exhibit:
    row = exhibit.recorded
    if row is None:
        return exhibit
    place = (row.task_id, row.subgraph_id)
    found = next((each for each in outcomes(row.run_id) if (each.task_id, each.subgraph_id) == place), None)
    return replace(exhibit, outcome=found)
