"""Taking in files."""

import streamlit as st

from pages.ui import frame, links, resources
from passnet_core.errors import BadInput

KEY = "imported-run"


def import_run() -> None:
    """A run as another playground exported it; it becomes a run of this one, marked as recorded."""
    st.file_uploader("A run file, JSONL", type=["jsonl"], key=KEY, on_change=_take)


@frame.action
def _take() -> None:
    file = st.session_state[KEY]
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not a text file. Choose one that Export has written.") from error
    links.select("run", resources.service().import_run(text))
