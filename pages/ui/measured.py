"""Measured results, cached until something new is measured: moving a slider must not query the store again."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from pages.ui import resources
from passnet_core.access.personal import PersonalService, SharedService
from passnet_core.leaderboard.boards import Board
from passnet_core.leaderboard.gains import TaskStanding, standing_by_task
from passnet_core.leaderboard.gallery import Exhibit
from passnet_core.leaderboard.inductor_effects import BaselineRow
from passnet_core.leaderboard.known_times import KnownTimes
from passnet_core.leaderboard.known_times import known_times as _known
from passnet_core.leaderboard.known_times import times_beside as _beside
from passnet_core.records import Outcome

BOARDS_KEPT = 8
KNOWN_KEPT = 512
RUNS_SEEN = 40
STANDINGS_KEPT = 64
"""For how many persons these are kept, of those who see runs of their own in them."""


@dataclass(frozen=True)
class _Seen:
    """What somebody sees, as a key of the caches. viewer: as in PersonalService. revision, corpus: while they stay the
    same, so do the answers."""

    shared: SharedService
    viewer: str | None
    revision: int
    corpus: int
    access: PersonalService = field(compare=False)


def _seen() -> _Seen:
    access = resources.service()
    viewer = access.viewer if access.viewer is None or access.has_measured() else ""
    if viewer != access.viewer:
        # what everybody sees, computed once for all of them
        access = resources.host().access("", None)
    return _Seen(access.shared, viewer, access.revision(), access.corpus.revision, access)


def boards(*, aborts_fail: bool = False) -> tuple[Board, ...]:
    """Return the leaderboards; the same objects while nothing is added, so that their reports are computed once.
    aborts_fail: as in Service.boards."""
    return _boards(_seen(), aborts_fail)


def baseline_rows() -> tuple[BaselineRow, ...]:
    """Return how TorchInductor compares with eager, one row per subgraph, device and capture."""
    return _baseline_rows(_seen())


def standings() -> Mapping[str, TaskStanding]:
    """Return how each task with outcomes stands; the same object while nothing is added."""
    return _standings(_seen())


def known_times(task: str, subgraph: str) -> KnownTimes | None:
    """Return what a call of a subgraph takes by eager, TorchInductor and the best passes known, if it was timed."""
    return _known_times(_seen(), task, subgraph)


def times_beside(outcome: Outcome) -> KnownTimes | None:
    """Return the same on the machine of an outcome, with the times of its own run; None: it has no times."""
    seen = _seen()
    return _beside(outcome, seen.access.score_rows(outcome.task_id), seen.access.outcomes)


def own_outcomes(task: str, subgraph: str) -> tuple[Outcome, ...]:
    """Return what one's own newest runs, at most RUNS_SEEN, say of a subgraph, once for each bundle; the same object
    while nothing is added."""
    access = resources.service()
    seen = _Seen(access.shared, access.viewer, access.revision(), access.corpus.revision, access)
    return _own_outcomes(seen, task, subgraph)


def gallery() -> tuple[Exhibit, ...]:
    """Return what the gallery shows. Raises BadInput if the file of bundles is missing or damaged."""
    return _gallery(_seen())


@functools.lru_cache(maxsize=BOARDS_KEPT)
def _boards(seen: _Seen, aborts_fail: bool) -> tuple[Board, ...]:
    return seen.access.boards(aborts_fail=aborts_fail)


@functools.lru_cache(maxsize=BOARDS_KEPT)
def _baseline_rows(seen: _Seen) -> tuple[BaselineRow, ...]:
    return seen.access.baseline_rows()


@functools.lru_cache(maxsize=KNOWN_KEPT)
def _known_times(seen: _Seen, task: str, subgraph: str) -> KnownTimes | None:
    scores = seen.access.score_rows(task)
    return _known(task, subgraph, _baseline_rows(seen), scores, seen.access.outcomes)


@functools.lru_cache(maxsize=STANDINGS_KEPT)
def _own_outcomes(seen: _Seen, task: str, subgraph: str) -> tuple[Outcome, ...]:
    access = seen.access
    own = [each.run.id for each in access.runs(RUNS_SEEN, task, mine=True) if not each.run.recorded]
    found = (outcome for run_id in reversed(own) for outcome in access.outcomes(run_id))
    here = (each for each in found if (each.task_id, each.subgraph_id) == (task, subgraph))
    return tuple({each.bundle_digest: each for each in here}.values())


@functools.lru_cache(maxsize=STANDINGS_KEPT)
def _standings(seen: _Seen) -> Mapping[str, TaskStanding]:
    return standing_by_task(seen.access.standings())


@functools.lru_cache(maxsize=BOARDS_KEPT)
def _gallery(seen: _Seen) -> tuple[Exhibit, ...]:
    return seen.access.gallery()
