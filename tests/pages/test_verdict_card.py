"""The verdict card: one next step, derived from the outcome."""

from dataclasses import replace

import pytest

from pages.ui.words import VERDICTS
from passnet_core.execution.jobs import new_run
from passnet_core.records import Baseline, Clock, Contender, Evidence, Finding, Job, Outcome, Timing, Verdict
from passnet_core.service import Service
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.example_playground import REFERENCE, TIMED, measured, outcome, task
from tests.pages.visiting import Visit, read

JOB = Job(task().subgraphs[0], REFERENCE, TIMED)
FINDING = Finding("add_relu.py", 7, 1, "torch-call", "torch.relu is called.", "Compute it in a kernel.")
TRACE = Evidence("traceback", '  File "pass_dir/add_relu.py", line 31, in add_relu\nValueError: no')


def next_step(service: Service, visit: Visit, made: Outcome) -> str:
    """Return the only next step on the card of this outcome."""
    run = replace(new_run((JOB,), label="shown"), id="shown")
    service.import_run(exchange.written(RunFile(run, (REFERENCE,), (made,))))
    (said,) = [str(each.value) for each in visit("runs", run="shown").markdown if "**Next:**" in str(each.value)]
    return said.replace("\\", "")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (replace(outcome(JOB, Verdict.MATCHED), findings=(FINDING,), verdict=Verdict.REJECTED), "add_relu.py, line 7"),
        (outcome(JOB, Verdict.NO_MATCH), "relu in pattern cannot match tmp_2 in the graph"),
        (replace(outcome(JOB, Verdict.COMPILE_FAILED), evidence=(TRACE,)), "Fix the error at line 31 of add_relu.py"),
        (outcome(JOB, Verdict.VALUES_ONLY), VERDICTS[Verdict.VALUES_ONLY].next_step),
        (outcome(JOB, Verdict.CRASHED), VERDICTS[Verdict.CRASHED].next_step),
    ],
)
def test_the_next_step_is_the_outcomes_own_where_it_shows_more_than_its_verdict(
    visit: Visit, service: Service, made: Outcome, said: str
) -> None:
    assert said in next_step(service, visit, made)


@pytest.mark.parametrize(
    ("baseline", "name"),
    [
        (Baseline.INDUCTOR, "TorchInductor"),
        (Baseline.EAGER_ROUNDING, "TorchInductor with eager's rounding"),
    ],
)
def test_the_card_of_a_baseline_names_it(visit: Visit, service: Service, baseline: Baseline, name: str) -> None:
    file = measured(None, speedup=1.2, baseline=baseline)
    service.import_run(exchange.written(replace(file, run=replace(file.run, id="shown"))))
    app = visit("runs", run="shown")
    assert f"Write passes that beat {name}: it takes" in read(app)
    assert f"strict · {name} · float32" in read(app)
    assert f"Candidate `{name}`" in read(app)


def test_the_card_of_passes_names_the_baseline_that_they_were_timed_beside(visit: Visit, service: Service) -> None:
    file = measured(REFERENCE, speedup=1.5, baseline=Baseline.EAGER_ROUNDING)
    beside = Timing(Contender.BASELINE, Clock.END_TO_END, (25.0,), 1, 25.0)
    outcomes = tuple(replace(each, timings=(*each.timings, beside)) for each in file.outcomes)
    service.import_run(exchange.written(RunFile(replace(file.run, id="shown"), file.bundles, outcomes)))
    app = visit("runs", run="shown")
    assert "strict · beside TorchInductor with eager's rounding · float32" in read(app)
    assert "20.0 µs per call; eager 30.0 µs, TorchInductor with eager's rounding 25.0 µs" in read(app)
    (heading,) = [str(each.value) for each in app.markdown if "Right, faster" in str(each.value)]
    assert heading.startswith("## :green[")
    assert any('role="status"' in str(each.value) and "2 of 2 accepted" in str(each.value) for each in app.markdown)


def test_names_in_the_advice_stay_text(visit: Visit, service: Service) -> None:
    hostile = replace(FINDING, file="<b>**x**</b>.py", remedy="[click](javascript:1)")
    made = replace(outcome(JOB, Verdict.MATCHED), findings=(hostile,), verdict=Verdict.REJECTED)
    run = replace(new_run((JOB,), label="shown"), id="shown")
    service.import_run(exchange.written(RunFile(run, (REFERENCE,), (made,))))
    (said,) = [str(each.value) for each in visit("runs", run="shown").markdown if "**Next:**" in str(each.value)]
    assert "<b>" not in said
    assert "[click](" not in said
