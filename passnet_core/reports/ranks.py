"""The leaderboard as one static page, as CSV and as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passnet_core.charts.downloads import csv_text
from passnet_core.leaderboard.boards import Board, baselines_on, twin
from passnet_core.leaderboard.ranking import (
    PUBLISHED,
    PUBLISHED_SOURCE,
    LeaderboardRow,
    PublishedRow,
    leaderboard,
)
from passnet_core.records import Baseline, Profile
from passnet_core.reports.writing import PROFILES, page
from passnet_core.scoring.intervals import Interval

COLUMNS = (
    "place", "solver", "kind", "bundle_digest", "aggregate_score", "aggregate_low", "aggregate_high", "geometric_mean",
    "geometric_low", "geometric_high", "subgraphs", "right", "faster_than_eager", "compared_with_inductor",
    "faster_than_inductor", "alike", "first_day", "last_day",
)  # fmt: skip


@dataclass(frozen=True)
class RankedBoard:
    """A board with its leaderboard."""

    board: Board
    rows: tuple[LeaderboardRow, ...]

    @property
    def conditions(self) -> str:
        """Under which conditions its solvers were measured, in a line."""
        board = self.board
        first, last = board.dates
        return (
            f"{len(board.places):,} subgraphs of {len(board.task_ids):,} tasks on {board.device}, {board.capture.value}"
            f" capture, judged by {PROFILES[board.profile]}, clock version {board.clock_version}, measured"
            f" {first if first == last else f'{first} to {last}'}"
        )


@dataclass(frozen=True)
class Ranks:
    """What a leaderboard shows: the solvers of a board, apart from them the same by PassNet's rules, and apart from
    both the figures that PassNet has published."""

    ours: RankedBoard
    by_passnet: RankedBoard | None
    published: tuple[PublishedRow, ...] = PUBLISHED
    source: str = PUBLISHED_SOURCE


def ranks_of(board: Board, among: Sequence[Board]) -> Ranks:
    """The ranks on a board. among: all boards."""
    other = twin(board, among) if board.profile is Profile.STRICT else None
    return Ranks(_ranked(board, among), None if other is None else _ranked(other, among))


def _ranked(board: Board, among: Sequence[Board]) -> RankedBoard:
    return RankedBoard(board, leaderboard(board, baselines_on(board.ground, among).get(Baseline.INDUCTOR, {})))


def as_page(ranks: Ranks) -> str:
    """The leaderboard as one HTML file that opens anywhere, and loads nothing."""
    return page("leaderboard.html.jinja", ranks=ranks)


def as_csv(ranked: RankedBoard) -> str:
    """A row for each solver of a board, and none of what others have published."""
    rows = [{**_flat(each), "alike": "; ".join(each.alike)} for each in ranked.rows]
    return csv_text([{name: row[name] for name in COLUMNS} for row in rows])


def as_json(ranks: Ranks) -> dict[str, Any]:
    return {
        "board": _board_json(ranks.ours),
        "by_passnets_rules": None if ranks.by_passnet is None else _board_json(ranks.by_passnet),
        "published": {
            "source": ranks.source,
            "rows": [
                {
                    "solver": each.name,
                    "aggregate_score": each.score,
                    "geometric_mean": each.geometric_mean,
                    "right": each.right,
                    "faster_than_eager": each.faster,
                }
                for each in ranks.published
            ],
        },
    }


def _board_json(ranked: RankedBoard) -> dict[str, Any]:
    return {
        **ranked.board.facts,
        "rows": [{**_flat(each), "alike": list(each.alike)} for each in ranked.rows],
    }


def _flat(row: LeaderboardRow) -> Mapping[str, Any]:
    contestant = row.contestant
    return {
        "place": row.place,
        "solver": contestant.name,
        "kind": contestant.kind.value,
        "bundle_digest": contestant.bundle_digest,
        **_figures("aggregate_score", "aggregate", row.score),
        **_figures("geometric_mean", "geometric", row.geometric_mean),
        "subgraphs": row.subgraphs,
        "right": row.right,
        "faster_than_eager": row.faster,
        "compared_with_inductor": row.compared,
        "faster_than_inductor": row.faster_than_inductor,
        "first_day": row.days[0],
        "last_day": row.days[1],
    }


def _figures(name: str, stem: str, interval: Interval | None) -> dict[str, float | None]:
    """A figure and the ends of its interval."""
    found = (None, None, None) if interval is None else (interval.value, interval.low, interval.high)
    rounded = [None if each is None else round(each, 4) for each in found]
    return dict(zip((name, f"{stem}_low", f"{stem}_high"), rounded))
