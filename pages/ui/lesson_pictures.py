"""Pictures of lessons to play with: the traffic of a graph step by step, and what recorded calls cost."""

import threading

import streamlit as st

from pages.ui import resources
from pages.ui.text import plain
from passnet_core.advice.eager_traffic import least_traffic, traffic
from passnet_core.advice.memory_floor import memory_floor
from passnet_core.charts.breakdown import breakdowns
from passnet_core.charts.times import breakdown_chart
from passnet_core.charts.traffic import traffic_chart, traffic_words
from passnet_core.lessons.lesson import Lesson
from passnet_core.records import Capture, Profile, SolverKind

SHAPES_S = 0.3


@st.fragment
def traffic_picture(lesson: Lesson) -> None:
    """Draw the first subgraph, computed operation by operation, with the bytes that eager moves."""
    subgraph = lesson.shown[0]
    found = resources.shared().inspect_within([subgraph], SHAPES_S, threading.Event()).get(subgraph.id)
    if found is None:
        # the desk draws the page again once they are known
        st.caption(":material/autorenew: Finding the shapes…")
        return
    known = {each.node: each.tensors for each in found.values}
    graph = resources.graph(subgraph.code)
    steps = traffic(graph, known)
    done = st.slider("Operations computed", 0, len(steps), 0, key=f"traffic {lesson.id}")
    st.altair_chart(traffic_chart(steps, done), width="stretch")
    st.caption(plain(traffic_words(steps, done)))
    if done == len(steps):
        total, least = sum(each.moved for each in steps), least_traffic(graph, known)
        st.markdown(
            f"Eager moves {total / 1e3:,.1f} kB. One kernel for the whole graph would read each input and write each"
            f" result once: {least / 1e3:,.1f} kB, {total / least:.1f} times less."
        )


@st.fragment
def cost_picture(lesson: Lesson) -> None:
    """Draw where the time of recorded calls goes, on the subgraphs of the task from which the lesson's is."""
    rows = [
        each
        for each in resources.service().score_rows(lesson.source_task)
        if each.solver is SolverKind.PASSES
        and each.speedup is not None
        and each.recorded
        and (each.capture, each.profile) == (Capture.DIRECT, Profile.STRICT)
    ]
    best = {each.subgraph_id: each for each in sorted(rows, key=lambda each: (each.clock_version, each.speedup or 0.0))}
    if not best:
        st.info("There are no recorded times of this task here.", icon=":material/timer_off:")
        return
    chosen = st.select_slider("Recorded subgraph", sorted(best), key=f"cost {lesson.id}")
    row = best[chosen]
    outcome = next(each for each in resources.service().outcomes(row.run_id) if each.subgraph_id == chosen)
    floor = memory_floor(outcome)
    found = breakdowns(outcome)
    st.altair_chart(breakdown_chart(found, floor.us if floor else None, outcome.spec.names), width="stretch")
    speedup = outcome.speedup()
    said = f"The passes are {speedup.value:.2f} times as fast as eager. " if speedup else ""
    st.caption(f"{said}Median call, end to end, on {plain(row.device)}. Recorded: {plain(row.recorded)}")
