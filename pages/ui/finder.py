"""The search of every page (Ctrl+K): tasks, lessons and runs by one line of text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import streamlit as st

from pages.ui import links, measured, resources
from pages.ui.filters import Search
from pages.ui.search_bar import LONGEST_SEARCH
from pages.ui.text import count, key_of, plain

TASKS_SHOWN, LESSONS_SHOWN, RUNS_SHOWN = 6, 4, 4
RUNS_SEARCHED = 200
"""Among how many of the newest runs the search looks."""
OPEN = "search is open"  # session state
ICONS: Mapping[links.Name, str] = {
    "explore": ":material/travel_explore:",
    "workbench": ":material/construction:",
    "learn": ":material/school:",
    "runs": ":material/history:",
}


@dataclass(frozen=True)
class Destination:
    """A page and what is selected there. label: what the search calls it."""

    label: str
    page: links.Name
    selected: Mapping[str, str]


def finder() -> None:
    """Draw the button of the search, and the search while it is open: also when the page is drawn anew meanwhile."""
    if st.button("Search", icon=":material/search:", type="tertiary", key="find", shortcut="Ctrl+K"):
        st.session_state[OPEN] = True
    elif links.came_back():
        _close()
    if st.session_state.get(OPEN):
        _search()


def _close() -> None:
    st.session_state[OPEN] = False


@st.dialog("Search", width="large", on_dismiss=_close)
def _search() -> None:
    """Draw the search; what somebody chooses is opened."""
    text = st.text_input(
        "Tasks, shapes, operators, lessons and runs",
        key="anywhere",
        live=True,
        max_chars=LONGEST_SEARCH,
        placeholder="softmax, 128x768, layer_norm → linear, a lesson, a run",
        icon=":material/search:",
    )
    found = [*_tasks(text), *_lessons(text), *_runs(text)] if text.strip() else []
    for number, destination in enumerate(found):
        _entry(destination, number)
    if text.strip() and not found:
        likely = resources.listing().corrected(text)
        hint = f" Did you mean “{plain(likely)}”?" if likely and any(_tasks(likely)) else ""
        st.caption(f"Nothing found.{hint}")


def _entry(destination: Destination, number: int) -> None:
    here = links.is_open(destination.page)

    def chosen() -> None:
        _close()
        if here:
            links.turn_to(destination.selected)

    pressed = st.button(
        plain(destination.label),
        key=key_of(f"destination {number}", destination.label),
        icon=ICONS[destination.page],
        type="tertiary",
        on_click=chosen,
    )
    if pressed and here:
        st.rerun()
    elif pressed:
        st.switch_page(links.script(destination.page), query_params=destination.selected)


def _tasks(text: str) -> Iterator[Destination]:
    listing = resources.listing()
    standings = {} if resources.shared().importing_recorded else measured.standings()
    places = listing.found(Search(text), standings)
    for task in (listing.tasks[place] for place in places[:TASKS_SHOWN]):
        label = f"{task.id} · {count(task.subgraphs, 'subgraph')} · {' '.join(task.vocabulary[:TASKS_SHOWN])}"
        yield Destination(label, "workbench", {"task": task.id})
    if len(places) > TASKS_SHOWN:
        yield Destination(f"All {count(len(places), 'task')} with “{text.strip()}”", "explore", {"q": text.strip()})


def _lessons(text: str) -> Iterator[Destination]:
    lessons = resources.shared().course.lessons
    found = [each for each in lessons if _has_words(each.title, text)]
    for lesson in found[:LESSONS_SHOWN]:
        yield Destination(f"Lesson: {lesson.title}", "learn", {"lesson": lesson.id})


def _runs(text: str) -> Iterator[Destination]:
    runs = (each.run for each in resources.service().runs(RUNS_SEARCHED, checks=True))
    found = [run for run in runs if _has_words(f"{run.label} {run.id}", text)]
    for run in found[:RUNS_SHOWN]:
        yield Destination(f"Run: {run.label or run.id}", "runs", {"run": run.id})


def _has_words(name: str, text: str) -> bool:
    return all(word in name.lower() for word in text.lower().split())
