"""Two solvers beside each other on a board, by figures computed by hand."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from passnet_core.leaderboard.boards import (
    Board,
    Contestant,
    Duel,
    baselines_on,
    beside,
    boards,
    deciding,
    duel,
    duel_counts,
    duel_words,
    of_other_clocks,
    ranked,
    right_at,
    spread,
    twin,
)
from passnet_core.records import (
    BASELINE_NAMES,
    CLOCK_VERSION,
    LEVELS,
    Baseline,
    Capture,
    ErrorClass,
    Profile,
    SolverKind,
    Verdict,
)
from passnet_core.store.rows import ScoreRow

INDUCTOR = BASELINE_NAMES[Baseline.INDUCTOR]


def row(
    number: int,
    speedup: float | None,
    *,
    bundle: str | None = "b1",
    first: int = -5,
    noise: float | None = None,
    ends: tuple[float, float] | None = None,
    device: str = "H200",
    clock_version: int = CLOCK_VERSION,
    baseline: Baseline = Baseline.INDUCTOR,
) -> ScoreRow:
    """One outcome; its values are right from the level first on. speedup None: it crashed."""
    return ScoreRow(
        run_id="run",
        recorded="",
        solver=SolverKind.PASSES if bundle else SolverKind.INDUCTOR,
        bundle_digest=bundle,
        author="",
        task_id="task",
        subgraph_id=f"s{number}",
        subgraph_digest="",
        dtype="float32",
        device=device,
        capture=Capture.DIRECT,
        profile=Profile.STRICT,
        clock_version=clock_version,
        verdict=Verdict.CRASHED if speedup is None else Verdict.FASTER,
        error_class=ErrorClass.RUNTIME if speedup is None else None,
        speedup=speedup,
        correct_bits=sum(1 << place for place, t in enumerate(LEVELS) if t >= first) if speedup else 0,
        finished_at="2026-01-02T03:04:05+00:00",
        noise=noise,
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        baseline=None if bundle else baseline,
    )


def solver(name: str, rows: Sequence[ScoreRow]) -> Contestant:
    return Contestant(name, rows[0].solver, rows[0].bundle_digest, tuple(rows))


@pytest.mark.parametrize(
    ("first", "second", "t", "said"),
    [
        (row(0, 2.0), row(0, 1.5), 0, Duel.FASTER),
        (row(0, 1.5), row(0, 2.0), 0, Duel.SLOWER),
        (row(0, 2.0), row(0, 2.0), 0, Duel.SAME),
        (row(0, 2.0, noise=0.1), row(0, 1.9, noise=0.01), 0, Duel.SAME),
        (row(0, 2.0, noise=0.01), row(0, 1.9, noise=0.1), 0, Duel.SAME),
        (row(0, 2.0, noise=0.01), row(0, 1.9, noise=0.02), 0, Duel.FASTER),
        (row(0, 2.0, ends=(1.6, 2.4)), row(0, 1.5, ends=(1.4, 1.7)), 0, Duel.SAME),
        (row(0, 2.0, ends=(1.8, 2.4)), row(0, 1.5, ends=(1.4, 1.7)), 0, Duel.FASTER),
        (row(0, 0.5), row(0, None), 0, Duel.ALONE),
        (row(0, None), row(0, 0.5), 4, Duel.BEATEN),
        (row(0, None), row(0, None), 0, Duel.NEITHER),
        (row(0, 0.5, first=-7), row(0, 3.0, first=-5), -6, Duel.ALONE),
        (row(0, 0.5, first=-7), row(0, 3.0, first=2), 2, Duel.ALONE),
    ],
)
def test_who_wins_on_a_subgraph(first: ScoreRow, second: ScoreRow, t: int, said: Duel) -> None:
    assert duel(first, second, t) is said


def test_what_is_right_beyond_t_1_is_what_is_right_at_1() -> None:
    """As ES(t) has it: an error may be tolerated there, its speedup is not counted."""
    late = row(0, 2.0, first=2)
    assert [right_at(late, t) for t in (0, 1, 2, 4)] == [False] * 4
    assert [right_at(row(0, 2.0, first=1), t) for t in (0, 1, 4)] == [False, True, True]


def test_what_single_subgraphs_decide_makes_up_the_ratio_of_the_scores() -> None:
    ours = solver("ours", [row(0, 2.0), row(1, 1.0), row(2, None), row(3, 1.0)])
    theirs = solver("theirs", [row(number, 1.0, bundle="b2") for number in range(4)])
    found = deciding(ours, theirs, 0)
    # the fourth roots of 0.1, 2, 1 and 1
    assert [each.first.subgraph_id for each in found] == ["s2", "s0", "s1", "s3"]
    assert [each.multiplies for each in found] == [
        pytest.approx(0.1**0.25),
        pytest.approx(2**0.25),
        pytest.approx(1),
        pytest.approx(1),
    ]
    board = Board("id", "H200", Capture.DIRECT, Profile.STRICT, CLOCK_VERSION, (), 4, (ours, theirs))
    scores = {line.contestant.name: line.score for line in ranked(board, 0)}
    assert math.prod(each.multiplies for each in found) == pytest.approx(scores["ours"] / scores["theirs"])
    assert duel_counts(found) == {**dict.fromkeys(Duel, 0), Duel.FASTER: 1, Duel.SAME: 2, Duel.BEATEN: 1}


def test_a_tolerated_failure_decides_as_much_as_a_speedup_of_one() -> None:
    ours, theirs = solver("ours", [row(0, None)]), solver("theirs", [row(0, 2.0, bundle="b2")])
    assert deciding(ours, theirs, 2)[0].multiplies == pytest.approx(0.05)
    assert deciding(ours, theirs, 3)[0].multiplies == pytest.approx(0.5)


def test_beside_inductor_what_loses_most_comes_first_and_what_it_did_not_run_last() -> None:
    others = {("task", f"s{number}"): row(number, 1.0, bundle=None) for number in (0, 1, 2)}
    found = beside([row(0, 2.0), row(1, 0.5), row(2, None), row(3, 9.0)], others, 0)
    assert [(each.first.subgraph_id, each.ratio, each.duel) for each in found] == [
        ("s2", None, Duel.BEATEN),
        ("s1", 0.5, Duel.SLOWER),
        ("s0", 2.0, Duel.FASTER),
        ("s3", None, None),
    ]
    assert sum(duel_counts(found).values()) == 3


def test_inductor_is_looked_for_on_all_boards_of_the_same_ground_and_no_other() -> None:
    rows = [row(0, 2.0), row(1, 2.0)]
    rows += [row(number, 1.0, bundle=None) for number in (1, 2)]
    rows += [row(0, 1.0, bundle=None, device="another"), row(0, 1.0, bundle=None, clock_version=1)]
    made = boards(rows)
    ground = ("H200", Capture.DIRECT, Profile.STRICT, CLOCK_VERSION)
    assert {baseline: set(found) for baseline, found in baselines_on(ground, made).items()} == {
        Baseline.INDUCTOR: {("task", "s1"), ("task", "s2")}
    }
    assert all(each.device == "H200" for each in baselines_on(ground, made)[Baseline.INDUCTOR].values())


def test_an_author_and_the_baselines_meet_on_what_they_share() -> None:
    """Each may lack some subgraphs: those that were too unsteady to rank it."""
    by_rules = [replace(row(number, 2.0, bundle=f"b{number}"), author="rules") for number in range(12)]
    rows = [*by_rules, *(row(number, 1.0, bundle=None) for number in range(1, 14))]
    rows += [row(number, 1.5, bundle=None, baseline=Baseline.EAGER_ROUNDING) for number in (0, *range(2, 15))]
    first, *_ = boards(rows)
    assert {subgraph for _, subgraph in first.places} == {f"s{number}" for number in range(2, 12)}
    assert [(line.contestant.name, line.score) for line in ranked(first, 0)] == [
        ("rules bundles", pytest.approx(2.0)),
        (BASELINE_NAMES[Baseline.EAGER_ROUNDING], pytest.approx(1.5)),
        (INDUCTOR, pytest.approx(1.0)),
    ]
    without = [each for each in boards(by_rules) if each.contestants[0].name == "rules bundles"]
    assert [len(each.places) for each in without] == [12]


def test_both_baselines_are_ranked_as_solvers_of_their_own() -> None:
    other = row(0, 1.5, bundle=None, baseline=Baseline.EAGER_ROUNDING)
    (board,) = boards([row(0, 2.0), row(0, 1.0, bundle=None), other])
    assert [(line.contestant.name, line.score) for line in ranked(board, 0)] == [
        ("bundle b1", pytest.approx(2.0)),
        ("TorchInductor with eager's rounding", pytest.approx(1.5)),
        ("TorchInductor", pytest.approx(1.0)),
    ]
    assert baselines_on(board.ground, [board])[Baseline.EAGER_ROUNDING] == {("task", "s0"): other}


def test_solvers_timed_in_different_ways_are_on_boards_of_their_own() -> None:
    old = [row(number, 9.0, clock_version=1) for number in (0, 1)]
    old += [row(number, 3.0, bundle=None, clock_version=1) for number in (0, 1)]
    new = [row(0, 2.0), row(0, 1.0, bundle=None)]
    first, second = boards([*old, *new])
    assert [each.clock_version for each in (first, second)] == [CLOCK_VERSION, 1], "the newest is shown first"
    assert {line.contestant.name: line.score for line in ranked(first, 0)} == {
        "bundle b1": pytest.approx(2.0),
        INDUCTOR: pytest.approx(1.0),
    }
    assert first.id != second.id
    assert of_other_clocks(first, [first, second]) == (1,)
    assert of_other_clocks(first, [first, replace(second, device="another")]) == ()
    other = replace(first, profile=Profile.PASSNET)
    assert twin(first, [first, second, other]) is other
    assert twin(first, [replace(other, clock_version=1)]) is None


def test_a_comparison_on_few_subgraphs_does_not_come_before_many_subgraphs_of_one_solver() -> None:
    few = [row(number, 2.0, bundle=bundle, device="H100") for number in range(2) for bundle in ("b1", "b2")]
    many = [row(number, 2.0, bundle="b1", device="H200") for number in range(30)]
    compared = [row(number, 2.0, bundle=bundle, device="A100") for number in range(12) for bundle in ("b1", "b2")]
    assert [(each.device, len(each.places)) for each in boards([*few, *many, *compared])] == [
        ("A100", 12), ("H200", 30), ("H100", 2),
    ]  # fmt: skip


def test_the_spread_of_speedups_by_hand() -> None:
    found = spread(solver("ours", [row(0, 4.0), row(1, 1.0), row(2, 2.0, first=-7), row(3, None)]), -6)
    assert [(speedup, right) for _, speedup, right in found.timed] == [(1.0, False), (2.0, True), (4.0, False)]
    assert (found.right, found.faster, found.untimed) == (1, 2, 1)
    assert [found.quantile(share) for share in (0, 0.25, 0.5)] == [1.0, 1.5, 2.0]
    nothing = spread(solver("none", [row(0, None)]), 0)
    assert (nothing.timed, nothing.untimed, nothing.quantile(0.5)) == ((), 1, None)


def test_every_duel_has_words_of_its_own() -> None:
    words = duel_words("ours", INDUCTOR)
    assert set(words) == set(Duel)
    assert len(set(words.values())) == len(Duel)
