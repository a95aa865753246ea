"""Measured results, cached until something new is measured: moving a slider must not query the store again."""

import functools
from collections.abc import Mapping

from pages.ui import resources
from passnet_core.leaderboard.boards import Board
from passnet_core.leaderboard.gains import TaskStanding, standing_by_task
from passnet_core.leaderboard.gallery import Exhibit
from passnet_core.leaderboard.inductor_effects import BaselineRow
from passnet_core.service import Service


def boards(*, aborts_fail: bool = False) -> tuple[Board, ...]:
    """Return the leaderboards; the same objects while nothing is added, so that their reports are computed once.
    aborts_fail: as in Service.boards."""
    service = resources.service()
    return _boards(service, service.revision(), service.corpus.revision, aborts_fail)


def baseline_rows() -> tuple[BaselineRow, ...]:
    """Return how TorchInductor compares with eager, one row per subgraph, device and capture."""
    service = resources.service()
    return _baseline_rows(service, service.revision())


def standings() -> Mapping[str, TaskStanding]:
    """Return how each task with outcomes stands; the same object while nothing is added."""
    service = resources.service()
    return _standings(service, service.revision())


def gallery() -> tuple[Exhibit, ...]:
    """Return what the gallery shows. Raises BadInput if the file of bundles is missing or damaged."""
    service = resources.service()
    return _gallery(service, service.revision(), service.corpus.revision)


@functools.lru_cache(maxsize=2)
def _boards(service: Service, revision: int, corpus_revision: int, aborts_fail: bool) -> tuple[Board, ...]:
    return service.boards(aborts_fail=aborts_fail)


@functools.lru_cache(maxsize=1)
def _baseline_rows(service: Service, revision: int) -> tuple[BaselineRow, ...]:
    return service.baseline_rows()


@functools.lru_cache(maxsize=1)
def _standings(service: Service, revision: int) -> Mapping[str, TaskStanding]:
    return standing_by_task(service.standings())


@functools.lru_cache(maxsize=1)
def _gallery(service: Service, revision: int, corpus_revision: int) -> tuple[Exhibit, ...]:
    return service.gallery()
