"""Uploads: importing a run, or somebody's progress in the course."""

import streamlit as st

from pages.ui import frame, links, resources
from pages.ui.text import count
from passnet_core.errors import BadInput

KEY, COURSE = "imported-run", "imported-course"


def import_run() -> None:
    """Draw the upload of a run that another playground exported. It becomes a run here, marked as recorded."""
    st.file_uploader("Run file (JSONL)", type=["jsonl"], key=KEY, on_change=_import)


@frame.action
def _import() -> None:
    text = text_of(KEY)
    if text is not None:
        links.select("run", resources.service().import_run(text))


def import_course() -> None:
    """Draw the upload of a course that was exported in another browser."""
    st.file_uploader("Progress to go on with (JSONL)", type=["jsonl"], key=COURSE, on_change=_import_course)


@frame.action
def _import_course() -> None:
    text = text_of(COURSE)
    if text is not None:
        number = resources.service().import_course(text)
        st.toast(f"The passes of {count(number, 'lesson')} are being judged.", icon=":material/gavel:")


def text_of(key: str) -> str | None:
    """Return the text of the uploaded file; None if there is none. Raises BadInput if it is no text."""
    file = st.session_state[key]
    if file is None:
        return None
    try:
        return str(file.getvalue().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not a text file. Choose a file that was exported here.") from error
