"""The strip above the panes: what a call takes by eager, TorchInductor, the best passes known and those here."""

import html
import threading
from dataclasses import dataclass, replace

import streamlit as st

from pages.ui import live, measured, resources
from pages.ui.bench import BenchView
from pages.ui.text import count, figure
from passnet_core.advice.estimated_time import ERROR, CallWork, EagerTime, estimated_us, work_of
from passnet_core.leaderboard.known_times import KnownTime, KnownTimes, time_of
from passnet_core.records import EXECUTED, Contender, Outcome, Subgraph, Verdict

YOURS = "yours"


@dataclass(frozen=True)
class _Bar:
    """A line of the strip. known: None: there is no time, and words say why. look: eager, inductor, best or yours."""

    name: str
    look: str
    known: KnownTime | None
    words: str
    estimated: bool = False
    title: str = ""


def score_strip(here: BenchView) -> None:
    """Draw the strip for what is known of the passes in the editor."""
    with st.container(key="score-strip"):
        if live.await_recorded():
            timed = measured.times_beside(here.outcome) if here.outcome and not here.is_running else None
            known = timed or measured.known_times(here.task.id, here.subgraph.id)
            st.html(_table(known, here) if known else _nothing())


def _nothing() -> str:
    return '<p class="score-source">No times of this subgraph are recorded.</p>'


def _table(known: KnownTimes, here: BenchView) -> str:
    yours, best = _yours(here, known), known.best
    if best is not None and best.bundle_digest == here.draft.bundle.digest and not yours.estimated:
        best = yours.known or best
    bars = [
        _of("eager", "eager", known.eager),
        _of("TorchInductor", "inductor", known.inductor),
        _of(f"best known, {known.best.by}" if known.best and known.best.by else "best known", "best", best),
        yours,
    ]
    longest = max(each.known.us for each in bars if each.known)
    rows = "".join(_row(each, longest) for each in bars)
    source = f"µs per call, end to end; dark: in kernels. {known.device}, {known.day}."
    return (
        '<table class="score-strip"><caption>What a call of this subgraph takes</caption>'
        f"<tbody>{rows}</tbody></table>"
        f'<p class="score-source">{html.escape(source)}</p>'
    )


def _row(bar: _Bar, longest: float) -> str:
    known = bar.known
    width = known.us / longest if known else 0.0
    kernels = known.kernels_share if known and not bar.estimated else 0.0
    kind = "estimated" if bar.estimated else "missing" if known is None else "timed"
    title = f' title="{html.escape(bar.title, quote=True)}"' if bar.title else ""
    return (
        f'<tr class="{bar.look} {kind}"><th scope="row">{html.escape(bar.name)}</th>'
        f'<td class="score-bar" aria-hidden="true"><div style="width:{width:.1%}"><div style="width:{kernels:.1%}">'
        f"</div></div></td><td{title}>{html.escape(bar.words)}</td></tr>"
    )


def _of(name: str, look: str, known: KnownTime | None) -> _Bar:
    return _Bar(name, look, known, figure(known.us) if known else "not recorded")


def _yours(here: BenchView, known: KnownTimes) -> _Bar:
    """The line of the passes in the editor, with what one has already done better."""
    now = _now(here, known)
    outcomes = measured.own_outcomes(here.task.id, here.subgraph.id)
    best = min((us for each in outcomes if (us := _us(each, here.subgraph, known))), default=None)
    if best is None or (now.known is not None and now.known.us <= best):
        return now
    return replace(now, words=f"{now.words}; your best: {figure(best)}")


def _us(outcome: Outcome, subgraph: Subgraph, known: KnownTimes) -> float | None:
    """What a call of right passes takes, or is estimated to take, in microseconds."""
    if timed := _timed(outcome):
        return timed.us
    work = _work(outcome, subgraph)
    return None if work is None else _estimated(work, known)


def _timed(outcome: Outcome) -> KnownTime | None:
    return None if outcome.verdict is Verdict.CHEAT else time_of(outcome, Contender.PASSES)


def _estimated(work: CallWork, known: KnownTimes) -> float:
    return estimated_us(work, EagerTime(known.eager.us, known.eager.kernels_us))


def _now(here: BenchView, known: KnownTimes) -> _Bar:
    outcome = here.outcome
    if outcome is None or here.is_running:
        return _Bar(YOURS, YOURS, None, "being judged" if here.is_running else "being checked")
    if timed := _timed(outcome):
        return _of(YOURS, YOURS, timed)
    work = _work(outcome, here.subgraph)
    if work is None:
        return _Bar(YOURS, YOURS, None, _why_none(outcome))
    us = _estimated(work, known)
    launches = count(round(work.launches), "launch", "launches")
    words = f"about {figure(us)}, estimated: {launches}, {work.traffic:.2f} times the least bytes"
    title = (
        "Launches and bytes are counted, and their time is fitted to recorded runs. Of estimates on tasks that it was"
        f" not fitted to, half are within {ERROR:.0%}. An estimate ranks nobody."
    )
    return _Bar(YOURS, YOURS, KnownTime(us), words, estimated=True, title=title)


def _work(outcome: Outcome, subgraph: Subgraph) -> CallWork | None:
    graph = resources.graph(subgraph.code)
    found = resources.shared().inspect_within([subgraph], 0.0, threading.Event()).get(subgraph.id)
    return work_of(outcome, graph, {each.node: each.tensors for each in (found.values if found else ())})


def _why_none(outcome: Outcome) -> str:
    if outcome.verdict is Verdict.MATCHED:
        return "not run yet"
    if not outcome.verdict.accepted:
        return outcome.verdict.value
    return "not timed; no estimate where eager still computes" if outcome.figures(EXECUTED) else "not timed"
