"""Writing a pass: typed text is saved where it was typed, and is the text that is judged."""

import threading

import pytest

from pages.ui import links, resources
from pages.ui.drafting import MINE
from passnet_core.bundles.starting import starting_point
from passnet_core.graphs.source import parse
from passnet_core.records import Baseline, Bundle, Device, EvalSpec, Job, Outcome, PassFile, Profile, Verdict
from passnet_core.service import Service
from tests.example_playground import OTHER_ID, PASS, REFERENCE, REFERENCE_NAME, TASK_ID, answer, outcome, task
from tests.fake_backend import FakeBackend
from tests.pages.editing import Editor
from tests.pages.visiting import BROWSER, VISITOR, Visit, button, read, texts, until
from tests.waiting import seconds


def test_a_new_task_begins_with_a_pass_that_fits_it(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    beginning = starting_point(parse(task().subgraphs[0].code))
    assert Editor(app).texts == {file.name: file.code for file in beginning.files}
    assert button(app, "Start over").disabled


def test_what_was_typed_is_there_after_a_reload(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "# mine\n").run()
    again = visit("workbench", task=TASK_ID, bundle=app.query_params["bundle"])
    assert Editor(again).text == PASS + "# mine\n"
    assert Editor(visit("workbench", task=OTHER_ID)).text != PASS + "# mine\n"


def test_a_link_to_passes_opens_them_as_they_are_and_not_what_was_made_of_them(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "# first\n").run()
    # sent before the browser heard of the copy
    early = Editor(app)
    early.element.proto.json = early.element.proto.json.replace(f"{REFERENCE_NAME}.1", REFERENCE_NAME)
    early.hold(PASS + "# first, and more\n").run()
    assert app.query_params["bundle"] == f"{REFERENCE_NAME}.1"
    app.selectbox(key="bundle").set_value(REFERENCE_NAME).run()
    assert Editor(app).text == PASS

    other = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    assert Editor(other).text == PASS
    Editor(other).hold(PASS + "# second\n").run()
    assert "Reference: Add and rectify, edited (2)" in read(other)
    other.selectbox(key="bundle").set_value(f"{REFERENCE_NAME}.1").run()
    assert Editor(other).text == PASS + "# first, and more\n"
    assert "Reference: Add and rectify, edited ·" in read(other)
    other.selectbox(key="bundle").set_value(f"{REFERENCE_NAME}.2").run()
    assert Editor(other).text == PASS + "# second\n"
    assert Editor(visit("workbench", task=TASK_ID, bundle=f"{REFERENCE_NAME}.9")).text == PASS, "somebody else's copy"


def test_another_visitor_sees_none_of_it(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    beginning = Editor(app).text
    Editor(app).hold("# mine\n").run()
    assert "Your drafts" in texts(visit("workbench"))
    stranger = visit("workbench", browser="1" * 32, task=TASK_ID)
    assert Editor(stranger).text == beginning
    assert "Your drafts" not in texts(visit("workbench", browser="1" * 32))
    Editor(stranger).hold("# theirs\n").run()
    assert Editor(visit("workbench", task=TASK_ID)).text == "# mine\n"


def test_what_one_tab_saves_the_other_shows_if_nothing_was_typed_there(visit: Visit) -> None:
    one, other = (visit("workbench", task=TASK_ID) for _ in range(2))
    Editor(one).hold("# from one\n").run()
    other.run()
    assert Editor(other).text == "# from one\n"
    assert not other.warning
    Editor(other).hold("# from the other\n").run()
    one.run()
    assert Editor(one).text == "# from the other\n"


def test_two_tabs_that_change_one_draft_lose_nothing(visit: Visit, service: Service) -> None:
    one, other = (visit("workbench", task=TASK_ID) for _ in range(2))
    Editor(one).hold("# from one\n").run()
    Editor(other).hold("# from the other\n").run()
    assert "Another tab saved a different text" in other.warning[0].value
    assert "Not saved" in texts(other)
    assert Editor(other).text == "# from the other\n"
    assert "-# from the other\n+# from one" in texts(other)
    kept = service.draft(VISITOR, TASK_ID, MINE)
    assert kept is not None
    assert kept.bundle.passes[0].code == "# from one\n"
    button(other, "Keep mine").click().run()
    assert not other.warning
    kept = service.draft(VISITOR, TASK_ID, MINE)
    assert kept is not None
    assert kept.bundle.passes[0].code == "# from the other\n"
    one.run()
    assert Editor(one).text == "# from the other\n"


def test_the_other_tabs_text_can_be_taken(visit: Visit) -> None:
    one, other = (visit("workbench", task=TASK_ID) for _ in range(2))
    Editor(one).hold("# from one\n").run()
    Editor(other).hold("# from the other\n").run()
    button(other, "Take theirs").click().run()
    assert not other.warning
    assert Editor(other).text == "# from one\n"
    Editor(other).hold("# from one and the other\n").run()
    assert Editor(visit("workbench", task=TASK_ID)).text == "# from one and the other\n"


def test_files_cannot_be_changed_before_one_of_two_texts_is_chosen(visit: Visit) -> None:
    one, other = (visit("workbench", task=TASK_ID) for _ in range(2))
    Editor(one).hold("# from one\n").run()
    Editor(other).hold("# from the other\n").run()
    button(other, "Start over").click().run()
    assert "Another tab has changed these passes" in other.error[0].value
    assert Editor(other).text == "# from the other\n"


def test_text_that_arrives_together_with_another_choice_of_passes_stays_with_its_own(
    visit: Visit, service: Service
) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "# for the reference\n")
    app.selectbox(key="bundle").set_value(MINE)
    app.run()
    assert "# for the reference" not in Editor(app).text
    kept = service.draft(VISITOR, TASK_ID, f"{REFERENCE_NAME}.1")
    assert kept is not None
    assert kept.bundle.passes[0].code == PASS + "# for the reference\n"
    assert service.draft(VISITOR, TASK_ID, MINE) is None
    app.selectbox(key="bundle").set_value(f"{REFERENCE_NAME}.1").run()
    assert Editor(app).text == PASS + "# for the reference\n"


def test_text_that_arrives_together_with_a_change_of_page_is_kept(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "# before leaving\n").run()
    copy = app.query_params["bundle"]
    app.switch_page(links.script("help")).run()
    assert app.title[0].value == "Help"
    again = visit("workbench", task=TASK_ID, bundle=copy)
    assert Editor(again).text == PASS + "# before leaving\n"


def test_a_saved_copy_opens_from_the_list_of_drafts(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "# a copy\n").run()
    copy = app.query_params["bundle"]
    app = visit("workbench", task=TASK_ID)
    next(each for each in app.button if f"· {copy} ·" in each.label.replace("\\", "")).click().run()
    assert not app.exception, app.exception[0].message
    assert app.query_params["bundle"] == copy
    assert Editor(app).text == PASS + "# a copy\n"


def test_another_draft_opens_where_the_newest_one_was_opened_without_being_named(visit: Visit) -> None:
    for text in ("# older\n", "# newer\n"):
        app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
        Editor(app).hold(PASS + text).run()
    app = visit("workbench")
    assert Editor(app).text == PASS + "# newer\n"
    drafts = [each for each in app.button if f"· {REFERENCE_NAME}.1 ·" in each.label.replace("\\", "")]
    drafts[0].click().run()
    assert not app.exception, app.exception[0].message
    assert app.query_params["bundle"] == f"{REFERENCE_NAME}.1"
    assert Editor(app).text == PASS + "# older\n"


def test_a_click_judges_the_text_and_the_subgraph_that_arrive_with_it(visit: Visit, service: Service) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "WRONG = 1\n")
    app.selectbox(key="subgraph").set_value(task().subgraphs[1].id)
    button(app, "Run").click()
    app.run()
    until(app, "Wrong values")
    run_id = app.query_params["run"]
    assert service.run(run_id).label == f"{REFERENCE_NAME}, edited"
    (judged,) = service.outcomes(run_id)
    assert judged.subgraph_id == task().subgraphs[1].id
    assert service.bundle(service.run(run_id).bundle_digest or "").passes[0].code == PASS + "WRONG = 1\n"


def test_passnets_rules_come_with_their_cap(visit: Visit, service: Service) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    profile = next(each for each in app.radio if each.label == "Judged by")
    cap = next(each for each in app.checkbox if "one replacement function" in each.label)
    assert (profile.value, cap.value, cap.disabled) == ("strict: this judge's own rules", False, False)
    profile.set_value("PassNet's rules: recorded inputs, its static rule and protocol").run()
    cap = next(each for each in app.checkbox if "one replacement function" in each.label)
    assert (cap.value, cap.disabled) == (True, True)
    button(app, "Run").click()
    app.run()
    until(app, "Right, not timed")
    spec = service.run(app.query_params["run"]).spec
    assert (spec.profile, spec.replacement_cap) == (Profile.PASSNET, 1)


class TestOnAGpu:
    @pytest.fixture
    def judge(self) -> FakeBackend:
        return FakeBackend(answer, Device.CUDA)

    def test_the_baseline_can_be_chosen(self, visit: Visit, service: Service) -> None:
        app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
        baseline = next(each for each in app.radio if each.label == "Baseline")
        assert baseline.value == "TorchInductor"
        baseline.set_value("TorchInductor with eager's rounding").run()
        button(app, "Run").click()
        app.run()
        until(app, "Right, not timed")
        assert service.run(app.query_params["run"]).spec.baseline is Baseline.EAGER_ROUNDING


def test_check_says_where_a_pattern_misses(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "SIGMOID = 1\n")
    button(app, "Check").click()
    app.run()
    until(app, "No match")
    said = "\n".join(each.value for each in app.markdown)
    assert "The pattern wants relu, the graph has sigmoid\\." in said


def test_a_run_of_the_whole_task_opens_for_each_subgraph(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    button(app, "Run all 2").click()
    app.run()
    until(app, "Right, not timed")
    run_id = app.query_params["run"]
    for subgraph in task().subgraphs:
        app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME, run=run_id, subgraph=subgraph.id)
        until(app, "Right, not timed")
        assert any(subgraph.dtype in each.value and "direct" in each.value for each in app.caption)
    listed = visit("runs").dataframe[0].value
    assert "2 of 2" in list(listed["accepted"])


def test_an_old_verdict_is_marked_once_the_text_has_changed(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    button(app, "Run").click()
    app.run()
    until(app, "Right, not timed")
    judged = Editor(app).text
    assert "This result is for different code" not in texts(app)
    Editor(app).hold(PASS + "\nCHANGED = 1\n").run()
    assert "This result is for different code" in texts(app)
    button(app, "Load that code").click().run()
    assert Editor(app).text == judged
    assert "This result is for different code" not in texts(app)
    assert "Right, not timed" in texts(app)
    app.selectbox(key="bundle").set_value(f"{REFERENCE_NAME}.1").run()
    assert Editor(app).text == PASS + "\nCHANGED = 1\n", "the draft stays as it was"


def test_start_over_puts_back_the_beginning(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold("nothing of use").run()
    button(app, "Start over").click()
    app.run()
    assert Editor(app).text == PASS


def test_files_are_added_and_removed_and_keep_what_was_typed(visit: Visit, service: Service) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "# typed\n")
    name = next(each for each in app.text_input if each.label == "Name of a new file")
    name.set_value("shared_kernel")
    button(app, "Add helper").click()
    app.run()
    kept = service.draft(VISITOR, TASK_ID, f"{REFERENCE_NAME}.1")
    assert kept is not None
    assert [file.name for file in kept.bundle.files] == ["add_relu.py", "shared_kernel.py"]
    assert kept.bundle.passes[0].code == PASS + "# typed\n"
    name = next(each for each in app.text_input if each.label == "Name of a new file")
    name.set_value("not a name")
    button(app, "Add pass").click()
    app.run()
    assert "like a Python module" in app.error[0].value


def test_a_rule_that_is_broken_is_named_with_its_line(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS.replace("import torch\n", "import torch\nimport torch.nn as nn\n")).run()
    assert any("torch" in each.value for each in app.error)
    Editor(app).hold("def pattern(:\n").run()
    assert app.error


def test_names_that_look_like_markup_are_shown_as_text(visit: Visit, service: Service) -> None:
    hostile = Bundle((PassFile("x.py", PASS),))
    run_id = service.submit(task(), hostile, EvalSpec(), label="<b>bold</b> **strong** :red[x] [link](javascript:1)")
    service.wait(run_id)
    title = visit("runs", run=run_id).title[0].value
    assert "\\<b\\>bold\\<\\/b\\> \\*\\*strong\\*\\* \\:red\\[x\\]" in title


@pytest.fixture
def go_on(service: Service, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Until this is set, no job ends."""
    event = threading.Event()

    def slow(job: Job) -> Outcome:
        assert event.wait(seconds(60))
        return answer(job)

    monkeypatch.setattr(service._scheduler, "backend", FakeBackend(slow))
    return event


def test_a_run_under_way_shows_its_log_and_can_be_cancelled(
    visit: Visit, service: Service, go_on: threading.Event
) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    button(app, "Run all 2").click()
    app.run()
    try:
        assert any(each.label == "Cancel" for each in app.button)
        assert any("of 2 subgraphs judged" in str(each.proto) for each in app.get("progress"))
        button(app, "Cancel").click()
        app.run()
    finally:
        go_on.set()
    service.wait(app.query_params["run"])
    app.run()
    assert service.progress(app.query_params["run"]).cancelled


def test_what_others_have_not_finished_is_not_listed(visit: Visit, service: Service, go_on: threading.Event) -> None:
    def listed(browser: str, **selected: str) -> set[str]:
        app = visit("runs", browser=browser, **selected)
        return {run for table in app.dataframe for run in table.value["run"]}

    own, stranger = BROWSER, "1" * 32
    run = service.submit(task(), REFERENCE, EvalSpec(), owner=VISITOR)
    try:
        assert run in listed(own)
        assert run not in listed(stranger)
    finally:
        go_on.set()
    service.wait(run)
    assert run in listed(stranger)
    assert run in listed(own, own="true")
    assert run not in listed(stranger, own="true")


def test_the_reference_opens_for_its_task_only(visit: Visit) -> None:
    assert REFERENCE_NAME in visit("workbench", task=TASK_ID).selectbox(key="bundle").options
    assert REFERENCE_NAME not in visit("workbench", task=OTHER_ID).selectbox(key="bundle").options
    assert resources.service().reference_bundles()[0].bundle.digest == REFERENCE.digest


def test_all_tasks_are_searched_for_matches_of_a_bundle(visit: Visit, judge: FakeBackend) -> None:
    judge.matches = lambda code: 1
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    button(app, "Search all tasks").click().run()
    assert not app.exception
    said = " ".join(str(each.value) for each in app.markdown)
    assert "The passes match **4 subgraphs** of 2 tasks." in said
    Editor(app).hold(PASS + "# another\n").run()
    assert "This search was for different code" in texts(app)


def test_passes_that_cannot_be_loaded_are_not_searched_for(visit: Visit, judge: FakeBackend) -> None:
    judge.answer = lambda job: outcome(job, Verdict.DOES_NOT_LOAD)
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    button(app, "Search all tasks").click().run()
    assert any("does not load" in str(each.value) for each in app.error)


# --- messages of the editor -------------------------------------------------------------------------------------------


def test_a_command_judges_the_text_that_comes_with_it(visit: Visit, service: Service) -> None:
    app = Editor(visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)).ask("check", PASS + "# asked\n")
    until(app, "Matches")
    run = service.runs(checks=True)[0].run
    assert service.bundle(run.bundle_digest or "").passes[0].code == PASS + "# asked\n"
    kept = service.draft(VISITOR, TASK_ID, f"{REFERENCE_NAME}.1")
    assert kept is not None
    assert kept.bundle.passes[0].code == PASS + "# asked\n"


def test_text_that_was_replaced_meanwhile_is_neither_kept_nor_judged(visit: Visit, service: Service) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold(PASS + "# mine\n").run()
    late = Editor(app)
    said = late._message(PASS + "# too late\n")
    button(app, "Start over").click().run()
    again = Editor(app)
    again._message = lambda text: said  # type: ignore[method-assign]
    before = service.runs(checks=True)
    again.ask("run", "")
    assert Editor(app).text == PASS
    assert service.runs(checks=True) == before


@pytest.mark.parametrize(
    "said",
    [
        None,
        3,
        "text",
        {},
        {"slot": REFERENCE_NAME},
        {"slot": REFERENCE_NAME, "revision": "0", "files": {}},
        {
            "slot": REFERENCE_NAME,
            "revision": 0,
            "files": {"add_relu.py": 3, "nobody.py": "x"},
            "what": "format the disk",
        },
    ],
)
def test_a_browser_may_say_anything(visit: Visit, service: Service, said: object) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    editor = Editor(app)
    editor._message = lambda text: said  # type: ignore[method-assign,assignment,return-value]
    editor.hold("").run()
    assert not app.exception
    assert Editor(app).text == PASS


def test_rules_and_misses_are_marked_in_the_editor(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME)
    Editor(app).hold("import torch.nn\n" + PASS).run()
    (finding,) = [each for each in Editor(app).given["findings"] if each["source"] == "forbidden-import"]
    assert (finding["file"], finding["line"], finding["fatal"]) == ("add_relu.py", 1, True)
    until(Editor(app).ask("check", PASS + "SIGMOID = 1\n"), "No match")
    (miss,) = [each for each in Editor(app).given["findings"] if each["source"] == "no match"]
    assert not miss["fatal"]
    assert PASS.split("\n")[miss["line"] - 1].startswith("def pattern")
    Editor(app).hold(PASS + "# another text\n").run()
    assert not Editor(app).given["findings"], "it is about another text"


def test_the_operations_of_the_subgraph_can_be_completed(visit: Visit) -> None:
    given = Editor(visit("workbench", task=TASK_ID)).given["operations"]
    assert {"label": "torch.nn.functional.relu", "insert": "torch.nn.functional.relu(tmp_0)", "detail": "tmp_1"} in [
        {**each, "insert": each["insert"].replace(", inplace = False", "")} for each in given
    ]
