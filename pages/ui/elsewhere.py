"""The search for other tasks that the passes in the editor match."""

from collections.abc import Sequence

import streamlit as st

from pages.ui import links, resources
from pages.ui.text import count, plain
from passnet_core.corpus.surveying import TaskMatches
from passnet_core.records import Bundle

MATCHED_SHOWN = 24


def other_matches(bundle: Bundle) -> None:
    """Search all tasks for matches of the bundle. The result stays until the bundle changes."""
    tasks = resources.shared().corpus.tasks()
    every = f"{count(sum(task.subgraphs for task in tasks), 'subgraph')} of {count(len(tasks), 'task')}"
    st.caption(f"Searches {every} for matches of these passes. Any other action on this page stops the search.")
    if st.button("Search all tasks", icon=":material/travel_explore:", disabled=not bundle.passes):
        st.session_state["elsewhere"] = (bundle.digest, searched(bundle, [task.id for task in tasks]))
    digest, found = st.session_state.get("elsewhere", ("", ()))
    if digest != bundle.digest:
        if digest:
            st.caption(":material/edit_note: This search was for different code.")
        return
    matched = [each for each in found if each.matched]
    subgraphs = count(sum(each.matched for each in matched), "subgraph")
    st.markdown(f"The passes match **{subgraphs}** of {count(len(matched), 'task')}.")
    for each in sorted(matched, key=lambda each: (-each.matched, each.task_id))[:MATCHED_SHOWN]:
        label = f"{plain(each.task_id)} · {each.matched} of {each.subgraphs}"
        links.turn(label, icon=":material/join_inner:", task=each.task_id)
    if len(matched) > MATCHED_SHOWN:
        st.caption(f"And {count(len(matched) - MATCHED_SHOWN, 'more task')}.")


def searched(bundle: Bundle, task_ids: Sequence[str]) -> list[TaskMatches]:
    """Survey these tasks, and show the progress. Raises BadInput, InfrastructureError."""
    bar, found = st.progress(0.0), []
    for each in resources.service().survey(bundle, task_ids):
        found.append(each)
        bar.progress(len(found) / len(task_ids), text=f"{len(found):,} of {count(len(task_ids), 'task')}")
    bar.empty()
    return found
