"""The strip of a task's subgraphs: what is known there of the passes in the editor, and what a click selects."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.example_playground import PASS, TASK_ID
from tests.pages.editing import Editor, Triggered
from tests.pages.visiting import Visit, button, redrawn_until


def cells(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the cells by their subgraphs."""
    given = next(each.proto for each in app.get("bidi_component") if each.proto.component_name == "passnet.cells")
    return {cell["id"]: cell for group in json.loads(given.json)["groups"] for cell in group["cells"]}


def click(app: AppTest, cell: object) -> None:
    """Click on a cell with the next run."""
    Triggered(app, "passnet.cells", "chosen", cell)


def states(app: AppTest) -> list[str]:
    return [cell["state"] for cell in cells(app).values()]


def test_every_subgraph_is_checked_while_one_types(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    Editor(app).hold(PASS + "MINE = 1\n").run()
    redrawn_until(app, lambda: states(app) == ["matched", "matched"])
    Editor(app).hold(PASS + "SIGMOID = 1\n").run()
    redrawn_until(app, lambda: states(app) == ["unmatched", "unmatched"])
    assert [cell["title"].partition(": ")[2] for cell in cells(app).values()] == ["no match", "no match"]


def test_a_run_of_all_shows_what_each_subgraph_got(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    Editor(app).hold(PASS + "WRONG = 1\n").run()
    button(app, "Run all 2").click().run()
    redrawn_until(app, lambda: states(app) == ["wrong", "wrong"])


def test_the_selected_subgraph_is_marked(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, subgraph="float16/96/toy")
    assert [each for each, cell in cells(app).items() if cell["selected"]] == ["float16/96/toy"]
    app.selectbox(key="subgraph").set_value("float32/48/toy").run()
    assert [each for each, cell in cells(app).items() if cell["selected"]] == ["float32/48/toy"]


def test_a_click_selects_a_subgraph(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    click(app, "float16/96/toy")
    app.run()
    assert app.selectbox(key="subgraph").value == "float16/96/toy"


@pytest.mark.parametrize("cell", ["no such subgraph", None, 7, ["float16/96/toy"]])
def test_a_message_that_names_no_subgraph_selects_nothing(visit: Visit, cell: object) -> None:
    app = visit("workbench", task=TASK_ID)
    before = app.selectbox(key="subgraph").value
    click(app, cell)
    app.run()
    assert not app.exception
    assert app.selectbox(key="subgraph").value == before
