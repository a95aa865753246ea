"""The gallery in Explore: bundles of rules with their recorded times, to look at and to start from."""

from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.corpus.solved import write_solved
from passnet_core.records import Bundle, MatchReport, PassFile, PassMatches
from passnet_core.service import Service
from passnet_core.store import exchange
from tests.example_playground import OTHER_ID, PASS, REWRITTEN, TASK_ID, measured, task
from tests.pages.editing import Editor
from tests.pages.visiting import VISITOR, Visit, button, page_links, read, texts

FIRST, REST = "Adds and rectifies in one kernel.", "On a GPU eager moves 5.44 MB. Here 689 kB are read and written."
FUSED = Bundle(
    (
        PassFile("fused.py", PASS.replace(FIRST, f"{FIRST}\n\n{REST}\n")),
        PassFile("variant.py", PASS.replace("Adds and rectifies", "The same for other ranks,")),
    ),
    (PassFile("sharing.py", "# what is shared\n"),),
    author="rules",
)
UNTIMED = Bundle((PassFile("wide.py", PASS.replace("Adds and rectifies", "Does wide things")),), author="rules")


def solved(service: Service) -> Path:
    return service.settings.data / "solved" / "rules.jsonl.xz"


@pytest.fixture(autouse=True)
def exhibits(service: Service) -> None:
    """A bundle that was measured, and one that was not."""
    solved(service).parent.mkdir()
    write_solved(solved(service), {TASK_ID: FUSED, OTHER_ID: UNTIMED})
    file = measured(FUSED, speedup=2.5)
    match = MatchReport((PassMatches("fused", (("tmp_0", "tmp_1"),)), PassMatches("variant", ())), REWRITTEN)
    outcomes = tuple(replace(each, match=match) for each in file.outcomes)
    service.import_run(exchange.written(replace(file, run=replace(file.run, id="of-rules"), outcomes=outcomes)))


def test_the_gallery_lists_bundles_by_family_with_their_times_and_where_these_come_from(visit: Visit) -> None:
    app = visit("explore", view="Gallery")
    table = app.dataframe[0].value
    assert list(table["task"]) == [TASK_ID, OTHER_ID]
    assert table["× eager"][0] == pytest.approx(2.5)
    assert table["eager µs"][0] == pytest.approx(30.0)
    assert table["bundle µs"][0] == pytest.approx(12.0)
    assert list(table["what it does"]) == ["Adds and rectifies in one kernel.", "Does wide things in one kernel."]
    assert table["× eager"].isna()[1]
    said = read(app)
    assert "Fusible · 2" in said
    assert "Times: NVIDIA H200, 2026-02-03, direct capture, median call, end to end." in said
    assert "it has yet to be measured on a GPU" in said


def test_explore_opens_with_the_tasks_and_turns_to_the_gallery(visit: Visit) -> None:
    app = visit("explore")
    assert "Choose a row to see the task" in texts(app)
    app.segmented_control(key="view").set_value("Gallery").run()
    assert "to read and to start from" in texts(app)


def test_search_and_family_are_those_of_the_tasks(visit: Visit) -> None:
    app = visit("explore", view="Gallery", q="wide")
    assert list(app.dataframe[0].value["task"]) == [OTHER_ID]
    assert "1 of 2 bundles" in read(app)
    app.text_input(key="q").set_value("no such thing").run()
    assert "No bundle matches" in texts(app)
    app.text_input(key="q").set_value("").run()
    assert len(app.dataframe[0].value) == 2


def test_a_bundle_that_is_open_shows_what_it_says_its_graph_code_and_times(visit: Visit) -> None:
    app = visit("explore", view="Gallery", entry=TASK_ID)
    said = read(app)
    assert f"**{FIRST}** {REST}" in said
    assert "Right, faster: 2.50× eager" in said
    assert "NVIDIA H200" in said
    assert "The fastest of 2 subgraphs of the task that were measured." in said
    assert "1 other pass of this bundle" in app.expander[0].label
    times = app.dataframe[0].value
    assert list(times["µs per call"]) == ["30", "12"]
    assert list(times["× eager"]) == ["1", "2.50× (2.42 to 2.58)"]
    assert "of-rules" in next(each.query_string for each in page_links(app) if "its run" in each.label)
    drawn = [str(getattr(each.proto, "json", "")) for each in app.get("bidi_component")]
    assert any("add_relu_kernel" in each and "sharing.py" in each for each in drawn)
    assert any("fused" in each and '"title"' in each for each in drawn)


def test_a_bundle_without_a_time_says_so(visit: Visit) -> None:
    app = visit("explore", view="Gallery", entry=OTHER_ID)
    said = read(app)
    assert "Not measured yet" in said
    assert "Does wide things in one kernel." in said
    assert not app.dataframe


def test_one_turns_to_the_next_bundle_and_back_to_the_list(visit: Visit) -> None:
    app = visit("explore", view="Gallery", entry=TASK_ID)
    assert button(app, "Previous").disabled
    button(app, "Next").click().run()
    assert app.query_params["entry"] == OTHER_ID
    assert "Does wide things" in texts(app)
    assert button(app, "Next").disabled
    button(app, "All of the gallery").click().run()
    assert "entry" not in app.query_params
    assert len(app.dataframe[0].value) == 2


@pytest.mark.parametrize(("task_id", "bundle"), [(TASK_ID, FUSED), (OTHER_ID, UNTIMED)])
def test_start_from_this_one_opens_a_draft_beside_what_was_typed(
    visit: Visit, service: Service, task_id: str, bundle: Bundle
) -> None:
    typed = Bundle((PassFile("mine.py", "# typed before\n"),))
    service.save_draft(VISITOR, task_id, "mine", typed, None)
    app = visit("explore", view="Gallery", entry=task_id)
    button(app, "Start from this one").click().run()
    assert app.query_params["task"] == task_id
    assert Editor(app).texts == {file.name: file.code for file in bundle.files}
    assert app.selectbox(key="bundle").value == bundle.digest
    kept = service.draft(VISITOR, task_id, "mine")
    assert kept is not None
    assert kept.bundle == typed
    app = visit("workbench", task=task_id)
    assert Editor(app).texts == {"mine.py": "# typed before\n"}


def test_the_subgraph_that_was_measured_is_open_in_the_workbench(visit: Visit) -> None:
    app = visit("explore", view="Gallery", entry=TASK_ID)
    shown = next(each.id for each in task().subgraphs if each.id in read(app))
    button(app, "Start from this one").click().run()
    assert app.selectbox(key="subgraph").value == shown


def test_an_address_of_something_else_says_so_above_the_list(visit: Visit) -> None:
    app = visit("explore", view="Gallery", entry="nowhere*")
    assert "'nowhere*' is not in the gallery" in read(app)
    assert len(app.error) == 1
    assert len(app.dataframe[0].value) == 2


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_without_its_file_the_gallery_says_so_and_the_tasks_work(visit: Visit, service: Service, damage: str) -> None:
    if damage == "missing":
        solved(service).unlink()
    else:
        solved(service).write_bytes(solved(service).read_bytes()[:-20])
    app = visit("explore", view="Gallery")
    assert len(app.error) == 1
    assert "rules.jsonl.xz cannot be read" in read(app)
    assert "Restore it" in read(app)
    app.segmented_control(key="view").set_value("Tasks").run()
    assert not app.error
    assert TASK_ID in list(app.dataframe[0].value["task"])


def test_an_open_bundle_keeps_the_search_and_turns_through_what_it_finds(visit: Visit) -> None:
    app = visit("explore", view="Gallery", entry=OTHER_ID, q="wide")
    assert app.text_input(key="q").value == "wide"
    assert "1 of 1" in read(app)
    app.text_input(key="q").set_value("no such thing").run()
    assert "2 of 2" in read(app), "one that the search does not find stays open, among all"
