"""The Values tab: where an output is wrong, as a strip, in words, and around its worst element."""

import json
import math
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from passnet_core.execution.jobs import new_run
from passnet_core.records import Accuracy, ErrorMap, FailedInputs, Job, Neighbourhood, Outcome, OutputAccuracy, Verdict
from passnet_core.service import Service
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.example_playground import REFERENCE, TIMED, outcome, task
from tests.pages.visiting import Visit, read, texts

AROUND = Neighbourhood(
    (0, 46), ((1.0, 2.0), (3.0, 4.0)), ((1.0, math.nan), (3.0, math.nan)), ((False, True), (False, True))
)
MAP = ErrorMap(
    axis=1,
    rows=2,
    columns=2,
    cells=(0.0, math.inf, 0.5, math.inf),
    wrong=4,
    spans=((0, 4), (47, 48)),
    flat=(47, 192),
    value=math.nan,
    around=AROUND,
)


FAILED = (
    FailedInputs("recorded", Verdict.NON_FINITE, 1, 192),
    FailedInputs("typical", Verdict.NON_FINITE, 4, 192),
)


def shown(service: Service, visit: Visit, **fields: object) -> AppTest:
    """Open the page of a run whose only output has these fields."""
    job = Job(task().subgraphs[0], REFERENCE, TIMED)
    made = outcome(job, Verdict.WRONG_VALUES)
    assert made.accuracy is not None
    output = replace(made.accuracy.outputs[0], **{"index": (0, 47), "problem": "wrong", **fields})  # type: ignore[arg-type]
    return opened(service, visit, job, replace(made, accuracy=replace(made.accuracy, outputs=(output,))))


def opened(service: Service, visit: Visit, job: Job, made: Outcome) -> AppTest:
    run = replace(new_run((job,), label="shown"), id="shown")
    service.import_run(exchange.written(RunFile(run, (REFERENCE,), (made,))))
    return visit("runs", run="shown")


def test_a_wrong_output_is_drawn_told_and_guessed_about(visit: Visit, service: Service) -> None:
    app = shown(service, visit, map=MAP, verdict=Verdict.NON_FINITE, wrong_in=("recorded", "typical"), failed=FAILED)
    text = texts(app)
    assert "**Output 0, wrong: 4 of 192 elements (2.1 %), column 47 of every row**" in read(app)
    assert "It is wrong on 2 of 2 input sets. Also on: recorded: 1 of 192 elements (0.5 %)." in read(app)
    assert "mask or the last block" in text
    (strip,) = [json.loads(each.proto.spec) for each in app.get("vega_lite_chart")]
    assert strip["width"] == "container"
    assert "column 47 of every row" in strip["description"]
    expected, actual = [each.value for each in app.table]
    assert list(expected.columns) == ["row", "46", "47"]
    assert list(actual["47"]) == ["▶ nan", "✗ nan"]


def test_an_outcome_without_a_map_is_drawn_as_before(visit: Visit, service: Service) -> None:
    app = shown(service, visit)
    assert not app.table
    assert not app.get("vega_lite_chart")
    assert any("max error" in each.value for each in app.dataframe)


@pytest.mark.parametrize(
    ("shape", "spots"),
    [
        ((), ErrorMap(0, 1, 1, (5.0,), 1, (), (0, 1), around=Neighbourhood((), ((1.0,),), ((2.0,),), ((True,),)))),
        ((9,), ErrorMap(0, 1, 9, (2.0,) * 9, 9, ((0, 9),), (0, 9))),
        ((2, 3, 4, 5), ErrorMap(2, 6, 1, (0.0,) * 5 + (3.0,), 1, ((1, 2), (2, 3), (3, 4), (4, 5)), (119, 120))),
    ],
)
def test_outputs_of_every_rank_have_a_strip(
    visit: Visit, service: Service, shape: tuple[int, ...], spots: ErrorMap
) -> None:
    app = shown(service, visit, shape=shape, map=spots, index=tuple(size - 1 for size in shape))
    assert not app.exception
    assert len(app.get("vega_lite_chart")) == 1
    assert len(app.table) == (2 if spots.around else 0)


def test_what_a_stranger_wrote_into_a_run_file_stays_text(visit: Visit, service: Service) -> None:
    hostile = "<script>alert(1)</script> **bold** [x](javascript:1)"
    app = shown(service, visit, map=MAP, profile=hostile, problem=hostile, wrong_in=(hostile, "typical"))
    for each in [*app.markdown, *app.caption]:
        assert "<script>" not in str(each.value)
        assert "[x](javascript" not in str(each.value)


def test_several_wrong_outputs_have_a_strip_each(visit: Visit, service: Service) -> None:
    job = Job(task().subgraphs[0], REFERENCE, TIMED)
    made = outcome(job, Verdict.WRONG_VALUES)
    assert made.accuracy is not None
    first: OutputAccuracy = replace(made.accuracy.outputs[0], map=MAP, problem="wrong")
    accuracy = Accuracy((first, replace(first, output=1), replace(first, output=2, map=None)), ("typical",))
    app = opened(service, visit, job, replace(made, accuracy=accuracy))
    assert len(app.get("vega_lite_chart")) == 2
