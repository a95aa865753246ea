"""The subgraph of the day."""

from dataclasses import replace
from datetime import date, timedelta

from passnet_core.leaderboard.daily import of_day
from passnet_core.records import Baseline, Capture
from passnet_core.store.rows import BaselineRow

FIRST = date(2026, 11, 30)


def row(task: str, capture: Capture = Capture.DIRECT, baseline: Baseline = Baseline.INDUCTOR) -> BaselineRow:
    return BaselineRow(
        "a run", "", task, "subgraph 0", "float32", "a GPU", capture, 4, "2026-11-30", None, (), (), baseline
    )


def test_every_subgraph_that_was_timed_has_its_days_and_a_day_has_one_for_all() -> None:
    rows = [row(f"task {number}") for number in range(5)]
    days = [of_day(FIRST + timedelta(number), rows) for number in range(60)]
    assert set(days) == {(f"task {number}", "subgraph 0") for number in range(5)}
    assert of_day(FIRST, rows) == of_day(FIRST, [*reversed(rows), rows[0]]) == days[0]


def test_what_has_no_usual_time_is_never_the_days() -> None:
    tuned = next(each for each in Baseline if each is not Baseline.INDUCTOR)
    others = [row("compiled", Capture.COMPILED), row("tuned", baseline=tuned)]
    assert of_day(FIRST, others) is None
    others += [replace(row(f"old {number}"), clock_version=3) for number in range(9)]
    assert of_day(FIRST, [*others, row("direct")]) == ("direct", "subgraph 0")
