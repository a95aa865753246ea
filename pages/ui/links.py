"""Links between pages. Everything that can be selected is in the URL, so a link is all it takes to select it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import streamlit as st

VIEWS = Path(__file__).resolve().parent.parent / "views"

Name = Literal["start", "explore", "workbench", "runs", "scores", "help"]


def script(name: Name) -> str:
    """The path of a page's script."""
    return str(VIEWS / f"{name}.py")


_OPEN = "page that is open"


def arrive(name: str) -> None:
    """Says which page is drawn from here on."""
    st.session_state[_OPEN] = name


def link(name: Name, label: str, *, icon: str | None = None, **selected: str | None) -> None:
    """A link to a page with these things selected; those that are None are left out. To the page that is open it is a
    button, which does the same."""
    if st.session_state.get(_OPEN) == name:
        turn(label, icon=icon, **selected)
        return
    chosen = {key: value for key, value in selected.items() if value}
    st.page_link(script(name), label=label, icon=icon or "", query_params=chosen or None)


def turn(label: str, *, icon: str | None = None, **chosen: str | None) -> None:
    """A button that selects these things on the page that is open, and nothing else: Streamlit's link to that page
    would draw it anew, but leave the URL as it is."""
    key = f"turn {label} {sorted((name, value) for name, value in chosen.items() if value)}"
    st.button(label, icon=icon, key=key, type="tertiary", on_click=_turn_to, args=(chosen,))


def _turn_to(chosen: dict[str, str | None]) -> None:
    for key in st.query_params:
        # a widget that is bound to it would put its own value back
        st.session_state.pop(key, None)
    st.query_params.from_dict({key: value for key, value in chosen.items() if value})


def selected(key: str) -> str | None:
    """What the URL selects, or None."""
    return st.query_params.get(key) or None


def select(key: str, value: str | None) -> None:
    """Puts a selection that no widget is bound to into the URL."""
    if value is None:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != value:
        st.query_params[key] = value


def place_id(task_id: str, subgraph_id: str) -> str:
    """One name of a subgraph among those of several tasks: tasks of the same models have subgraphs of equal names."""
    return f"{task_id}\n{subgraph_id}"


def select_place(place: str) -> None:
    """Puts a subgraph and its task into the URL. place: as place_id makes it."""
    task_id, _, subgraph_id = place.partition("\n")
    select("task", task_id)
    select("subgraph", subgraph_id)


class Placed(Protocol):
    """What belongs to a subgraph of a task."""

    @property
    def task_id(self) -> str: ...

    @property
    def subgraph_id(self) -> str: ...


P = TypeVar("P", bound=Placed)


def selected_of(found: Sequence[P]) -> P | None:
    """The one whose subgraph the URL selects: of equal names that of the selected task, or else the first."""
    task_id, subgraph_id = selected("task"), selected("subgraph")
    alike = [each for each in found if each.subgraph_id == subgraph_id]
    return next((each for each in alike if each.task_id == task_id), alike[0] if alike else None)


def hand_over(key: str, value: str, context: str) -> None:
    """From a callback: this selection shall come into the URL of the page that is drawn next, in this context."""
    st.session_state[f"coming-{key}"] = (context, st.query_params.get(key), value)


def arrived(key: str, context: str) -> str | None:
    """What the URL selects, once a selection that was handed over has come into it.

    A message that the browser sent before it learned of the new URL still carries the old one: that is no choice of
    the visitor's. So the old value counts as the new one until the new one has been seen.
    """
    here = selected(key)
    coming = st.session_state.get(f"coming-{key}")
    if coming is None:
        return here
    where, before, value = coming
    if where == context and here == before:
        select(key, value)
        return str(value)
    del st.session_state[f"coming-{key}"]
    return here
