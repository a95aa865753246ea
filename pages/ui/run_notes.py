"""What a visitor keeps about a run: a star and a note, which nobody else sees."""

import streamlit as st

from pages.ui import frame, resources
from pages.ui.text import plain
from passnet_core.service import LONGEST_NOTE


def note_and_star(run_id: str) -> None:
    """Draw the buttons that star a run and open its note, and the note if there is one."""
    kept = resources.service().run_note(run_id)
    key = f"note-{run_id}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "★ Starred" if kept.starred else "☆ Star",
            key=f"star-{run_id}",
            help="Runs lists starred runs by themselves. Only you see your stars.",
            on_click=_star,
            args=(run_id, not kept.starred),
        )
        with st.popover("Edit the note" if kept.note else "Add a note", icon=":material/edit_note:"):
            st.session_state.setdefault(key, kept.note)
            st.text_area(
                f"Note, at most {LONGEST_NOTE:,} characters",
                key=key,
                height=140,
                placeholder="What you tried, and what to try next",
                on_change=_save,
                args=(run_id, key),
            )
            # leaving the field saves: this button is a place to go to
            st.button("Save", key=f"save-note-{run_id}", icon=":material/save:", on_click=_save, args=(run_id, key))
            st.caption("Only you see your notes.")
    if kept.note:
        st.caption(f":material/sticky_note_2: {plain(kept.note)}")


@frame.action
def _star(run_id: str, starred: bool) -> None:
    resources.service().star_run(run_id, starred)


@frame.action
def _save(run_id: str, key: str) -> None:
    resources.service().note_run(run_id, st.session_state[key])
