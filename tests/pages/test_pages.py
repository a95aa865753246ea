"""Every page opens by its link, whatever the link selects, and even if that does not exist."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.pages.visiting as visiting
from pages.ui import resources
from pages.ui.links import Name
from pages.ui.results import OPENS
from pages.ui.words import VERDICTS
from passnet_core.access.hosting import Host
from passnet_core.errors import StoreError
from passnet_core.execution.backends.base import Capacity
from passnet_core.records import Job, Profile, Verdict
from passnet_core.service import Service, open_service
from passnet_core.settings import read_settings
from passnet_core.store import exchange
from passnet_core.store.database import Database
from tests.example_playground import (
    LAUNCHED,
    OTHER_ID,
    PASS,
    REFERENCE,
    REFERENCE_NAME,
    TASK_ID,
    answer,
    measured,
    outcome,
    task,
    write_data,
)
from tests.fake_backend import FakeBackend
from tests.pages.editing import Editor
from tests.pages.visiting import Visit, button, page_links, read, texts
from tests.waiting import seconds


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("start", "add\\-relu"),
        ("learn", "Learn to write passes"),
        ("explore", "Explore"),
        ("workbench", "add\\-relu"),
        ("runs", "Runs"),
        ("scores", "Scores"),
        ("help", "Help"),
    ],
)
def test_a_page_opens_cold_and_says_where_jobs_run(visit: Visit, page: str, expected: str) -> None:
    app = visit(page)
    assert app.title[0].value == expected
    assert not app.error
    assert "CPU" in texts(app)


@pytest.mark.parametrize("page", ["start", "workbench"])
def test_a_new_visitor_sees_a_finished_example_with_hardware_and_date(visit: Visit, page: str) -> None:
    app = visit(page)
    assert Editor(app).text == PASS
    assert app.selectbox(key="bundle").value == REFERENCE_NAME
    said = texts(app)
    assert "This pass makes a subgraph of" in said
    assert "1\\.5 times as fast as eager" in said
    assert "1\\.50× eager" in said
    assert "NVIDIA H200" in said
    assert "2026\\-02\\-03" in said
    assert re.findall(r"check:\] (\w+)", said) == ["pattern", "args", "kernel", "returns"]
    button(app, "Start the course").click().run()
    assert app.title[0].value.startswith("1")


def test_a_returning_visitor_sees_the_newest_draft(visit: Visit) -> None:
    app = visit("start")
    Editor(app).hold(PASS + "# mine\n").run()
    again = visit("start")
    assert Editor(again).text == PASS + "# mine\n"
    assert "A copy of the example, and yours" in texts(again)
    assert Editor(visit("start", browser="1" * 32)).text == PASS


@pytest.fixture
def held_back(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], None]]:
    """A playground that does not import recorded runs before this function is called, nor knows its device, unless the
    parameter says so."""
    go_on = threading.Event()
    import_runs = Database.import_runs

    def slowly(*arguments: Any) -> Any:
        assert go_on.wait(seconds(60))
        return import_runs(*arguments)

    class SlowBackend(FakeBackend):
        def capacity(self) -> Capacity:
            assert getattr(request, "param", "") == "device known" or go_on.wait(seconds(60))
            return super().capacity()

    monkeypatch.setattr(Database, "import_runs", slowly)
    data = write_data(tmp_path / "data")
    settings = read_settings({"PASSNET_DATA": str(data), "PASSNET_HOME": str(tmp_path / "home")})
    opened = open_service(settings, backend=SlowBackend(answer))
    monkeypatch.setattr(resources, "open_host", lambda *args, **kwargs: Host(opened, None))
    resources.host.clear()

    def imported() -> None:
        go_on.set()
        assert opened.problems == ()

    try:
        yield imported
    finally:
        go_on.set()
        resources.host.clear()
        opened.close()


@pytest.mark.parametrize(("page", "told"), [("explore", "Choose a row"), ("scores", "H200")])
def test_while_recorded_results_are_loaded_a_page_says_so_and_stays_usable(
    page: Name, told: str, held_back: Callable[[], None]
) -> None:
    app = visiting.visit(page)
    assert "are being loaded" in texts(app)
    if page == "explore":
        assert TASK_ID in list(app.dataframe[0].value["task"])
    held_back()
    app.run()
    assert "are being loaded" not in texts(app)
    assert told in texts(app)


@pytest.mark.parametrize("held_back", ["device known"], indirect=True)
def test_the_example_opens_before_the_recorded_results_are_loaded(held_back: Callable[[], None]) -> None:
    app = visiting.visit("start")
    said = texts(app)
    assert Editor(app).text == PASS
    assert "1\\.5 times as fast as eager" in said
    assert "are being loaded" in said
    held_back()
    app.run()
    assert "1\\.50× eager" in texts(app)


@pytest.mark.parametrize(
    ("page", "selected", "message"),
    [
        ("workbench", {"task": "nowhere"}, "nowhere"),
        ("workbench", {"task": TASK_ID, "subgraph": "float32/1/none"}, "none"),
        ("workbench", {"task": TASK_ID, "bundle": "feedfacecafe"}, "feedfacecafe"),
        ("workbench", {"task": TASK_ID, "run": "run-that-is-not"}, "run"),
        ("runs", {"run": "run-that-is-not"}, "run"),
        ("explore", {"task": "nowhere"}, "nowhere"),
    ],
)
def test_a_link_to_something_that_is_not_here_says_so(
    visit: Visit, page: str, selected: dict[str, str], message: str
) -> None:
    app = visit(page, **selected)
    assert len(app.error) == 1
    assert message in app.error[0].value


@pytest.mark.parametrize(
    ("page", "selected", "way_out"),
    [
        ("explore", {"task": "nowhere"}, "Browse the tasks"),
        ("runs", {"run": "run-that-is-not"}, "See the runs"),
    ],
)
def test_an_error_is_left_by_the_link_below_it(visit: Visit, page: str, selected: dict[str, str], way_out: str) -> None:
    app = visit(page, **selected)
    button(app, way_out).click().run()
    assert not app.error
    assert not set(selected) & set(app.query_params)
    assert app.dataframe[0].value.size


def test_explore_finds_by_the_url_and_previews_what_is_chosen(visit: Visit) -> None:
    app = visit("explore", q="wide", task=OTHER_ID)
    assert list(app.dataframe[0].value["task"]) == [OTHER_ID]
    assert app.header[0].value == "add\\-relu\\-wide"
    assert "No solver was timed on this task yet" in texts(app)
    app.text_input(key="q").set_value("no such thing").run()
    assert "No task matches. Remove a filter or shorten your search." in texts(app)
    assert app.header[0].value == "add\\-relu\\-wide", "what was chosen stays"


def test_explore_names_a_subgraph_of_the_day_and_what_there_is_to_beat(visit: Visit) -> None:
    said = texts(visit("explore")).replace("\\", "")
    assert re.search(r"Subgraph of the day\*\*: .*, eager [\d.]+, TorchInductor [\d.]+.* µs per call", said)


def test_explore_shows_first_where_there_is_most_to_gain(visit: Visit) -> None:
    app = visit("explore", task=TASK_ID)
    assert "2 tasks, where there is most to gain first." in texts(app)
    rows = app.dataframe[0].value
    assert list(rows.columns)[:7] == ["task", "operators", "eager µs", "Inductor ×", "best ×", "by", "status"]
    measured, never = rows.to_dict("records")
    assert (measured["task"], measured["by"], measured["status"]) == (TASK_ID, "reference", "2 of 2 accepted")
    assert [measured[name] for name in ("eager µs", "Inductor ×", "best ×")] == pytest.approx([30.0, 0.7, 1.5])
    assert measured["measured"] == "2 of 2 on NVIDIA H200, direct capture"
    assert (never["task"], never["status"]) == (OTHER_ID, "not tried")
    assert list(app.dataframe[1].value["best ×"]) == pytest.approx([1.5, 1.5])
    assert "Best run\\: 1\\.50× eager by reference" in [each.label for each in page_links(app)]
    app.selectbox(key="order").set_value("Name").run()
    assert "2 tasks, by name." in texts(app)


def test_filters_are_chips_that_go_by_one_click(visit: Visit) -> None:
    app = visit("explore", q="relu", dtype="float16", state="Inductor slower than eager", op="add")
    assert list(app.dataframe[0].value["task"]) == [TASK_ID]
    assert "1 of 2 tasks, where there is most to gain first. TorchInductor makes them slower, down to 0.70×" in texts(
        app
    )
    button(app, "Inductor slower than eager").click().run()
    assert "state" not in app.query_params
    assert len(app.dataframe[0].value) == 2
    assert [app.query_params[each] for each in ("q", "dtype", "op")] == ["relu", "float16", "add"]
    button(app, "“relu”").click().run()
    button(app, "operator add").click().run()
    assert set(app.query_params) == {"dtype"}
    button(app, "Clear all").click().run()
    assert not app.query_params
    assert not any(each.label == "Clear all" for each in app.button)


def test_a_link_with_filters_that_no_task_has_says_so_and_shows_the_rest(visit: Visit) -> None:
    app = visit("explore", dtype="rub*bish", state="foo", op="add", task="nowhere")
    (warning,) = app.warning
    assert "`dtype rub*bish`, `state foo`" in warning.value
    assert len(app.dataframe[0].value) == 2
    assert set(app.query_params) == {"op", "task"}
    assert [each.proto.title for each in app.error] == ["Not found"]
    app.run()
    assert app.warning, "it stays until the search changes"
    button(app, "operator add").click().run()
    assert not app.warning


def test_a_recorded_run_opens_by_its_link_and_is_labelled(visit: Visit) -> None:
    app = visit("runs", run="recorded-passes", subgraph=task().subgraphs[1].id)
    said = texts(app)
    assert "recorded\\: NVIDIA H200" in said
    assert "float16" in said
    assert "right, faster" in list(app.dataframe[0].value["verdict"])
    assert app.title[0].value.replace("\\", "") == f"Reference on {TASK_ID}: 2 of 2 subgraphs accepted"
    embedded = next(each.value for each in app.code if "<iframe" in each.value)
    assert "run=recorded-passes&amp;tab=Match&amp;embed=true" in embedded


def test_in_a_run_of_several_tasks_a_subgraph_is_that_of_its_task(visit: Visit, service: Service) -> None:
    """Tasks of the same model have subgraphs with equal ids."""
    file, subgraph = measured(REFERENCE, speedup=1.5), task().subgraphs[1].id
    twins = tuple(
        outcome(Job(replace(twin, id=each.id), REFERENCE, file.run.spec), Verdict.FASTER, speedup=0.7)
        for each, twin in zip(task().subgraphs, task(OTHER_ID, (256, 512)).subgraphs)
    )
    digests = (*file.run.job_digests, *(each.job_digest for each in twins))
    run = replace(file.run, id="several", task_ids=(TASK_ID, OTHER_ID), job_digests=digests, recorded="")
    service.import_run(exchange.written(replace(file, run=run, outcomes=(*file.outcomes, *twins))))
    for chosen, speedup in ((TASK_ID, "1.50× eager"), (OTHER_ID, "0.70× eager")):
        app = visit("runs", run="several", task=chosen, subgraph=subgraph)
        assert speedup in read(app)
        assert "4 of 4 accepted; worst: add-relu-wide, float32/48/toy: right, faster, 0.70×" in read(app)
        assert list(app.dataframe[0].value["task"]) == [OTHER_ID] * 2 + [TASK_ID] * 2, "the slower ones first"
    workbench = visit("workbench", task=TASK_ID, subgraph=subgraph, run="several", bundle=REFERENCE_NAME)
    assert "1.50× eager" in read(workbench)
    assert "2 of 2 subgraphs accepted" in [each.label for each in workbench.expander]
    # the run has no outcome with the id of this subgraph
    workbench = visit("workbench", task=OTHER_ID, run="several", bundle="mine")
    assert "This run did not judge the selected subgraph" in read(workbench)


def test_two_runs_of_a_task_can_be_compared(visit: Visit) -> None:
    app = visit("runs", run="recorded-passes", against="recorded-inductor")
    said = texts(app)
    assert "1\\.50× eager" in said
    assert "0\\.70× eager" in said


def test_scores_rank_bundles_against_inductor_at_the_t_of_the_url(visit: Visit) -> None:
    app = visit("scores")
    ranking = app.dataframe[0].value
    assert list(ranking["solver"]) == ["Add and rectify", "TorchInductor"]
    assert list(ranking["ES(0)"]) == pytest.approx([1.5, 0.7])
    assert "2 of 2 subgraphs of 1 task" in texts(app)
    assert "noise floor ±1" in texts(app)
    assert "ES(0)" in visit("scores", t="99").dataframe[0].value, "no such level"
    app = visit("scores", t="-7")
    assert "ES(-7)" in app.dataframe[0].value
    assert list(app.dataframe[0].value["ES(-7)"]) == pytest.approx([0.1, 0.1])


def test_scores_of_both_profiles_stand_side_by_side(visit: Visit, service: Service) -> None:
    assert "ES(0), PassNet's rules" not in visit("scores").dataframe[0].value
    for bundle in (REFERENCE, None):
        service.import_run(exchange.written(measured(bundle, speedup=4.0, profile=Profile.PASSNET)))
    app = visit("scores")
    ranking = app.dataframe[0].value
    assert list(ranking["ES(0)"]) == pytest.approx([1.5, 0.7])
    assert list(ranking["ES(0), PassNet's rules"]) == pytest.approx([4.0, 4.0])
    assert "judged by\\: strict" in texts(app)
    app = visit("scores", profile="PassNet's rules")
    ranking = app.dataframe[0].value
    assert list(ranking["ES(0)"]) == pytest.approx([4.0, 4.0])
    assert sorted(ranking["ES(0), strict"]) == pytest.approx([0.7, 1.5])
    assert "judged by\\: PassNet\\'s rules" in texts(app)


@pytest.mark.parametrize(
    ("verdict", "headline", "seen"),
    [
        (Verdict.CHEAT, "Cheat: the figures contradict the evidence", "a call took 45.0 µs"),
        (Verdict.LIBRARY, "Library: library kernels did the work", LAUNCHED),
        (Verdict.INCONCLUSIVE, "Right, inconclusive", "Eager against itself"),
        (Verdict.LOWER_PRECISION, "Lower precision", "The judge says"),
    ],
)
def test_a_verdict_that_ranks_nobody_shows_why(
    visit: Visit, service: Service, verdict: Verdict, headline: str, seen: str
) -> None:
    file = measured(REFERENCE, speedup=1.0, profile=Profile.PASSNET, verdict=verdict)
    app = visit("runs", run=service.import_run(exchange.written(file)))
    said = [str(each.value).replace("\\", "") for each in (*app.markdown, *app.code)]
    assert any(headline in each for each in said)
    assert any(seen in each for each in said)
    assert not any("× eager" in each for each in said)
    assert any("Next:" in each for each in said)


def test_help_tells_the_contract_and_what_to_report(visit: Visit) -> None:
    app = visit("help")
    assert "replacement_func" in texts(app)
    assert any("judge_digest" in each.value for each in app.code)


def test_a_store_that_cannot_be_opened_is_said_once_on_the_page(
    visit: Visit, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise StoreError("The store is held by process 17. Close it, then reload.")

    monkeypatch.setattr("pages.ui.resources.open_host", refuse)
    from pages.ui import resources

    resources.host.clear()
    app = visit("runs")
    assert [each.value for each in app.error] == ["The store is held by process 17\\. Close it, then reload\\."]


def test_every_verdict_has_words_and_a_tab() -> None:
    assert set(VERDICTS) == set(Verdict) == set(OPENS)
    assert all(words.next_step for words in VERDICTS.values())


def test_scores_say_what_inductor_slows_down(visit: Visit) -> None:
    app = visit("scores", by="dtype")
    said = " ".join(str(each.value) for each in app.markdown)
    assert "**100%** of 2 subgraphs are slower with TorchInductor than eager (end to end)" in said
    tables = [each.value for each in app.dataframe]
    (groups,) = [each for each in tables if "slower than eager" in each]
    assert list(groups["group"]) == ["float16", "float32"]
    (times,) = [each for each in tables if "share of kernels" in each]
    assert list(times["contender"]) == ["eager", "TorchInductor"]
    assert not visit("scores", by="rubbish", clock="rubbish", ground="rubbish").exception


def test_a_search_without_result_offers_a_likely_spelling(visit: Visit) -> None:
    app = visit("explore", q="sigmod")
    assert "No task matches" in texts(app)
    button(app, "Did you mean “sigmoid”?").click().run()
    assert app.text_input(key="q").value == "sigmoid"
    assert "No task matches" not in texts(app)
