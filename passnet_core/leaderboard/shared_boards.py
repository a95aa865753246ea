"""Boards for many people at the same time: computed once for all who ask, and again only where something is new.

What everybody sees is most of every board, and a new outcome of one person changes only that person's."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from passnet_core.leaderboard.boards import Board, boards_of_ground
from passnet_core.leaderboard.grounds import Ground
from passnet_core.records import Verdict
from passnet_core.store.rows import ScoreRow

Value = TypeVar("Value")
Rows = Mapping[Hashable, ScoreRow]
"""Rows by what there is one row of: a solver on a subgraph under certain conditions."""

VIEWS_KEPT = 64
"""How many answers are kept: one for each person with measurements, and for each task that somebody looks at."""
GROUNDS_KEPT = 64
"""Of how many sets of rows of one ground the boards are kept."""


class SharedAnswers(Generic[Value]):
    """Values that are computed once for all who ask at the same time, and again when their stamp has changed."""

    def __init__(self, most: int) -> None:
        """most: how many are kept; those that were asked for last."""
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[Hashable, _SharedAnswer[Value]] = OrderedDict()

    def of(self, key: Hashable, stamp: object, compute: Callable[[], Value]) -> Value:
        """Return the value of this key. stamp: read before; while it stays the same, so does what compute returns."""
        with self._lock:
            kept = self._kept.setdefault(key, _SharedAnswer())
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        with kept.computing:
            if not kept.value or kept.stamp != stamp:
                kept.value, kept.stamp = (compute(),), stamp
            return kept.value[0]


class _SharedAnswer(Generic[Value]):
    def __init__(self) -> None:
        self.computing = threading.Lock()
        self.stamp: object = None
        self.value: tuple[Value] | tuple[()] = ()


class GroundBoards:
    """Remembers the boards of rows of one ground. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: list[tuple[tuple[Any, ...], Sequence[Board]]] = []

    def of(
        self,
        ground: Ground,
        rows: tuple[ScoreRow, ...],
        names: Mapping[str, str],
        totals: Mapping[str, int],
        several: Collection[str],
    ) -> Sequence[Board]:
        """Like boards_of_ground."""
        asked = (ground, len(rows), rows, names, totals, several)
        with self._lock:
            # equal rows are nearly always the same objects, of which a tuple knows at once that they are equal
            known = next((made for made in self._made if made[0] == asked), None)
            if known is not None:
                self._made.remove(known)
                self._made.append(known)
                return known[1]
        made = boards_of_ground(ground, rows, names, totals, several)
        with self._lock:
            self._made = [*self._made[1 - GROUNDS_KEPT :], (asked, made)]
        return made


class SharedBoards:
    """What is computed once for all who ask: boards, the rows that they are made of, and those of a ground."""

    def __init__(self) -> None:
        self.views: SharedAnswers[tuple[Board, ...]] = SharedAnswers(VIEWS_KEPT)
        self.nobodys_rows: SharedAnswers[Rows] = SharedAnswers(1)
        self.of_ground = GroundBoards().of


def by_solver(rows: Iterable[ScoreRow]) -> Rows:
    """Return the rows by solver, subgraph and conditions."""
    return {_key(row): row for row in rows}


def merged(everybodys: Rows, own: Iterable[ScoreRow]) -> Rows:
    """Return everybody's rows and a person's own. Of the same solver, subgraph and conditions the newest counts, but
    one that is inconclusive only where there is no other."""
    newer = {key: row for row in own if (key := _key(row)) not in everybodys or _rank(row) >= _rank(everybodys[key])}
    return {**everybodys, **newer}


def _rank(row: ScoreRow) -> tuple[bool, str]:
    return row.verdict is not Verdict.INCONCLUSIVE, row.finished_at


def _key(row: ScoreRow) -> Hashable:
    return (
        row.solver, row.bundle_digest, row.baseline, row.task_id, row.subgraph_id, row.subgraph_digest, row.device,
        row.capture, row.profile, row.clock_version,
    )  # fmt: skip
