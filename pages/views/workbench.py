"""Workbench: one subgraph, the passes that a visitor writes for it, and the judge's verdict."""

import streamlit as st

from pages.ui import bench, desk, drafting, example, frame, links, resources, score_strip, sharing, subgraph_strip, talk
from pages.ui.drafting import EditorDraft
from pages.ui.options import options_menu
from pages.ui.panes import panes
from pages.ui.places import place_of
from pages.ui.text import plain
from passnet_core.errors import UnknownItem
from passnet_core.records import Task

WIDTHS = (26, 42, 32)
LISTED = 12
"""How many drafts are listed."""


def workbench(task: Task) -> None:
    links.arrive("workbench", task.id)
    with frame.errors_shown():
        sharing.open_packed(task)
    with st.container(key="bench-head", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.title(plain(task.id), anchor=False, width="stretch")
        subgraph, slot = desk.selectors(task, [each.id for each in task.subgraphs])
        draft = drafting.open_draft(task, slot)
        toolbar(task, draft)
        here = bench.latest(task, subgraph, draft)
        sharing.copy_link(task, draft, here.run_id if here.is_current else None)
    bench.verdict_bar(here)
    example.welcome(task, draft)
    score_strip.score_strip(here)
    if asked := links.selected("talk"):
        talk.drawer(task, draft, asked)
    places = panes(desk.PANES, WIDTHS)
    with places[0]:
        subgraph_strip.subgraph_strip(here)
    desk.desk(here, places)
    st.session_state[example.LAST] = dict(st.query_params)


def toolbar(task: Task, draft: EditorDraft) -> None:
    desk.check_and_run(
        task,
        draft,
        check="Applies the static rules and matches the patterns, and keeps the result. Needs no GPU.",
        run="Compares values on this subgraph and, with a GPU, measures time.",
    )
    if len(task.subgraphs) > 1:
        st.button(
            f"Run all {len(task.subgraphs)}",
            on_click=desk.start,
            args=(task, draft, None, True),
            disabled=not draft.drawn.files,
            help="Runs every subgraph of the task. A bundle has to handle them all.",
        )
    st.button(
        "Write it for me",
        icon=":material/auto_fix_high:",
        on_click=links.select,
        args=("talk", talk.RULES),
        help="Rules propose passes within a second. Needs no model; your own passes stay as they are.",
    )
    st.button(
        "Model",
        icon=":material/smart_toy:",
        on_click=links.select,
        args=("talk", talk.NEW),
        help="A language model writes passes, reads what the judge says, and tries again.",
    )
    with st.popover("More", icon=":material/more_horiz:"):
        more(task, draft)


def more(task: Task, draft: EditorDraft) -> None:
    files, options, other = st.tabs(["Files", "Options", "Drafts"])
    with files:
        drafting.file_menu(draft)
        desk.download_bundle(task, draft)
        desk.start_over(task, draft, "Restores the text that these passes started with.")
    with options:
        options_menu(resources.service().device, resources.service().longest_job_s)
    with other:
        drafts_list()
        links.link("explore", "Choose another task", icon=":material/travel_explore:")


def drafts_list() -> None:
    drafts = drafting.saved_drafts()
    if drafts:
        st.markdown("**Your drafts**")
    drafting.draft_links(drafts[:LISTED])


def choose_task() -> None:
    st.title("Workbench")
    st.markdown("Choose a task first: a set of similar subgraphs, all of which one bundle of passes has to handle.")
    links.link("explore", "Browse the tasks", icon=":material/travel_explore:")
    drafts_list()


chosen = links.selected("task")
if chosen is None and (place := example.first_place()):
    for key in links.BOUND & place.keys():
        st.session_state[key] = place[key]
    links.turn_to(place)
    st.rerun()
if chosen is None:
    choose_task()
else:
    try:
        opened = resources.shared().corpus.task(chosen)
    except UnknownItem as error:
        frame.report(error)
        st.session_state.pop(example.LAST, None)
        choose_task()
    else:
        page, place = place_of(opened.id)
        if page != "workbench":
            kept = {key: value for key in ("run", "bundle", "subgraph", "tab") if (value := links.selected(key))}
            st.switch_page(links.script(page), query_params=kept | place)
        workbench(opened)
