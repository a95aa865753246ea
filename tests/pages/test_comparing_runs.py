"""Comparing two runs by link: the overview, and what differs for one subgraph."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.comparing import FATES, NOT_COMPARABLE, SECTIONS, SIGNS
from passnet_core.records import Baseline, Bundle, EvalSpec, Job, Outcome, PassFile, Profile, Stage, Verdict
from passnet_core.reports.comparison import Change, Fate
from passnet_core.service import Service
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.example_playground import PASS, REFERENCE, TASK_ID, answer, measured, task
from tests.fake_backend import FakeBackend
from tests.pages.visiting import VISITOR, Visit, button, read
from tests.waiting import seconds

HOSTILE = "<img src=x onerror=alert(1)> :material/home: [x](javascript:alert(1)) ```"


def imported(service: Service, file: RunFile, run_id: str, **changes: Any) -> str:
    run = replace(file.run, id=run_id, recorded="", **changes)
    return service.import_run(exchange.written(replace(file, run=run)))


def judged(service: Service, bundle: Bundle | None, spec: EvalSpec | None = None, only: int | None = None) -> str:
    ids = None if only is None else [task().subgraphs[only].id]
    run_id = service.submit(service.corpus.task(TASK_ID), bundle, spec or EvalSpec(), subgraph_ids=ids)
    service.wait(run_id)
    return run_id


def test_a_link_compares_two_runs_at_a_glance(visit: Visit) -> None:
    app = visit("runs", run="recorded-passes", against="recorded-inductor")
    words = read(app)
    assert "▲ 2 faster" in words
    assert "2 of 2 subgraphs accepted" in words
    rows = app.dataframe[0].value
    assert list(rows["change"]) == ["▲ faster", "▲ faster"]
    assert list(rows["speedup then"]) == ["0.70× (0.68 to 0.72)"] * 2
    assert list(rows["speedup now"]) == ["1.50× (1.46 to 1.54)"] * 2
    assert list(rows["ratio"]) == pytest.approx([1.5 / 0.7] * 2)
    assert "1.50× eager" in words
    assert "0.70× eager" in words
    assert NOT_COMPARABLE not in words
    assert "TorchInductor was the solver then" in words
    assert app.code[0].value.splitlines()[1].startswith("+")


def test_the_two_baselines_are_named_where_they_are_compared(visit: Visit, service: Service) -> None:
    imported(service, measured(None, speedup=1.2, baseline=Baseline.EAGER_ROUNDING), "rounding")
    words = read(visit("runs", run="recorded-inductor", against="rounding"))
    assert "Both sides were solved by TorchInductor with eager's rounding and TorchInductor," in words
    words = read(visit("runs", run="recorded-passes", against="rounding"))
    assert "TorchInductor with eager's rounding was the solver then" in words
    words = read(visit("runs", run="recorded-passes", against="rounding", show="Graph"))
    assert "TorchInductor with eager's rounding compiles the subgraph as it is." in words


def test_the_subgraph_and_what_is_shown_stand_in_the_link(visit: Visit) -> None:
    subgraph = task().subgraphs[1].id
    app = visit("runs", run="recorded-inductor", against="recorded-passes", subgraph=subgraph, show="Time")
    assert app.subheader[0].value.replace("\\", "") == subgraph
    clocks = app.dataframe[1].value
    assert list(clocks["change"]) == ["▼ slower"] * 4
    assert list(clocks["solver then, µs"]) == ["20 (passes)"] * 4
    assert list(clocks["solver now, µs"]) == ["42.9 (TorchInductor)"] * 4


def test_code_is_compared_line_by_line(visit: Visit, service: Service) -> None:
    helper = PassFile("shared.py", "BLOCK = 1024\n")
    changed = Bundle((PassFile("add_relu.py", PASS.replace("count, 1024", "count, 512")),), (helper,))
    then, now = judged(service, REFERENCE), judged(service, changed)
    app = visit("runs", run=now, against=then)
    diffs = [each.value for each in app.code]
    assert any("-    add_relu_kernel[(triton.cdiv(count, 1024)" in each for each in diffs)
    assert any("+    add_relu_kernel[(triton.cdiv(count, 512)" in each for each in diffs)
    assert any(each == "@@ -0,0 +1 @@\n+BLOCK = 1024" for each in diffs)
    assert "`shared.py` was added" in read(app)
    assert "`shared.py` was removed" in read(visit("runs", run=then, against=now))
    assert "= 2 the same verdict" in read(app)


def test_one_click_judges_by_the_other_rules_and_shows_both_outcomes(visit: Visit, service: Service) -> None:
    then = judged(service, REFERENCE)
    app = visit("runs", run=then)
    button(app, "Also judge by: PassNet's rules").click().run()
    assert app.query_params["against"] == then
    now = app.query_params["run"]
    service.wait(now)
    app.run()
    assert not app.exception
    words = read(app)
    assert "judged by: strict" in words
    assert "judged by: PassNet's rules" in words
    run = service.run(now)
    assert (run.spec.profile, run.spec.replacement_cap) == (Profile.PASSNET, 1)
    assert [each.subgraph_id for each in service.outcomes(now)] == [task().subgraphs[0].id]
    assert any(each.label == "Also judge by: strict" for each in visit("runs", run=now).button)


@pytest.mark.parametrize("show", list(SECTIONS))
def test_every_part_can_be_opened_for_runs_that_only_checked(visit: Visit, service: Service, show: str) -> None:
    checked = judged(service, REFERENCE, EvalSpec(stage=Stage.CHECK))
    app = visit("runs", run="recorded-passes", against=checked, show=show)
    assert not app.error
    assert "≠ 2 another verdict" in read(app)
    assert NOT_COMPARABLE in read(app)


def test_environments_that_differ_are_marked_by_sign_and_word(visit: Visit, service: Service) -> None:
    here = judged(service, REFERENCE)
    app = visit("runs", run=here, against="recorded-passes", show="Environment")
    where, how = (each.value for each in app.table)
    marks = dict(zip(where["what"], where.iloc[:, 0]))
    assert "≠ differs" in marks["**device**"]
    assert marks["torch"] == "= same"
    assert "**stage**" in list(how["what"])


def test_a_subgraph_that_one_run_lacks_is_said(visit: Visit, service: Service) -> None:
    one = judged(service, REFERENCE, only=0)
    missing = task().subgraphs[1].id
    for show in SECTIONS:
        app = visit("runs", run="recorded-passes", against=one, subgraph=missing, show=show)
        assert not app.error
        assert f"Run {one} did not judge this subgraph." in read(app)
    assert "+ 1 judged only now" in read(app)
    assert "− 1 judged only then" in read(visit("runs", run=one, against="recorded-passes"))
    assert "Neither run judged nowhere" in read(visit("runs", run=one, against="recorded-passes", subgraph="nowhere"))


def test_a_run_compared_with_itself_differs_in_nothing(visit: Visit) -> None:
    for show in SECTIONS:
        app = visit("runs", run="recorded-passes", against="recorded-passes", show=show)
        words = read(app)
        assert "the same run" in words
        assert "≈ 2 no measurable difference" in words
        assert "differs]" not in words


@pytest.mark.parametrize(
    "link", [{"run": "recorded-passes", "against": "none-such"}, {"run": "none-such", "against": "recorded-passes"}]
)
def test_a_link_to_a_run_that_is_not_here_says_so(visit: Visit, link: dict[str, str]) -> None:
    app = visit("runs", **link)
    assert len(app.error) == 1
    assert "none" in app.error[0].value


def test_runs_that_failed_are_compared_by_their_verdicts(visit: Visit, service: Service) -> None:
    failed = imported(service, measured(REFERENCE, speedup=1.0, verdict=Verdict.WRONG_VALUES), "failed")
    assert "✗ 2 no longer accepted" in read(visit("runs", run=failed, against="recorded-passes"))
    app = visit("runs", run="recorded-passes", against=failed, show="Values")
    assert "✓ 2 now accepted" in read(app)
    assert list(app.dataframe[1].value["change"]) == ["now close"]


def test_a_run_under_way_is_compared_as_far_as_it_came(visit: Visit, service: Service, judge: FakeBackend) -> None:
    second, finish = threading.Event(), threading.Event()

    def slowly(job: Job) -> Outcome:
        if judge.jobs[-1] is not judge.jobs[0]:
            second.set()
            finish.wait(seconds(60))
        return answer(job)

    judge.answer = slowly
    run_id = service.submit(service.corpus.task(TASK_ID), REFERENCE, EvalSpec())
    assert second.wait(seconds(60))
    app = visit("runs", run=run_id, against="recorded-passes")
    itself = visit("runs", run=run_id, against=run_id)
    listed = visit("runs").dataframe[0].value.set_index("run").loc[run_id]
    finish.set()
    service.wait(run_id)
    assert "1 of 2 subgraphs judged so far" in read(app)
    assert "− 1 judged only then" in read(app)
    assert any(each.label == "Cancel" for each in app.button)
    assert "1 of 2 subgraphs judged so far" in read(itself)
    assert listed["accepted"] == "1 of 2 judged"
    assert list(listed["verdicts"]) == ["under way", "right, not timed"]


def test_hostile_names_stay_text(visit: Visit, service: Service) -> None:
    imported(service, measured(Bundle((PassFile(f"{HOSTILE}.py", PASS),)), speedup=1.2), "hostile", label=HOSTILE)
    for show in SECTIONS:
        app = visit("runs", run="hostile", against="recorded-passes", show=show)
        assert not app.error
    marked = [each.value for each in app.markdown]
    assert any("\\<img src\\=x" in each for each in marked)


def select(app: AppTest, *rows: int) -> AppTest:
    """Tick the boxes of these rows of the history."""
    app.session_state[str(app.dataframe[0].key)] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def test_one_run_is_opened_from_the_history_and_two_are_compared(visit: Visit) -> None:
    app = visit("runs")
    assert "Tick one run to open it" in read(app)
    assert len(app.dataframe[0].value) == 2
    ids = list(app.dataframe[0].value["run"])
    select(app, 1)
    button(app, "Open this run").click().run()
    assert f"run {ids[1]}" in read(app)
    app = select(visit("runs"), 0, 1)
    button(app, "Compare these two").click().run()
    assert app.title[0].value == "Two runs compared"
    assert (app.query_params["run"], app.query_params["against"]) == (ids[0], ids[1])


def test_the_history_says_what_changed_and_is_filtered_by_the_link(visit: Visit, service: Service) -> None:
    def mine(code: str) -> str:
        bundle = Bundle((PassFile("add_relu.py", code),))
        run_id = service.submit(service.corpus.task(TASK_ID), bundle, EvalSpec(), label="mine", owner=VISITOR)
        service.wait(run_id)
        return run_id

    first, second = mine(PASS), mine(f"{PASS}# WRONG\n")
    rows = visit("runs").dataframe[0].value
    assert list(rows.columns[:6]) == ["started", "what", "task", "verdicts", "speedup", "accepted"]
    assert list(rows["what"][:2]) == ["passes changed: add_relu.py +1 −0", "first run"]
    assert set(rows["what"][2:]) == {"recorded"}
    assert list(rows["verdicts"][0]) == ["2 wrong values"]
    assert rows["solver"][0] == "your passes"
    app = visit("runs", verdict="wrong values", own="true")
    assert list(app.dataframe[0].value["run"]) == [second]
    assert not app.warning
    button(app, "wrong values").click().run()
    assert list(app.dataframe[0].value["run"]) == [second, first]
    button(app, "Clear all").click().run()
    assert len(app.dataframe[0].value) == 4
    app = visit("runs", verdict="excellent", of="nowhere", checks="perhaps")
    assert all(each in read(app) for each in ("verdict excellent", "of nowhere", "checks perhaps"))
    assert len(app.dataframe[0].value) == 4

    app = visit("runs", run=second)
    assert "Your passes on add-relu" in read(app)
    button(app, "☆ Star").click().run()
    app.text_area[0].set_value("Try a larger *block*.").run()
    assert "sticky_note_2: Try a larger *block*." in read(app)
    app.text_area[0].set_value("x" * 2001).run()
    assert "2,001 characters" in app.error[0].value.replace("\\", "")
    assert len(str(app.text_area[0].value)) == 2001, "nothing is lost"
    rows = visit("runs", starred="true").dataframe[0].value
    assert list(rows[["run", "note", "starred"]].iloc[0]) == [second, "Try a larger *block*.", "★"]
    assert len(rows) == 1
    others = visit("runs", browser="1" * 32, of=TASK_ID).dataframe[0].value
    assert not others["note"].any()
    assert not others["starred"].any()


def test_a_run_offers_the_others_of_its_task(visit: Visit) -> None:
    app = visit("runs", run="recorded-passes")
    (offered,) = [each for each in app.selectbox if each.label == "Compare with"]
    assert len(offered.options) == 1
    assert offered.options[0].endswith("TorchInductor · measure · 2 of 2 accepted, 0.70× · recorded-inductor")
    offered.select_index(0).run()
    assert not app.exception
    assert app.query_params["against"] == "recorded-inductor"
    assert app.title[0].value == "Two runs compared"


def test_every_change_has_a_sign() -> None:
    assert set(SIGNS) == set(Change)
    assert set(FATES) == set(Fate)


def test_swapping_the_sides_keeps_what_is_shown(visit: Visit) -> None:
    app = visit("runs", run="recorded-passes", against="recorded-inductor", show="Time")
    (swap,) = [each for each in app.button if each.label == "Swap then and now"]
    swap.click().run()
    assert not app.exception
    assert "▼ 2 slower" in read(app)
    assert list(app.dataframe[1].value["change"]) == ["▼ slower"] * 4
    assert not visit("runs", run="recorded-passes", against="recorded-inductor", show="rubbish").exception
