"""The leaderboard: solvers ranked on one board by the aggregate score, and which of them cannot be told apart.

Subgraphs of one task resemble each other, so tasks are drawn for the intervals, with all of their subgraphs. The same
draws serve all solvers: two solvers differ if 95% of the draws agree which one is better."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from passnet_core.leaderboard.boards import Board, Contestant, Duel, Place, duel, right_at
from passnet_core.records import Baseline
from passnet_core.scoring.intervals import LEVEL, RESAMPLES, Interval
from passnet_core.scoring.scores import WEIGHTS, error_aware_logs
from passnet_core.store.rows import ScoreRow

WITHIN = 1
"""The t at which a result is right: within the tolerance of t = 1, the widest."""


@dataclass(frozen=True)
class LeaderboardRow:
    """A solver on a leaderboard.

    place: 1 and the number of solvers that are better beyond chance; those of one place cannot be told apart from its
    best. score: the aggregate score. geometric_mean: of the speedups over eager where it is right and timed; None:
    nowhere. right, faster: numbers of subgraphs; faster: than eager, beyond its interval and the noise floor.
    compared: on how many TorchInductor was measured too; faster_than_inductor: on how many of these it is slower, or
    not right. alike: the names of the others that cannot be told apart from this one. days: the first and the last."""

    place: int
    contestant: Contestant
    score: Interval
    geometric_mean: Interval | None
    right: int
    faster: int
    compared: int
    faster_than_inductor: int
    alike: tuple[str, ...]
    days: tuple[str, str]

    @property
    def subgraphs(self) -> int:
        return len(self.contestant.rows)


@dataclass(frozen=True)
class PublishedRow:
    """A figure that somebody else has published. score: the aggregate score."""

    name: str
    score: float
    geometric_mean: float | None = None
    right: float | None = None
    """A share of the subgraphs."""
    faster: float | None = None
    """Than eager, a share of the subgraphs."""


PUBLISHED_SOURCE = "PassNet's public leaderboard, 2026-05-29: NVIDIA A30, one greedy attempt per task"
PUBLISHED = (
    PublishedRow("eager", 1.0),
    PublishedRow("TorchInductor", 0.706, 0.846, 0.850, 0.203),
    PublishedRow("Claude Sonnet 4.6", 0.448),
    PublishedRow("Claude Opus 4.6", 0.410),
    PublishedRow("GPT-5.4", 0.410),
    PublishedRow("Qwen3-30B, fine-tuned", 0.371),
    PublishedRow("Qwen3-4B, fine-tuned", 0.240),
    PublishedRow("GLM-5.1", 0.240),
    PublishedRow("MiniMax-M2.7", 0.208),
    PublishedRow("Qwen3-30B", 0.139),
    PublishedRow("Qwen3-4B", 0.108),
)
"""Not judged here, on another machine and by another protocol: never to be ranked together with rows of ours."""


def leaderboard(board: Board, inductor: Mapping[Place, ScoreRow]) -> tuple[LeaderboardRow, ...]:
    """Rank the solvers of a board, the best aggregate score first.

    inductor: TorchInductor's outcomes on the same ground by place, with which the others are compared."""
    counts = _drawn(board.task_ids, board.places)
    logs = {each.name: _aggregate_logs(each) for each in board.contestants}
    means = {name: _means(each, counts) for name, each in logs.items()}
    rows = []
    for each in board.contestants:
        own, better, alike = means[each.name], 0, []
        for other in board.contestants:
            if other.name == each.name:
                continue
            low, high = np.quantile(means[other.name] - own, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            better += bool(low > 0)
            if low <= 0 <= high:
                alike.append(other.name)
        pairs = [(row, inductor[place]) for row, place in zip(each.rows, board.places) if place in inductor]
        days = [row.finished_at[:10] for row in each.rows]
        rows.append(
            LeaderboardRow(
                place=1 + better,
                contestant=each,
                score=_interval(logs[each.name], own),
                geometric_mean=_geometric_mean(each, counts),
                right=sum(right_at(row, WITHIN) for row in each.rows),
                faster=sum(_is_faster(row) for row in each.rows),
                compared=0 if each.rows[0].baseline is Baseline.INDUCTOR else len(pairs),
                faster_than_inductor=sum(duel(*pair, WITHIN) in (Duel.FASTER, Duel.ALONE) for pair in pairs),
                alike=tuple(alike),
                days=(min(days), max(days)),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.score.value, row.contestant.name)))


def score_ratio(board: Board, first: Contestant, second: Contestant) -> Interval:
    """The aggregate score of one solver of a board divided by that of another one, with its interval. An interval
    without 1 says that the difference is beyond chance."""
    logs = _aggregate_logs(first) - _aggregate_logs(second)
    return _interval(logs, _means(logs, _drawn(board.task_ids, board.places)))


def _aggregate_logs(contestant: Contestant) -> npt.NDArray[np.float64]:
    """The natural logarithm of what each subgraph contributes to the aggregate score, whose logarithm is their mean."""
    samples = [each.sample for each in contestant.entries if each.sample is not None]
    total = sum(WEIGHTS.values())
    return np.sum([weight / total * error_aware_logs(samples, t) for t, weight in WEIGHTS.items()], axis=0)


def _drawn(tasks: Sequence[str], places: Sequence[Place]) -> npt.NDArray[np.float64]:
    """How often each subgraph occurs in each resample, as (resamples, subgraphs): tasks are drawn, or subgraphs if
    there is one task."""
    numbers = {task: number for number, task in enumerate(tasks)}
    groups = np.array([numbers[task] for task, _ in places]) if len(tasks) > 1 else np.arange(len(places))
    number = int(groups.max()) + 1
    drawn = np.random.default_rng(0).multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
    return drawn[:, groups].astype(np.float64)


def _means(values: npt.NDArray[np.float64], counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of the values in each resample."""
    return counts @ values / counts.sum(axis=1)


def _interval(values: npt.NDArray[np.float64], means: npt.NDArray[np.float64]) -> Interval:
    """The geometric mean of exp(values), with its interval."""
    centre = float(values.mean())
    low, high = (float(each) for each in np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    return Interval(math.exp(centre), math.exp(min(low, centre)), math.exp(max(high, centre)))


def _geometric_mean(contestant: Contestant, counts: npt.NDArray[np.float64]) -> Interval | None:
    kept = np.array([right_at(row, WITHIN) for row in contestant.rows])
    if not kept.any():
        return None
    values = np.log(np.array([row.speedup or 1.0 for row in contestant.rows])[kept])
    chosen = counts[:, kept]
    # a resample may have none of these subgraphs
    chosen = chosen[chosen.sum(axis=1) > 0]
    return _interval(values, _means(values, chosen))


def _is_faster(row: ScoreRow) -> bool:
    """Whether it is right and faster than eager: its whole interval is, and its speedup beyond the noise floor."""
    if row.speedup is None or not right_at(row, WITHIN):
        return False
    return row.speedup > 1 + (row.noise or 0.0) and (row.low is None or row.low > 1)
