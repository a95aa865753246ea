"""Panes that lie side by side, as high as the window. Their borders can be moved, and stay where they were moved to."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.built import component

WITHIN = "panes"
"""The key of the container; its style is in assets/style.css."""


def panes(names: Sequence[str], widths: Sequence[int]) -> list[DeltaGenerator]:
    """Return containers side by side, once per page. names: what a screen reader calls them. widths: in percent of the
    whole, until the visitor moves a border; on a narrow screen they lie one below the other."""
    with st.container(key=WITHIN):
        columns = st.columns(list(widths), gap="medium")
        with st.container(key=f"{WITHIN}-borders"):
            component(WITHIN)(
                key=f"{WITHIN}-handles",
                data={"within": f"st-key-{WITHIN}", "names": list(names), "widths": list(widths)},
            )
    return [each.container(height="stretch", key=f"pane-{name}") for name, each in zip(names, columns)]
