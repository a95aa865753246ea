"""Links between pages. Everything that can be selected is in the URL, so a link can select it."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from passnet_core.records.text import valid

VIEWS = Path(__file__).resolve().parent.parent / "views"

Name = Literal[
    "start", "learn", "explore", "workbench", "model", "runs", "scores", "help", "class", "account", "operator"
]


def script(name: Name) -> str:
    """Return the path of a page's script."""
    return str(VIEWS / f"{name}.py")


BOUND = {"subgraph", "bundle"}
"""The parameters to which selectors are bound: only by these may they change."""
LONGEST = 20_000
"""Most characters of what a link selects: passes are packed into links of up to a third of that."""
_OPEN = "page that is open"
_VIEW = "page that is open, with what the URL selects there"
_BEFORE = "page that was open before, with what the URL selected there"
_CHOSEN = "chosen, but maybe not known to the browser yet"


@dataclass
class _Selection:
    """A selection that the app has put into the URL, or will when the page that it belongs to is drawn.

    where: the page, and what it shows. before: what the URL has selected before. new: whether no page was drawn since.
    """

    where: tuple[str, ...]
    before: tuple[str | None, ...]
    value: str | None
    new: bool = True


def arrive(*where: str) -> None:
    """Record which page is drawn from here on, and within it, once that is known, for what (such as a task).

    A message that the browser sent before it learned of a new URL still carries the old one, which the visitor has not
    chosen. So an old value counts as the one that replaced it, until the browser has shown that it knows better or the
    visitor has gone back in the history.
    """
    if st.session_state.get(_OPEN, where[0]) != where[0]:
        st.session_state[_BEFORE] = st.session_state[_VIEW]
        for key in BOUND - st.query_params.keys():
            # what a selector had on another page is not what this link names
            st.session_state.pop(key, None)
    st.session_state[_OPEN] = where[0]
    st.session_state[_VIEW] = (where[0], dict(st.query_params))
    chosen = _chosen()
    for key, choice in list(chosen.items()):
        common = min(len(where), len(choice.where))
        stays = where[:common] == choice.where[:common] and not came_back()
        is_here, is_old = where == choice.where, selected(key) in choice.before
        if not stays or (is_here and not is_old and not choice.new):
            del chosen[key]
        elif is_here:
            choice.new = False
            if is_old:
                _put(key, choice.value)


def is_open(name: Name) -> bool:
    """Return whether this page is the one that is open."""
    return bool(st.session_state.get(_OPEN) == name)


def came_back() -> bool:
    """Return whether the visitor came to this page by Back or Forward."""
    run = get_script_run_ctx()
    return run is not None and run.is_history_navigation


def view_before() -> tuple[Name, dict[str, str]] | None:
    """Return the page from which the visitor came to this one, and what the URL selected there."""
    found: tuple[Name, dict[str, str]] | None = st.session_state.get(_BEFORE)
    return found


def _chosen() -> dict[str, _Selection]:
    found: dict[str, _Selection] = st.session_state.setdefault(_CHOSEN, {})
    return found


def link(name: Name, label: str, *, icon: str | None = None, **selected: str | None) -> None:
    """Draw a link to a page with these parameters in the URL, except those that are None. A link to the open page is
    drawn as a button that does the same."""
    if is_open(name):
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
    here = {key: value for key, value in chosen.items() if value}
    for key in {*st.query_params, *here}:
        if key in st.session_state:
            # a widget is bound to this parameter: nothing but its value may change it, and it would put that back
            _chosen().pop(key, None)
            if key in here:
                st.session_state[key] = here.pop(key)
            else:
                del st.session_state[key]
        else:
            _remember(key, here.get(key))
    st.query_params.from_dict(here)


def selected(key: str) -> str | None:
    """Return what the URL selects, in valid Unicode and no longer than a link may be, or None."""
    return valid(st.query_params.get(key) or "")[:LONGEST] or None


def select(key: str, value: str | None) -> None:
    """Put a selection into the URL. For parameters that no widget is bound to."""
    _remember(key, value)
    _put(key, value)


def hand_over(key: str, value: str, *where: str) -> None:
    """Put a selection into the URL once this page is next drawn for this. For callbacks of messages that may arrive
    while the visitor is on the way to another page. where: as in arrive."""
    _remember(key, value, where)


def _remember(key: str, value: str | None, where: tuple[str, ...] = ()) -> None:
    chosen, known = _chosen(), selected(key)
    earlier = chosen.pop(key).before if key in chosen else ()
    before = tuple(each for each in (*earlier, known) if each != value)
    if before:
        chosen[key] = _Selection(where or (st.session_state.get(_OPEN, ""),), before, value)


def _put(key: str, value: str | None) -> None:
    if value is None:
        # Streamlit refuses to drop a parameter of a widget that was drawn before, though it may not be drawn now
        with contextlib.suppress(StreamlitAPIException):
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
