"""The graph component: shows a graph in the browser, as a picture and as a list."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from pages.ui import built
from pages.ui.text import count, key_of, plain
from passnet_core.graphs import folding, rendering
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.rendering import Marks
from passnet_core.records import TensorSpec

STRETCH: Literal["stretch"] = "stretch"
"""The height of a graph that fills its container."""
INSERT = "insert"
"""Event of the button that inserts a node into the pattern; its value is the node's name."""
STEP = "step"
"""Event of the keys that go to another step; its value is the number of the step, from 0."""


def graph_view(
    graph: Graph,
    *,
    title: str,
    groups: Mapping[str, int] | None = None,
    passes: Sequence[str] = (),
    miss: str | None = None,
    reason: str = "",
    added: Collection[str] = (),
    removed: Collection[str] = (),
    inputs: Sequence[TensorSpec] = (),
    values: Mapping[str, tuple[Sequence[int], str]] | None = None,
    height: int | Literal["stretch"] | None = None,
    on_insert: Callable[[str], None] | None = None,
    key: str | None = None,
) -> None:
    """Show the graph as a picture to pan, zoom, search and walk through, or as a list. Selecting a node needs no rerun.

    groups: for each matched node the number of its pass, from 1; passes: the names of the passes, in order. miss: the
    node where the nearest miss failed; reason: why. inputs: shapes and dtypes of the inputs; values: shape and dtype of
    further nodes. height: in pixels; STRETCH: as its container; None: as the graph needs. on_insert: adds "Insert into
    pattern" to the details of each node; called with the node's name, like a widget's callback. key: identifies this
    graph on the page where its title is not unique.
    """
    marks = Marks(groups or {}, passes, miss, reason, added, removed)
    marked_graph(graph, marks, title=title, inputs=inputs, values=values, height=height, on_insert=on_insert, key=key)


@dataclass(frozen=True)
class Stepping:
    """The step that a graph shows, and how to turn to another. said: the step in words, for screen readers."""

    at: int
    of: int
    said: str
    turn: Callable[[int], None]


def marked_graph(
    graph: Graph,
    marks: Marks,
    *,
    title: str,
    inputs: Sequence[TensorSpec] = (),
    values: Mapping[str, tuple[Sequence[int], str]] | None = None,
    height: int | Literal["stretch"] | None = None,
    on_insert: Callable[[str], None] | None = None,
    stepping: Stepping | None = None,
    key: str | None = None,
) -> None:
    """Show a graph like graph_view, with any marks. stepping: adds keys that go through steps."""
    shown, note = folding.window(graph, around=marks.focus or marks.nodes)
    known = {each.name: (each.shape, each.dtype) for each in inputs} | dict(values or {})
    key = key_of("graph", key or title)

    def inserted() -> None:
        name = st.session_state[key].get(INSERT)
        if on_insert and isinstance(name, str) and name in shown.by_name:
            on_insert(name)

    def stepped() -> None:
        at = st.session_state[key].get(STEP)
        if stepping and type(at) is int and 0 <= at < stepping.of:
            stepping.turn(at)

    built.component("graph")(
        key=key,
        height="stretch" if height == STRETCH else "content",
        data=rendering.picture(shown, marks, values=known)
        | {
            "title": f"{title}: {count(len(graph.operations), 'operation')}",
            "height": height,
            "insertable": on_insert is not None,
            "step": {"at": stepping.at, "of": stepping.of, "said": stepping.said} if stepping else None,
        },
        on_insert_change=inserted,
        on_step_change=stepped,
    )
    if note:
        st.caption(plain(note))
