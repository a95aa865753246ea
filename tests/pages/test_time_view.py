"""The Time tab: where the time of a call goes, speedups with the noise floor, every sample, and missing clocks."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from passnet_core.execution.jobs import new_run
from passnet_core.records import MEMORY_FLOOR, REPLAY, Clock, Evidence, Job, Outcome, Verdict
from passnet_core.service import Service
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.example_playground import REFERENCE, TASK_ID, TIMED, measured, outcome, task
from tests.pages.visiting import Visit, texts

RUN = "recorded-passes"


def charts(app: AppTest) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(each.proto.spec) for each in app.get("vega_lite_chart")]


def show(service: Service, visit: Visit, made: Outcome) -> AppTest:
    """Open the page of a run with this outcome."""
    job = Job(task().subgraphs[0], REFERENCE, made.spec)
    run = replace(new_run((job,), label="shown"), id="shown")
    service.import_run(exchange.written(RunFile(run, (REFERENCE,), (made,))))
    return visit("runs", run="shown", tab="Time")


def made(**fields: object) -> Outcome:
    return replace(outcome(Job(task().subgraphs[0], REFERENCE, TIMED), Verdict.FASTER), **fields)  # type: ignore[arg-type]


def test_a_timed_outcome_is_taken_apart_and_drawn(visit: Visit, service: Service) -> None:
    evidence = (
        Evidence(REPLAY, "eager 32.0 µs, passes cannot be captured.", (("eager", 32.0),)),
        Evidence(MEMORY_FLOOR, "8.39 MB take 2.1 µs.", (("moved_bytes", 8.39e6), ("bytes_per_us", 3.955e6))),
    )
    timings = tuple(
        replace(each, median=each.median * {Clock.KERNEL: 0.25, Clock.EVENT: 0.9}.get(each.clock, 1.0))
        for each in made().timings
    )
    app = show(service, visit, made(evidence=evidence, timings=timings))
    text = texts(app)
    assert "Where the time of a call goes" in text
    assert "8\\.39 MB" in text
    assert "noise floor: eager may differ from itself by up to 1.2%" in text
    rows = next(each.value for each in app.dataframe if "kernels over memory floor" in each.value)
    assert list(rows["µs per call"]) == ["eager", "passes"]
    assert list(rows["kernels"]) == ["7.5", "5"]
    assert list(rows["end to end"]) == ["30", "20"]
    drawn = charts(app)
    assert len(drawn) == 2 + len(Clock)
    assert all(each.get("width") == "container" for each in drawn), "a fixed width does not fit a phone"
    assert any("eager: 30 µs = 7.5 kernels" in each["description"] for each in drawn)


def test_where_only_one_clock_was_read_that_is_drawn(visit: Visit, service: Service) -> None:
    only = tuple(each for each in made().timings if each.clock is Clock.END_TO_END)
    ends = tuple(each for each in made().speedups if each.clock is Clock.END_TO_END)
    app = show(service, visit, made(timings=only, speedups=ends, noise=None, evidence=()))
    assert len(charts(app)) == 3
    assert "noise floor" not in texts(app)


def test_times_that_are_not_ranked_have_no_speedups(visit: Visit, service: Service) -> None:
    app = show(service, visit, made(verdict=Verdict.INCONCLUSIVE, speedups=()))
    assert "Speedups over eager" not in texts(app)
    assert "vary most" not in texts(app), "two samples tell nothing"
    assert len(charts(app)) == 1 + len(Clock)


@pytest.mark.parametrize("run", ["recorded-passes", "recorded-inductor"])
def test_recorded_runs_are_drawn_as_they_are(visit: Visit, run: str) -> None:
    app = visit("runs", run=run, tab="Time")
    assert not app.exception
    assert charts(app)


def test_without_times_the_reason_is_said(visit: Visit, service: Service) -> None:
    app = show(service, visit, replace(outcome(Job(task().subgraphs[0], REFERENCE, TIMED), Verdict.VALUES_ONLY)))
    assert "No times: without a GPU only values can be judged" in texts(app)
    assert measured(REFERENCE, speedup=1.0).outcomes[0].task_id == TASK_ID
