"""Which bundles the gallery shows, and in which order, on small data made by hand."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.gallery import Exhibit, chosen, docstring, with_outcomes
from passnet_core.records import (
    Bundle,
    Capture,
    ErrorClass,
    Family,
    Job,
    MatchReport,
    PassFile,
    PassMatches,
    Profile,
    SolverKind,
    Verdict,
)
from passnet_core.store.rows import ScoreRow
from tests.example_playground import TASK_ID, TIMED, outcome, task

DAY = "2026-11-26T03:04:05+00:00"


def summary(task_id: str, family: Family = Family.FUSIBLE, models: int = 1) -> TaskSummary:
    return TaskSummary(task_id, family, "train", 1, tuple(f"m{n}" for n in range(models)), (), (), (), 1, ())


def bundle(task_id: str) -> Bundle:
    return Bundle((PassFile("fuse.py", f'"""What fuses {task_id}."""\n'),), author="rules")


def row(task_id: str, speedup: float | None, **changes: object) -> ScoreRow:
    """A recorded outcome of the task's bundle; speedup None: it crashed."""
    made = ScoreRow(
        run_id=f"run of {task_id}",
        recorded="NVIDIA H100, 2026-11-26",
        solver=SolverKind.PASSES,
        bundle_digest=bundle(task_id).digest,
        author="rules",
        task_id=task_id,
        subgraph_id="s0",
        subgraph_digest="",
        dtype="float32",
        device="NVIDIA H100",
        capture=Capture.DIRECT,
        profile=Profile.STRICT,
        clock_version=3,
        verdict=Verdict.CRASHED if speedup is None else Verdict.FASTER,
        error_class=ErrorClass.RUNTIME if speedup is None else None,
        speedup=speedup,
        correct_bits=1,
        finished_at=DAY,
        noise=0.01,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def ids(tasks: Iterable[TaskSummary], rows: Iterable[ScoreRow], *, size: int = 40, least: int = 6) -> list[str]:
    tasks = list(tasks)
    return [each.task.id for each in chosen({t.id: bundle(t.id) for t in tasks}, tasks, rows, size=size, least=least)]


def test_the_fastest_of_a_family_come_first_then_those_without_a_time_in_the_most_models() -> None:
    tasks = [summary("a"), summary("b"), summary("rare"), summary("common", models=3), summary("c")]
    assert ids(tasks, [row("a", 1.2), row("b", 3.0), row("c", 2.0)]) == ["b", "c", "a", "common", "rare"]


def test_every_family_appears_however_fast_another_one_is() -> None:
    fast = [summary(f"f{n}") for n in range(9)]
    rows = [row(each.id, 2.0 + number) for number, each in enumerate(fast)]
    others = [summary("slow", Family.TYPICAL), summary("untimed", Family.SINGLE), summary("more", Family.SINGLE)]
    found = ids([*others, *fast], [*rows, row("slow", 1.1)], size=6, least=1)
    assert found == ["f8", "f7", "f6", "f5", "slow", "more"]


def test_places_that_are_left_go_to_families_in_turn() -> None:
    fusible, typical = [[summary(f"{kind}{n}", kind) for n in range(5)] for kind in (Family.FUSIBLE, Family.TYPICAL)]
    rows = [row(each.id, 2.0 - n / 10) for n, each in enumerate(fusible)]
    rows += [row(each.id, 1.5 - n / 10) for n, each in enumerate(typical)]
    found = ids([*fusible, *typical], rows, size=5, least=1)
    assert found == [*(each.id for each in fusible[:3]), *(each.id for each in typical[:2])]


def test_a_time_goes_before_no_time_even_in_another_family() -> None:
    tasks = [summary("a"), summary("b"), summary("c"), summary("x", Family.SINGLE), summary("y", Family.SINGLE)]
    assert ids(tasks, [row(each, 2.0) for each in "abc"], size=4, least=1) == ["a", "b", "c", "x"]


@pytest.mark.parametrize(
    "against",
    [
        row("a", 0.8, verdict=Verdict.SLOWER),
        row("a", 1.0, verdict=Verdict.NO_DIFFERENCE),
        row("a", None),
        row("a", 2.0, verdict=Verdict.WRONG_VALUES, error_class=ErrorClass.ACCURACY),
    ],
)
def test_what_was_measured_and_is_not_right_and_faster_is_not_shown(against: ScoreRow) -> None:
    assert ids([summary("a"), summary("b")], [against]) == ["b"]


def test_a_bundle_that_fails_on_one_subgraph_is_not_shown_for_another() -> None:
    rows = [row("a", 2.0), row("a", None, subgraph_id="s1")]
    assert ids([summary("a")], rows) == []


def test_of_several_subgraphs_the_fastest_is_shown_with_their_number() -> None:
    rows = [row("a", 1.5), row("a", 2.5, subgraph_id="s1"), row("a", 0.9, subgraph_id="s2", verdict=Verdict.SLOWER)]
    (found,) = chosen({"a": bundle("a")}, [summary("a")], rows)
    assert found.recorded == rows[1]
    assert (found.speedup, found.measured) == (2.5, 3)


def test_results_of_other_conditions_or_bundles_and_those_of_visitors_do_not_count() -> None:
    rows = [
        row("a", 1.5),
        row("b", 1.4),
        row("b", 9.0, device="NVIDIA H200"),
        row("c", 9.0, recorded=""),
        row("d", 9.0, bundle_digest="another"),
    ]
    found = chosen({each: bundle(each) for each in "abcd"}, [summary(each) for each in "abcd"], rows)
    assert [(each.task.id, each.speedup) for each in found] == [("a", 1.5), ("b", 1.4), ("c", None), ("d", None)]


def test_a_bundle_whose_task_is_not_here_is_left_out_and_nothing_gives_nothing() -> None:
    assert chosen({"gone": bundle("gone")}, [summary("a")], []) == ()
    assert chosen({}, [], []) == ()


def test_the_choice_does_not_depend_on_the_order_of_its_inputs() -> None:
    tasks = [summary(f"t{n}", family) for n, family in enumerate([*Family] * 6)]
    rows = [row(each.id, 1.0 + n % 5) for n, each in enumerate(tasks[:9])]
    assert ids(tasks, rows, size=10, least=2) == ids(tasks[::-1], rows[::-1], size=10, least=2)


def test_an_exhibit_gets_the_outcome_of_its_subgraph_and_shows_the_passes_that_matched() -> None:
    passes = tuple(PassFile(f"{name}.py", f'"""{name} fuses.\n\nWhy."""\n') for name in ("one", "two"))
    several, here = Bundle(passes), task()
    job = Job(here.subgraphs[1], several, TIMED)
    told = outcome(job, Verdict.FASTER)
    told = replace(told, match=MatchReport((PassMatches("one", ()), PassMatches("two", (("tmp_0", "tmp_1"),)))))
    timed = row(TASK_ID, 1.5, subgraph_id=job.subgraph.id, run_id="r")
    asked: list[str] = []

    def outcomes(run_id: str) -> tuple[object, ...]:
        asked.append(run_id)
        return (replace(told, subgraph_id="another"), told)

    untimed = Exhibit(summary("other"), several)
    (found, other) = with_outcomes([Exhibit(summary(TASK_ID), several, timed, 1), untimed], outcomes)  # type: ignore[arg-type]
    assert (found.outcome, other, asked) == (told, untimed, ["r"])
    assert found.passes_on(job.subgraph.id) == passes[1:]
    assert found.gist == "two fuses."
    assert found.subgraph_of(here) == here.subgraphs[1]


def test_without_an_outcome_the_passes_and_the_subgraph_are_those_that_name_each_other() -> None:
    here = task()
    first, second = here.subgraphs
    passes = tuple(
        PassFile(f"{n}.py", f'"""Fuses.\n\nOn {each.id} eager runs 2 kernels."""\n')
        for n, each in enumerate((second, first))
    )
    exhibit = Exhibit(summary(TASK_ID), Bundle(passes))
    assert exhibit.subgraph_of(here) == second
    assert exhibit.passes_on(first.id) == passes[1:]
    assert exhibit.passes_on("unnamed") == passes
    assert Exhibit(summary(TASK_ID), Bundle((PassFile("x.py", ""),))).subgraph_of(here) == first


def test_what_a_file_says_of_itself_is_empty_if_it_says_nothing_or_cannot_be_read() -> None:
    assert docstring('"""Adds.\n\nMore."""') == "Adds.\n\nMore."
    assert [docstring(code) for code in ("", "x = 1", "def", "\0")] == [""] * 4
    assert Exhibit(summary("a"), Bundle(())).gist == ""
