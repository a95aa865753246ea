"""Letting others see what is one's own, where the app serves others."""

from collections.abc import Callable

import streamlit as st

from pages.ui import frame


def sharing_toggle(name: str, *, shared: bool, share: Callable[[str, bool], None]) -> None:
    """Draw the switch that shares a run or a conversation by its link. share: does it, given its id and whether."""
    key = f"shared-{name}"

    @frame.action
    def switch() -> None:
        share(name, bool(st.session_state[key]))

    st.toggle(
        "Shared by its link", shared, key=key, on_change=switch,
        help="Everybody who has the link sees this. Otherwise only you do, and who runs this playground.",
    )  # fmt: skip
