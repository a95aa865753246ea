"""Links between pages. Everything that can be selected is in the URL, so a link can select it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import streamlit as st

VIEWS = Path(__file__).resolve().parent.parent / "views"

Name = Literal["start", "explore", "workbench", "runs", "scores", "help"]


def script(name: Name) -> str:
    """Return the path of a page's script."""
    return str(VIEWS / f"{name}.py")


_OPEN = "page that is open"


def arrive(name: str) -> None:
    """Record which page is drawn from here on."""
    st.session_state[_OPEN] = name


def link(name: Name, label: str, *, icon: str | None = None, **selected: str | None) -> None:
    """Draw a link to a page with these parameters in the URL, except those that are None. A link to the open page is
    drawn as a button that does the same."""
    if st.session_state.get(_OPEN) == name:
        turn(label, icon=icon, **selected)
        return
    chosen = {key: value for key, value in selected.items() if value}
    st.page_link(script(name), label=label, icon=icon or "", query_params=chosen or None)


def turn(label: str, *, icon: str | None = None, **chosen: str | None) -> None:
    """Draw a button that selects these parameters on the open page and drops all others. Streamlit's link to the open
    page would draw the page again, but leave the URL as it is."""
    key = f"turn {label} {sorted((name, value) for name, value in chosen.items() if value)}"
    st.button(label, icon=icon, key=key, type="tertiary", on_click=turn_to, args=(chosen,))


def turn_to(chosen: Mapping[str, str | None]) -> None:
    """Select these parameters on the open page and drop all others. Call it from a callback."""
    for key in st.query_params:
        # a widget bound to this parameter would put its own value back
        st.session_state.pop(key, None)
    st.query_params.from_dict({key: value for key, value in chosen.items() if value})


def selected(key: str) -> str | None:
    """Return what the URL selects, or None."""
    return st.query_params.get(key) or None


def select(key: str, value: str | None) -> None:
    """Put a selection into the URL. For parameters that no widget is bound to."""
    if value is None:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != value:
        st.query_params[key] = value


def place_id(task_id: str, subgraph_id: str) -> str:
    """Identify a subgraph across tasks: tasks of the same models have subgraphs with equal ids."""
    return f"{task_id}\n{subgraph_id}"


def select_place(place: str) -> None:
    """Put a subgraph and its task into the URL. place: from place_id."""
    task_id, _, subgraph_id = place.partition("\n")
    select("task", task_id)
    select("subgraph", subgraph_id)


class Placed(Protocol):
    """Anything that belongs to one subgraph of a task."""

    @property
    def task_id(self) -> str: ...

    @property
    def subgraph_id(self) -> str: ...


P = TypeVar("P", bound=Placed)


def selected_of(found: Sequence[P]) -> P | None:
    """Return the item whose subgraph the URL selects. Among equal ids, the selected task decides, or else the order."""
    task_id, subgraph_id = selected("task"), selected("subgraph")
    alike = [each for each in found if each.subgraph_id == subgraph_id]
    return next((each for each in alike if each.task_id == task_id), alike[0] if alike else None)


def hand_over(key: str, value: str, context: str) -> None:
    """Put a selection into the URL when the page is next drawn in this context. Call it from a callback."""
    st.session_state[f"coming-{key}"] = (context, st.query_params.get(key), value)


def arrived(key: str, context: str) -> str | None:
    """Return what the URL selects, with a selection that was handed over.

    A message that the browser sent before it learned of the new URL still carries the old value, which the visitor has
    not chosen. So the old value counts as the new one until the new one has been seen.
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
