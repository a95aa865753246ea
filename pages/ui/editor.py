"""The code editor, behind one function: today a text area."""

from collections.abc import Callable
from typing import Any

import streamlit as st


def code_editor(
    label: str, code: str, *, key: str, on_change: Callable[..., None], args: tuple[Any, ...], height: int = 430
) -> str:
    """An editor that holds the code when it first appears, and what was typed from then on. Returns what it holds.

    The key decides what is edited: another text needs another key. on_change gets args, bound when the editor is
    drawn, so that what was typed is kept under the name it was typed for, wherever the page has gone since.
    """
    if key not in st.session_state:
        st.session_state[key] = code
    return st.text_area(label, key=key, on_change=on_change, args=args, height=height, label_visibility="collapsed")
