"""The subgraph of the day: what there is to beat, and the way to try it."""

from datetime import UTC, datetime

import streamlit as st

from pages.ui import links, measured
from pages.ui.text import figure, plain
from passnet_core.leaderboard.daily import of_day


def subgraph_of_the_day() -> None:
    """Draw a line about it; nothing while no times are known."""
    chosen = of_day(datetime.now(UTC).date(), measured.baseline_rows())
    known = measured.known_times(*chosen) if chosen else None
    if chosen is None or known is None:
        return
    task, subgraph = chosen
    best = known.best
    times = (("eager", known.eager), ("TorchInductor", known.inductor), (best.by if best else "", best))
    told = ", ".join(f"{name or 'best known'} {figure(time.us)}" for name, time in times if time)
    with st.container(key="daily", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Subgraph of the day**: {plain(task)}, {plain(told)} µs per call.", width="content")
        links.link("workbench", "Beat it", icon=":material/trophy:", task=task, subgraph=subgraph)
