"""What Scores says first, by figures counted by hand, and what boards are called."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from passnet_core.charts.contenders import ContenderKind
from passnet_core.leaderboard.boards import Board, boards
from passnet_core.leaderboard.findings import Tally, finding, headline, medians, solver_sentence
from passnet_core.leaderboard.naming import FEW, asked_for, board_names, listed, short_device
from passnet_core.records import CLOCK_VERSION, LEVELS, Baseline, Capture, ErrorClass, Profile, SolverKind, Verdict
from passnet_core.store.rows import ScoreRow

DIRECT, COMPILED = Capture.DIRECT, Capture.COMPILED


def row(
    task: str,
    speedup: float | None,
    *,
    author: str = "",
    capture: Capture = DIRECT,
    device: str = "NVIDIA H200",
    profile: Profile = Profile.STRICT,
    clock_version: int = CLOCK_VERSION,
    digest: str = "",
) -> ScoreRow:
    """The outcome of an author's bundle for a task, or of TorchInductor if there is no author. speedup None: it
    crashed."""
    return ScoreRow(
        run_id="run",
        recorded="NVIDIA H200, 2026-01-02",
        solver=SolverKind.PASSES if author or digest else SolverKind.INDUCTOR,
        bundle_digest=digest or (f"{task}-{author}" if author else None),
        author=author,
        task_id=task,
        subgraph_id="s",
        subgraph_digest="",
        dtype="float32",
        device=device,
        capture=capture,
        profile=profile,
        clock_version=clock_version,
        verdict=Verdict.CRASHED if speedup is None else Verdict.FASTER,
        error_class=ErrorClass.RUNTIME if speedup is None else None,
        speedup=speedup,
        correct_bits=sum(1 << place for place, _ in enumerate(LEVELS)) if speedup else 0,
        finished_at="2026-01-02T03:04:05+00:00",
        noise=0.02,
        baseline=None if author or digest else Baseline.INDUCTOR,
    )


def rows(speedups: Iterable[float | None], author: str = "", capture: Capture = DIRECT) -> list[ScoreRow]:
    return [row(f"t{place}", speedup, author=author, capture=capture) for place, speedup in enumerate(speedups)]


def test_the_finding_counts_what_both_ran_in_both_captures() -> None:
    made = boards(
        [
            *rows([0.5] * 5 + [1.0] * 5 + [2.0] * 10 + [9.0]),
            *rows([0.9] + [1.5] * 18 + [None] + [9.0], "rules"),
            *rows([0.5] * 10 + [1.2] * 10, capture=COMPILED),
            *rows([0.5] * 8 + [1.0] * 12, "rules", COMPILED),
            *[row(f"t{place}", 0.1, device="another") for place in range(20)],
            *[row(f"t{place}", 0.1, clock_version=1) for place in range(20)],
            *[row(f"t{place}", 0.1, profile=Profile.PASSNET) for place in range(20)],
        ],
        totals={f"t{place}": 3 for place in range(21)},
    )
    found = finding(made)
    assert found is not None
    assert (found.device, len(found.places), found.total) == ("NVIDIA H200", 20, 60), "not the one in one capture only"
    assert found.inductor == {DIRECT: Tally(20, 5, 0, 1.5), COMPILED: Tally(20, 10, 0, 0.85)}
    assert found.solver == {DIRECT: Tally(20, 1, 1, 1.5), COMPILED: Tally(20, 8, 0, 1.0)}
    assert headline(found) == "TorchInductor slows down 25% of 20 subgraphs in direct capture, 50% in compiled capture."
    assert solver_sentence(found) == (
        "The best solver on the same subgraphs, rules bundles, is slower than eager on 5% (median 1.50× eager) and not "
        "right on 1 in direct capture and on 40% (median 1.00× eager) in compiled capture."
    )
    assert medians(found) == "TorchInductor's median: 1.50× direct, 0.85× compiled"
    assert (found.dates, found.recorded, found.noise) == (("2026-01-02",), ("NVIDIA H200, 2026-01-02",), 0.02)


def test_slower_is_what_the_interval_and_the_noise_floor_bear_out() -> None:
    ends = [(0.9, 0.98), (0.9, 1.01), (0.97, 0.99), (1.1, 1.3)]
    lines = [replace(each, low=low, high=high) for each, (low, high) in zip(rows([0.95, 0.95, 0.985, 1.2]), ends)]
    found = finding(boards(lines))
    assert found is not None
    assert found.inductor[DIRECT].slower == 1


def test_the_best_solver_is_the_one_with_the_highest_score() -> None:
    found = finding(boards([*rows([1.0] * 12), *rows([1.5] * 12, "rules"), *rows([1.8] * 12, "reference")]))
    assert found is not None
    assert (found.name, found.solver[DIRECT].speedup) == ("reference bundles", 1.8)


def test_another_capture_of_other_subgraphs_is_not_told_of() -> None:
    found = finding(boards([*rows([0.5] * 12), *rows([0.5] * 6, capture=COMPILED)]))
    assert found is not None
    assert list(found.inductor) == [DIRECT]
    assert headline(found) == "TorchInductor slows down 100% of 12 subgraphs in direct capture."
    assert solver_sentence(found) == ""


def test_few_subgraphs_are_counted_and_not_given_as_a_share() -> None:
    found = finding(boards(rows([0.5, 2.0])))
    assert found is not None
    assert headline(found) == "TorchInductor slows down 1 of 2 subgraphs in direct capture."


def test_without_torchinductor_the_solver_is_told_of_and_without_results_nothing() -> None:
    found = finding(boards(rows([0.5] * 3 + [2.0] * 9, "rules")))
    assert found is not None
    assert headline(found) == (
        "The best solver on 12 subgraphs, rules bundles, is slower than eager on 25% (median 2.00× eager) in direct "
        "capture."
    )
    assert finding(()) is None
    rounding = [replace(each, baseline=Baseline.EAGER_ROUNDING) for each in rows([0.5] * 12)]
    assert finding(boards(rounding)) is None, "neither of the two"


@pytest.mark.parametrize(
    ("device", "short"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090"),
        ("NVIDIA", "NVIDIA"),
    ],
)
def test_a_device_is_named_in_short(device: str, short: str) -> None:
    assert short_device(device) == short


def both() -> tuple[Board, ...]:
    several = [*rows([2.0] * 3, "rules"), *rows([2.0] * 3, "reference"), *rows([1.0] * 3)]
    older = [row(f"t{place}", 3.0, clock_version=1) for place in range(3)]
    return boards([*several, *older])


def test_boards_are_named_by_solvers_tasks_device_and_capture() -> None:
    made = both()
    names = board_names(made)
    shared = next(each for each in made if len(each.contestants) == 3)
    assert names[shared.id] == "reference bundles and rules bundles against TorchInductor, 3 tasks, H200, direct"
    assert "TorchInductor, 3 tasks, H200, direct, clock version 1" in names.values()
    (single,) = (each for each in made if each.task_ids == ("t0",))
    assert names[single.id] == "reference bundle and rules bundle against TorchInductor, t0, H200, direct"
    assert {each.kind for each in single.contestants} == {
        ContenderKind.INDUCTOR,
        ContenderKind.REFERENCE,
        ContenderKind.RULES,
    }


def test_a_digest_is_part_of_a_name_only_if_two_would_be_alike() -> None:
    made = boards([row("t", 2.0, author="rules", device=device) for device in ("NVIDIA H100 80GB HBM3", "NVIDIA H100")])
    assert sorted(board_names(made).values()) == sorted(
        f"rules bundle, t, H100, direct ({each.id[:4]})" for each in made
    )


def test_a_link_means_a_board_by_its_id_its_name_or_its_older_name() -> None:
    made = both()
    names, board = board_names(made), made[0]
    for value in (board.id, names[board.id], f"3 tasks · NVIDIA H200 · direct · {board.id[:4]}"):
        assert asked_for(value, names) == board.id
    for value in ("", "nonsense", "3 tasks · NVIDIA H200 · direct · zzzz", board.id[:4]):
        assert asked_for(value, names) is None


def test_many_boards_of_a_single_task_are_listed_apart_and_few_are_not() -> None:
    several, single = listed(both())
    assert single == ()
    assert [len(each.places) for each in several] == [3, 3, 1, 1, 1]
    many = boards([*rows([2.0] * (FEW + 1), "rules"), *rows([1.0] * 2)])
    several, single = listed(many)
    assert [len(each.places) for each in several] == [FEW + 1, 2]
    assert {each.task_ids for each in single} == {(f"t{place}",) for place in range(FEW + 1)}


def test_bundles_without_a_title_are_named_by_their_author() -> None:
    alike = [row("t", 2.0, author="rules", digest=f"{digest}{'0' * 9}") for digest in "ab"]
    (board,) = boards([*alike, row("t", 2.0, author="reference"), row("t", 2.0, digest="c" * 10)])
    names = [each.name for each in board.contestants]
    assert names == ["rules bundle a00000", "rules bundle b00000", "bundle cccccc", "reference bundle"]
