"""What every page shares: navigation, the strip that says where jobs run, and error messages."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

import streamlit as st
from streamlit.navigation.page import Page

from pages.ui import accounts, finder, links, resources, visitors
from pages.ui.built import component
from pages.ui.copying import copy_button
from pages.ui.text import count, plain
from passnet_core import outside
from passnet_core.errors import InfrastructureError, PlaygroundError, StoreError, UnknownItem
from passnet_core.people.person import PersonRole
from passnet_core.records import Device, Isolation
from passnet_core.settings import ASSETS

P = ParamSpec("P")
UNDER_WAY_S = 2.0
DEVICE_S = 0.1
"""How long a page waits for the name of the device before it is drawn without."""
EMBEDDED = "<style>.stAppHeader, .st-key-strip { display: none } .stMainBlockContainer { padding-top: 0.5rem }</style>"
"""The style of a page inside another one (?embed=true), which has its own navigation."""
CPU = "Judges values only: times on a CPU are not comparable."
FAILURE = "failure"
NOTICES = "notices"  # session state: the place above the page for errors that leave the page as it is
APP = "PassNet Playground"
LONGEST_SUBJECT = 80
ISOLATION = {
    Isolation.SANDBOXED: "sandboxed",
    Isolation.PROCESS: "not sandboxed: run only passes you trust",
}

PAGES: tuple[tuple[links.Name, str, str], ...] = (
    ("start", "Start", "home"),
    ("workbench", "Workbench", "construction"),
    ("learn", "Learn", "school"),
    ("explore", "Explore", "travel_explore"),
    ("model", "Your model", "deployed_code"),
    ("runs", "Runs", "history"),
    ("scores", "Scores", "show_chart"),
    ("help", "Help", "help"),
    ("class", "Class", "groups"),
    ("account", "Account", "account_circle"),
    ("operator", "Operator", "admin_panel_settings"),
)
CORNER = ("account", "operator")
"""The pages to which the corner leads that says who is there, and not the navigation."""


def pages() -> dict[str, Page]:
    """Return the pages of the navigation, in order, as far as they are for who is there."""
    return {
        name: st.Page(
            links.script(name),
            title=title,
            icon=f":material/{icon}:",
            url_path=name if name != "start" else None,
            default=name == "start",
            visibility="hidden" if name in (*CORNER, "start") else "visible",
        )
        for name, title, icon in PAGES
        if _is_there(name)
    }


def _is_there(name: links.Name) -> bool:
    if name == "model":
        return resources.own_models()
    if name in ("account", "class"):
        return resources.serves_others()
    return name != "operator" or (resources.serves_others() and resources.role() is PersonRole.OPERATOR)


def show(page: Page) -> None:
    """Draw the frame and the page in it. A PlaygroundError is shown once, without a traceback."""
    st.set_page_config(page_title=title(page))
    st.html(ASSETS / "style.css")
    if st.context.is_embedded:
        st.html(EMBEDDED)
    with st.container(key="back"):
        component("back")(key="back-and-forward")
    visitors.welcome()
    links.arrive(page.url_path or "start")
    with errors_shown():
        # the desk has a button of its own, as its link holds the passes
        strip(with_link=page.url_path != "workbench" and not (page.url_path == "learn" and links.selected("lesson")))
        st.session_state[NOTICES] = st.container(key="notices")
        report_failed_action()
        page.run()


def title(page: Page) -> str:
    """Return what the browser's tab and its history call this view: what is selected, the page, the app."""
    name = page.url_path or "start"
    subject = links.selected({"runs": "run", "workbench": "task", "explore": "task", "learn": "lesson"}.get(name, ""))
    if name == "start":
        return APP
    return " · ".join([*([subject[:LONGEST_SUBJECT]] if subject else []), page.title, APP])


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show a PlaygroundError in place of what could not be drawn."""
    try:
        yield
    except PlaygroundError as error:
        show_error(error)


def report(error: PlaygroundError) -> None:
    """Show an error above the page, which is drawn all the same."""
    with st.session_state[NOTICES]:
        show_error(error, alone=False)


def show_error(error: PlaygroundError, *, alone: bool = True) -> None:
    """Show what failed, where the problem lies, and what to do next. alone: whether there is nothing else to see."""
    st.error(
        plain(outside.shortened(str(error), outside.LONGEST_MESSAGE)), icon=":material/error:", title=_concern(error)
    )
    if alone and isinstance(error, UnknownItem):
        with st.container(horizontal=True, vertical_alignment="center"):
            links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
            links.link("runs", "See the runs", icon=":material/history:")


def _concern(error: PlaygroundError) -> str:
    if isinstance(error, StoreError | InfrastructureError):
        return "The system has a problem"
    return "Not found" if isinstance(error, UnknownItem) else "This cannot be done"


def action(function: Callable[P, None]) -> Callable[P, None]:
    """Decorate a widget's callback, which runs outside the page: its error is shown at the top of the next rerun."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except PlaygroundError as error:
            st.session_state[FAILURE] = error

    return guarded


def report_failed_action() -> None:
    error = st.session_state.pop(FAILURE, None)
    if error is not None:
        report(error)


def strip(*, with_link: bool) -> None:
    """Show the search, where jobs run, how they are isolated, how many runs are under way, who is there where others
    are served, and a button that copies the link."""
    info = resources.shared().device_within(DEVICE_S)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="strip"):
        finder.finder()
        if info is None:
            await_device()
        elif info.problem:
            st.badge(plain(f"Cannot judge: {info.problem}"), icon=":material/cloud_off:", color="orange")
        elif info.device is Device.CPU:
            st.badge("CPU", icon=":material/memory:", color="gray", help=CPU)
        else:
            st.badge(plain(info.label), icon=":material/developer_board:", color="green")
        if info is not None and not resources.serves_others():  # who serves others has a sandbox
            st.badge(ISOLATION[info.isolation], icon=":material/shield:", color="gray")
        if waiting := resources.shared().under_way():
            if resources.serves_others():
                # many pages that all look again and again would take the time that judging needs
                runs_badge(waiting)
            else:
                runs_under_way()
        if resources.serves_others():
            accounts.corner()
        if with_link:
            copy_button("link-of-page", small=True)


@st.fragment(run_every=UNDER_WAY_S / 4)
def await_device() -> None:
    """Say that the device is not known yet, and rerun the page once it is."""
    if resources.shared().device_within(0.0) is not None:
        st.rerun()
    st.badge("Looking for a GPU…", icon=":material/hourglass_top:", color="gray")


@st.fragment(run_every=UNDER_WAY_S)
def runs_under_way() -> None:
    """Show how many runs are under way, until none is."""
    if waiting := resources.shared().under_way():
        runs_badge(waiting)


def runs_badge(waiting: int) -> None:
    """Show how many runs are under way."""
    st.badge(f"{count(waiting, 'run')} under way", icon=":material/queue:", color="blue")
