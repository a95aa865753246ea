"""Uploads: importing a run."""

import streamlit as st

from pages.ui import frame, links, resources
from passnet_core.errors import BadInput

KEY = "imported-run"


def import_run() -> None:
    """Draw the upload of a run that another playground exported. It becomes a run here, marked as recorded."""
    st.file_uploader("Run file (JSONL)", type=["jsonl"], key=KEY, on_change=_import)


@frame.action
def _import() -> None:
    file = st.session_state[KEY]
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name} is not a text file. Choose a file that Export has written.") from error
    links.select("run", resources.service().import_run(text))
