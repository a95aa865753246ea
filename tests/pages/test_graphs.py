"""The graph component as the pages use it, with messages put where those of a browser arrive."""

from collections.abc import Sequence

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.editing import Triggered
from tests.waiting import seconds

SCRIPT = """
import streamlit as st
from pages.ui.graphs import graph_view
from passnet_core.graphs.source import parse_function

lines = "".join(f"    v{n + 1} = torch.exp(v{n})\\n" for n in range(st.session_state.get("size", 3)))
last = st.session_state.get("size", 3)
graph = parse_function(f"def f(v0):\\n{lines}    return (v{last},)\\n", "f")
graph_view(graph, title="Example", on_insert=lambda name: st.session_state.update(inserted=name))
"""


def shown(**state: object) -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=seconds(60))
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


def captions(app: AppTest) -> Sequence[str]:
    return [each.value for each in app.caption]


def test_a_graph_is_drawn_in_full_up_to_a_thousand_operations() -> None:
    assert captions(shown(size=1000)) == []


def test_a_larger_graph_says_which_part_of_it_is_shown() -> None:
    (said,) = captions(shown(size=1001))
    assert "1,001 operations. Shown are operations 1 to 1,000, v1 to v1000" in said.replace("\\", "")


def insert(app: AppTest, name: object) -> None:
    """Press the button in the details of a node with the next run."""
    Triggered(app, "passnet.graph", "insert", name)


def test_a_node_to_insert_arrives_by_its_name_once() -> None:
    app = shown()
    insert(app, "v2")
    app.run()
    assert app.session_state["inserted"] == "v2"
    app.session_state["inserted"] = "taken"
    app.run()
    assert app.session_state["inserted"] == "taken"


@pytest.mark.parametrize("name", ["no such node", None, ["v2"], 7])
def test_a_message_that_names_no_node_inserts_nothing(name: object) -> None:
    app = shown()
    insert(app, name)
    app.run()
    assert not app.exception
    assert "inserted" not in app.session_state
