"""The leaderboard: who is better beyond chance, and what is written of it."""

import csv
import io
import math
from dataclasses import replace

import pytest

from passnet_core.leaderboard.boards import baselines_on, boards
from passnet_core.leaderboard.ranking import PUBLISHED, LeaderboardRow, leaderboard, score_ratio
from passnet_core.records import BASELINE_NAMES, Baseline, Profile
from passnet_core.reports.ranks import as_csv, as_json, as_page, ranks_of
from passnet_core.store.rows import ScoreRow
from tests.scores import aggregate_score
from tests.unit.leaderboard.test_boards import row

INDUCTOR = BASELINE_NAMES[Baseline.INDUCTOR]
HOSTILE = "=1+1<script>alert(1)</script>"


def one(number: int, speedup: float | None, bundle: str | None = "b1", author: str = "") -> ScoreRow:
    """An outcome on the only subgraph of a task."""
    ends = None if speedup is None else (speedup * 0.99, speedup * 1.01)
    made = row(number, speedup, bundle=bundle, ends=ends)
    return replace(made, task_id=f"task-{number:02}", subgraph_id="float32/0", author=author)


def ranked(*solvers: list[ScoreRow]) -> dict[str, LeaderboardRow]:
    found = boards([each for rows in solvers for each in rows])
    inductor = baselines_on(found[0].ground, found).get(Baseline.INDUCTOR, {})
    return {each.contestant.name: each for each in leaderboard(found[0], inductor)}


def wave(number: int) -> float:
    """Speedups that vary from task to task."""
    return 1.5 + 0.5 * math.sin(number)


def test_the_figures_of_a_solver_are_those_of_its_outcomes() -> None:
    speedups = [2.0] * 12 + [0.5] * 6 + [None] * 2
    mine = [one(number, speedup) for number, speedup in enumerate(speedups)]
    inductor = [one(number, 1.0, bundle=None) for number in range(20)]
    found = ranked(mine, inductor)
    (name,) = set(found) - {INDUCTOR}
    line = found[name]
    samples = [each.sample for each in line.contestant.entries if each.sample]
    assert line.score.value == pytest.approx(aggregate_score(samples))
    assert line.score.low < line.score.value < line.score.high
    assert (line.right, line.faster, line.faster_than_inductor, line.compared, line.subgraphs) == (18, 12, 12, 20, 20)
    assert line.geometric_mean is not None
    assert line.geometric_mean.value == pytest.approx((2.0**12 * 0.5**6) ** (1 / 18))
    assert (found[INDUCTOR].compared, found[INDUCTOR].faster) == (0, 0)


def test_a_small_but_steady_lead_is_beyond_chance_and_a_large_unsteady_one_is_not() -> None:
    steady = [one(number, wave(number), "b1") for number in range(30)]
    ahead = [one(number, wave(number) * 1.05, "b2") for number in range(30)]
    unsteady = [one(number, wave(number) * (6.0 if number % 2 else 0.19), "b3") for number in range(30)]
    found = ranked(steady, ahead, unsteady)
    a, b, c = (next(each for name, each in found.items() if key in name) for key in ("b1", "b2", "b3"))
    assert b.place < a.place
    assert b.contestant.name not in a.alike
    assert {a.contestant.name, b.contestant.name} == set(c.alike)
    assert c.place == 1


def test_the_ratio_of_two_solvers_says_whether_they_differ() -> None:
    rows = [
        [one(number, wave(number) * factor(number), name) for number in range(30)]
        for name, factor in (("b1", lambda n: 1.0), ("b2", lambda n: 1.05), ("b3", lambda n: 6.0 if n % 2 else 0.19))
    ]
    (board,) = boards([each for solver in rows for each in solver])
    first, second, third = sorted(board.contestants, key=lambda each: each.rows[0].bundle_digest or "")
    ahead, unsteady = score_ratio(board, second, first), score_ratio(board, third, first)
    assert ahead.value == pytest.approx(1.05, abs=1e-3)
    assert 1 < ahead.low <= ahead.value <= ahead.high
    assert unsteady.low < 1 < unsteady.high
    assert score_ratio(board, first, second).value == pytest.approx(1 / ahead.value)


def test_equal_solvers_share_a_place_and_say_so() -> None:
    found = ranked(*([one(number, wave(number), bundle) for number in range(20)] for bundle in ("b1", "b2")))
    assert {each.place for each in found.values()} == {1}
    assert [each.alike for each in found.values()] == [tuple(set(found) - {name}) for name in found]


def test_of_one_task_the_subgraphs_are_drawn() -> None:
    line = next(iter(ranked([row(number, wave(number), bundle="b1") for number in range(8)]).values()))
    assert line.score.low < line.score.value < line.score.high


def test_what_others_published_stands_apart() -> None:
    mine = [one(number, wave(number), author=HOSTILE) for number in range(12)]
    strict = boards([*mine, *(one(number, 1.1, bundle=None) for number in range(12))])[0]
    by_passnet = replace(
        strict,
        profile=Profile.PASSNET,
        contestants=tuple(
            replace(each, rows=tuple(replace(row, profile=Profile.PASSNET) for row in each.rows))
            for each in strict.contestants
        ),
    )
    ranks = ranks_of(strict, [strict, by_passnet])
    assert ranks.by_passnet is not None
    told = as_json(ranks)
    assert [each["solver"] for each in told["published"]["rows"]] == [each.name for each in PUBLISHED]
    assert told["board"]["profile"] == "strict"
    assert told["by_passnets_rules"]["profile"] == "passnet"
    rows = list(csv.DictReader(io.StringIO(as_csv(ranks.ours))))
    assert [each["place"] for each in rows] == ["1", "2"]
    # a spreadsheet must not execute a name
    assert rows[0]["solver"] == f"'{HOSTILE} bundle"
    page = as_page(ranks)
    assert page.index("The same by PassNet") < page.index("Published by others") < page.index("Claude Opus 4.6")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src &#39;none&#39;" in page


def test_without_a_twin_there_is_none_by_passnets_rules() -> None:
    (board,) = boards([one(number, wave(number)) for number in range(12)])
    ranks = ranks_of(board, [board])
    assert ranks.by_passnet is None
    assert "The same by PassNet" not in as_page(ranks)
