"""The Match tab: matches beside the pattern, the explanation of a missing match, and the suggested edit."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from passnet_core.graphs.explaining import ATTEMPTS, explained
from passnet_core.graphs.matching import find_matches, plain_bind
from passnet_core.graphs.source import parse, parse_function
from passnet_core.records import Job, MatchReport, MissKind, NearestMiss, Outcome, PassMatches, Verdict
from tests.example_playground import PASS, REFERENCE_NAME, TASK_ID, answer, outcome
from tests.fake_backend import FakeBackend
from tests.pages.editing import Editor, _elements
from tests.pages.visiting import Visit, button, read, turned, until

MISSING = PASS.replace("torch.nn.functional.relu(a + b)", "torch.relu(b + a)")


def explaining(job: Job) -> Outcome:
    """Answer like the fake judge, but with a match report from the real matcher."""
    assert job.bundle is not None
    graph = parse(job.subgraph.code)
    file = job.bundle.passes[0]
    pattern = parse_function(file.code, "pattern")
    found = find_matches(pattern, graph, keep=ATTEMPTS)
    report = explained(file.name.removesuffix(".py"), pattern, graph, found, code=file.code, bind=plain_bind)
    said = outcome(job, Verdict.MATCHED if found.matches else Verdict.NO_MATCH)
    rewritten = said.match.rewritten if said.match and found.matches else None
    return replace(said, match=MatchReport((report,), rewritten))


def checked(visit: Visit, judge: FakeBackend, code: str, told: Callable[[Job], Outcome] = explaining) -> AppTest:
    judge.answer = told
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).ask("check", code)
    return turned(until(app, "check only"), "Match")


def graphs(app: AppTest) -> dict[str, dict[str, object]]:
    """Return the data of each graph on the page, by title."""
    given = [json.loads(each.proto.json) for _, _, each in _elements(app._tree) if _is_graph(each)]
    return {data["title"].split(":")[0]: data for data in given}


def _is_graph(element: object) -> bool:
    return getattr(getattr(element, "proto", None), "component_name", "") == "passnet.graph"


def marks(data: dict[str, object]) -> dict[str, str]:
    return {node["name"]: node["pair"]["mark"] for node in data["nodes"] if node["pair"]}  # type: ignore[attr-defined]


def test_a_match_is_drawn_beside_the_pattern_with_the_same_marks(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit, judge, PASS)
    assert "Match 1 of 1 of pass `add_relu`" in read(app)
    shown = graphs(app)
    assert marks(shown["The pattern of add_relu"]) == {"a": "a", "b": "b", "add": "2", "relu": "1"}
    assert marks(shown["The subgraph"]) == {"in_0": "a", "in_1": "b", "tmp_0": "2", "tmp_1": "1"}
    assert button(app, "Next").disabled
    (table,) = app.table
    assert table.value.values.tolist()[0] == ["1", "`relu`", "`tmp_1`"]


def test_a_step_is_in_the_link_and_a_cold_link_opens_it(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit, judge, MISSING.replace("torch.relu(b + a)", "torch.sigmoid(a + b)"))
    assert "Attempt 1 of 2 of pass `add_relu`, the nearest" in read(app)
    assert "There is no program to step through" in read(turned(app, "Programs"))
    assert judge.traced == [], "no code of the passes would run"
    turned(app, "Match")
    button(app, "Next").click()
    app.run()
    assert "Attempt 2 of 2" in read(app)
    assert app.query_params["match"] == "1.2"
    again = visit(
        "workbench", task=TASK_ID, bundle=app.query_params["bundle"], run=app.query_params["run"], match="1.2"
    )
    assert "Attempt 2 of 2" in read(until(again, " of pass "))
    button(again, "Next").click()
    again.run()
    assert "Attempt 1 of 2" in read(again)
    button(again, "Previous").click()
    again.run()
    assert "Attempt 2 of 2" in read(again)


@pytest.mark.parametrize("place", ["9.9", "", "<b>", "1", "1.0"])
def test_a_link_to_no_step_opens_the_first(visit: Visit, judge: FakeBackend, place: str) -> None:
    app = checked(visit, judge, PASS)
    again = visit(
        "workbench", task=TASK_ID, bundle=REFERENCE_NAME, run=app.query_params["run"], match=place, tab="Match"
    )
    assert "Match 1 of 1" in read(until(again, " of pass "))


def test_no_match_is_explained_and_its_edit_can_be_applied_to_the_editor(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit, judge, MISSING)
    said = read(app)
    assert "Nearest miss of `add_relu`" in said
    assert "with it the pattern has 1 match" in said
    assert "Call torch.nn.functional.relu as the graph does" in said
    assert "Started with `add` of the pattern at `tmp_0`. 1 pair matched, then:" in said
    (code,) = [each.value for each in app.code if each.value.startswith("- ")]
    assert code == "-     return torch.relu(b + a)\n+     return torch.nn.functional.relu(b + a)"
    (miss,) = [each for each in Editor(app).given["findings"] if each["source"] == "no match"]
    assert MISSING.split("\n")[miss["line"] - 1] == "    return torch.relu(b + a)"
    before = Editor(app).given["revision"]
    button(app, "Apply to the editor").click()
    app.run()
    assert Editor(app).text == MISSING.replace("torch.relu", "torch.nn.functional.relu")
    assert Editor(app).given["revision"] == before + 1, "a new revision is a change that can be undone"
    assert not [each for each in app.button if each.label == "Apply to the editor"]
    assert "Changed add_relu.py, line 9: return torch.relu(b + a) →" in read(turned(app, "Verdict"))
    turned(until(Editor(app).ask("check", Editor(app).text), "check only"), "Match")
    assert "Match 1 of 1" in read(app)


def test_an_edit_does_not_overwrite_what_was_typed_since(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit, judge, MISSING)
    button(app, "Apply to the editor").click()
    typed = MISSING.replace("torch.relu(b + a)", "torch.relu(b + a + 1)")
    Editor(app).hold(typed).run()
    assert Editor(app).text == typed
    assert "has changed since it was judged" in " ".join(each.value for each in app.error).replace("\\", "")


def test_on_the_page_of_a_run_there_is_no_editor_to_apply_to(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit, judge, MISSING)
    run = visit("runs", run=app.query_params["run"])
    until(run, " of pass ")
    assert "Suggested edit" in read(run)
    assert not [each for each in run.button if each.label == "Apply to the editor"]


def test_older_outcomes_are_drawn_from_what_they_have(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit, judge, PASS, answer)
    assert "Match 1 of 1 of pass `add_relu`" in read(app)
    assert "Read from the pass's source" in read(app)
    assert "Nodes: `tmp_0`, `tmp_1`" in read(app)
    assert "The pattern of add_relu" in graphs(app)
    app = checked(visit, judge, PASS + "SIGMOID = 1\n", answer)
    assert "Attempt 1 of 1 of pass `add_relu`" in read(app)
    assert graphs(app)["The subgraph"]["reason"] == "The pattern wants relu, the graph has sigmoid."


def test_hostile_words_stay_words(visit: Visit, judge: FakeBackend) -> None:
    hostile = "<script>alert(1)</script> **x** `y` :red[z]"

    def told(job: Job) -> Outcome:
        said = explaining(job)
        assert said.match is not None
        report = said.match.passes[0]
        first = replace(report.attempts[0].differences[0], reason=hostile)
        attempt = replace(
            report.attempts[0], anchor=(hostile, hostile), differences=(first,), fitted=((hostile, hostile),)
        )
        assert report.edit is not None
        edit = replace(report.edit, words=(hostile,), then=hostile, matches=0)
        miss = NearestMiss(MissKind.OTHER, hostile, None, hostile)
        changed = replace(report, name=hostile, attempts=(attempt,), edit=edit, miss=miss, pattern='{"nodes": "no"}')
        return replace(said, match=MatchReport((changed, PassMatches(hostile, (), miss))))

    judge.answer = told
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).ask("check", MISSING)
    turned(until(app, "Nearest miss"), "Match")
    for each in [*app.markdown, *app.caption]:
        if each.allow_html:
            continue
        without_code = "".join(str(each.value).split("``")[::2])
        assert "**x**" not in without_code
    assert "Not a graph" in " ".join(each.value for each in app.error)
