"""The graph component: a subgraph drawn in the browser, and as a list."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence

import streamlit as st

from pages.ui import built
from pages.ui.text import count, plain
from passnet_core.graphs import drawing, folding
from passnet_core.graphs.drawing import Marks
from passnet_core.graphs.ir import Graph
from passnet_core.records import TensorSpec

INSERT = "insert"
"""The event of the button that inserts a node into the pattern; its value is the node's name."""


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
    height: int | None = None,
    on_insert: Callable[[str], None] | None = None,
    key: str | None = None,
) -> None:
    """The graph as a drawing to pan, zoom, search and walk through, and as a list. Selecting a node runs no script.

    groups: nodes by the number of the pass that matched them, from 1; passes: the names of the passes, in order.
    miss: the node where the nearest miss failed; reason: why. inputs: what is known of the inputs; values: shape and
    dtype of further nodes. height: in pixels, None: as the graph needs. on_insert: gives each node's details a button
    "Insert into pattern" and is called with the node's name, as callbacks of widgets are. key: what tells this graph
    from others on the page, where its title does not.
    """
    marks = Marks(groups or {}, passes, miss, reason, added, removed)
    shown, note = folding.window(graph, around=[*marks.groups, *([miss] if miss else []), *added, *removed])
    known = {each.name: (each.shape, each.dtype) for each in inputs} | dict(values or {})
    # Streamlit takes no two underscores here, and names may have them
    key = f"graph-{hashlib.sha256((key or title).encode()).hexdigest()[:12]}"

    def inserted() -> None:
        name = st.session_state[key].get(INSERT)
        if on_insert and isinstance(name, str) and name in shown.by_name:
            on_insert(name)

    built.component("graph")(
        key=key,
        data=drawing.picture(shown, marks, values=known)
        | {
            "title": f"{title}: {count(len(graph.operations), 'operation')}",
            "height": height,
            "insertable": on_insert is not None,
        },
        on_insert_change=inserted,
    )
    if note:
        st.caption(plain(note))
