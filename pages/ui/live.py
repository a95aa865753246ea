"""Work under way: a run with stage, time, queue position, log and Cancel; and recorded results being loaded."""

import streamlit as st

from pages.ui import frame, resources
from pages.ui.components import long_code
from pages.ui.text import count, plain, seconds
from pages.ui.words import PHASES
from passnet_core.execution.runs_in_progress import STEP, Progress
from passnet_core.records import Phase

POLL_S, SLOWEST_POLL_S = 0.5, 4.0
CALM = 4
"""How many pieces of work may be ahead of what a page waits for before it looks less often: on a busy server, looking
would take the time that judging needs."""


def checks_ahead() -> int:
    """Return how many checks wait or are under way."""
    return resources.shared().load(light=True)


def poll_s(ahead: int, usual: float = POLL_S) -> float:
    """Return how often a page looks for what it waits for, in seconds. ahead: pieces of work before that."""
    return min(max(usual, SLOWEST_POLL_S), usual * max(1.0, ahead / CALM))


def under_way(progress: Progress) -> None:
    """Show a run until it finishes, then rerun the page."""
    st.fragment(_under_way, run_every=poll_s(progress.queue_position or 0))(progress.run.id)


def _under_way(run_id: str) -> None:
    with frame.errors_shown():
        progress = resources.service().progress(run_id)
        if progress.finished:
            st.rerun()
        with st.container(border=True):
            draw_progress(progress)
            st.button("Cancel", key=f"cancel-{run_id}", icon=":material/stop_circle:", on_click=cancel, args=(run_id,))


def await_recorded() -> bool:
    """Return whether the recorded results are loaded. If not, say so, and rerun the page once they are."""
    if not resources.shared().importing_recorded:
        return True
    _importing()
    return False


@st.fragment(run_every=POLL_S)
def _importing() -> None:
    if not resources.shared().importing_recorded:
        st.rerun()
    st.caption(
        ":material/hourglass_top: The recorded results that come with the playground are being loaded. This happens"
        " once and takes a few seconds."
    )


@frame.action
def cancel(run_id: str) -> None:
    resources.service().cancel(run_id)


def draw_progress(progress: Progress) -> None:
    """Draw stage, time and log of a run that has not finished."""
    waiting = bool(progress.queue_position)
    doing = "judged by another process" if progress.elsewhere else PHASES[Phase.QUEUED if waiting else progress.phase]
    detail = "" if waiting or progress.elsewhere or not STEP.search(progress.detail) else f": {progress.detail}"
    icon = ":material/hourglass_top:" if waiting else ":material/autorenew:"
    st.markdown(f"**{icon} {plain(doing[:1].upper() + doing[1:] + detail)}…**")
    if progress.total > 1:
        st.progress(progress.done / progress.total, text=f"{progress.done} of {progress.total} subgraphs judged")
    facts = [seconds(progress.elapsed_s)]
    if progress.left_s is not None:
        facts.append(f"about {seconds(progress.left_s)} left")
    if waiting:
        facts.append(f"{count(progress.queue_position or 0, 'run')} ahead of this one")
        if progress.wait_s is not None:
            facts.append(f"its turn comes in about {seconds(progress.wait_s)}")
    if progress.subgraph_id:
        facts.append(progress.subgraph_id)
    if progress.cancelled:
        facts.append("cancelling")
    st.caption(" · ".join(plain(each) for each in facts))
    if progress.log_tail.strip():
        with st.expander("Log", icon=":material/terminal:"):
            long_code(progress.log_tail, height=200)
