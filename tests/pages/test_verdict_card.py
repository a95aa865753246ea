"""The verdict card: one next step, derived from the outcome."""

from dataclasses import replace

import pytest

from pages.ui.words import VERDICTS
from passnet_core.execution.jobs import new_run
from passnet_core.records import Evidence, Finding, Job, Outcome, Verdict
from passnet_core.service import Service
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.example_playground import REFERENCE, TIMED, outcome, task
from tests.pages.visiting import Visit

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
        (replace(outcome(JOB, Verdict.COMPILE_FAILED), evidence=(TRACE,)), "add_relu.py, line 31"),
        (outcome(JOB, Verdict.VALUES_ONLY), VERDICTS[Verdict.VALUES_ONLY].next_step),
        (outcome(JOB, Verdict.CRASHED), VERDICTS[Verdict.CRASHED].next_step),
    ],
)
def test_the_next_step_is_the_outcomes_own_where_it_shows_more_than_its_verdict(
    visit: Visit, service: Service, made: Outcome, said: str
) -> None:
    assert said in next_step(service, visit, made)


def test_names_in_the_advice_stay_text(visit: Visit, service: Service) -> None:
    hostile = replace(FINDING, file="<b>**x**</b>.py", remedy="[click](javascript:1)")
    made = replace(outcome(JOB, Verdict.MATCHED), findings=(hostile,), verdict=Verdict.REJECTED)
    run = replace(new_run((JOB,), label="shown"), id="shown")
    service.import_run(exchange.written(RunFile(run, (REFERENCE,), (made,))))
    (said,) = [str(each.value) for each in visit("runs", run="shown").markdown if "**Next:**" in str(each.value)]
    assert "<b>" not in said
    assert "[click](" not in said
