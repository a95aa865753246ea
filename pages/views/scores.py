"""Scores: ES(t) of each solver. Only solvers that ran the same subgraphs under the same conditions are ranked."""

import functools
import itertools
from collections.abc import Sequence

import streamlit as st

from pages.ui import frame, links, live, measured, resources
from pages.ui.components import PROFILES, clock_note, clocks_apart
from pages.ui.inductor import inductor_section
from pages.ui.plots import picked_point
from pages.ui.score_views import BEHIND, Look, downloads, views
from pages.ui.text import count, plain, recorded, span
from passnet_core.charts.curves import POINT, CurvePoint, curve_chart
from passnet_core.leaderboard.boards import Board, Ranked, of_other_clocks, ranked, right_at, twin
from passnet_core.leaderboard.report_card import Card
from passnet_core.records import BASELINE_NAMES, RIGHT, Profile
from passnet_core.scoring.scores import LEVELS, Interpretation

CURVES = "curves"
JUDGED_BY = {name: profile for profile, name in PROFILES.items()}


def choose_profile(boards: Sequence[Board]) -> Profile:
    """Let the visitor choose by whose rules runs were judged; strict is the default if any run was."""
    present = {board.profile for board in boards}
    name = st.segmented_control(
        "Judged by",
        [name for name, profile in JUDGED_BY.items() if profile in present],
        key="profile",
        bind="query-params",
        default=PROFILES[Profile.STRICT if Profile.STRICT in present else Profile.PASSNET],
        required=True,
        help="strict: this judge's rules, with harder inputs, checks of every timed call and a kernel census. "
        "PassNet's rules: recorded inputs, PassNet's static rule and protocol, to compare with PassNet's figures.",
    )
    return JUDGED_BY[name or PROFILES[Profile.STRICT]]


def count_aborts() -> bool:
    """Let the visitor choose how subgraphs count on which PassNet's protocol aborts; by default they are left out."""
    return st.toggle(
        "Count aborts as failures",
        key="aborts",
        bind="query-params",
        help="PassNet's protocol aborts a subgraph on which a clock is too unsteady. By default it is left out of "
        "the scores, to be run again. PassNet counts it as a failure; with this switch it is a runtime failure.",
    )


def choose_board(boards: Sequence[Board]) -> Board:
    """Let the visitor choose a board; the first is the default."""
    names = {}
    for each in boards:
        pieces = (each.title, each.device, each.capture.value, clock_note(each.clock_version), each.id[:4])
        names[" · ".join(filter(None, pieces))] = each
    return names[st.selectbox("Measured on", list(names), key="board", bind="query-params")]


def caption(board: Board, *, aborts_fail: bool) -> str:
    """Describe a board in one line: subgraphs measured, device, capture, rules, whether aborts count, days, clock
    version if it is an older one, noise floor, recorded sources."""
    pieces = [
        f"{len(board.places)} of {count(board.total, 'subgraph')} of {count(len(board.task_ids), 'task')}",
        board.device,
        f"{board.capture.value} capture, end to end",
        f"judged by: {PROFILES[board.profile]}",
        *(["aborts count as failures"] if aborts_fail else []),
        span(board.dates),
        *([note] if (note := clock_note(board.clock_version)) else []),
        *([] if board.noise is None else [f"noise floor ±{board.noise:.1%} (median)"]),
        *([recorded(board.recorded)] if board.recorded else []),
    ]
    return " · ".join(pieces)


def table(lines: Sequence[Ranked], t: int, others: Sequence[Ranked], other: str) -> None:
    """Show the ranking. others: the same solvers judged by the other profile, whose name is `other`."""
    name, twin_name = f"ES({t})", f"ES({t}), {other}"
    other_scores = {(line.contestant.solver, line.contestant.name): line.score for line in others}
    rows = []
    for line in lines:
        level = line.report.at(t)
        within = sum(right_at(row, t) for row in line.contestant.rows)
        accepted = sum(row.verdict in RIGHT for row in line.contestant.rows)
        rows.append(
            {
                "place": line.place,
                "solver": line.contestant.name,
                name: line.score,
                "95% from": level.low if level else None,
                "to": level.high if level else None,
                **({twin_name: other_scores.get((line.contestant.solver, line.contestant.name))} if others else {}),
                "aggregate score": line.report.aggregate,
                f"within t = {t}": f"{within} of {len(line.contestant.rows)}",
                "accepted": f"{accepted} of {len(line.contestant.rows)}",
            }
        )
    figures = {each: st.column_config.NumberColumn(each, format="%.3f") for each in (name, "95% from", "to", twin_name)}
    figures["aggregate score"] = st.column_config.NumberColumn("aggregate score", format="%.3f")
    st.dataframe(rows, hide_index=True, width="stretch", column_config=figures, placeholder="–")
    st.caption(
        "Eager is 1 by definition. Intervals are bootstrapped over the subgraphs. Accepted is the verdict's word, which"
        f" knows no t; within t = {t} means timed, and every output within that tolerance of eager."
        + (f" {twin_name}: the same subgraphs on the same device, judged by the other rules." if others else "")
    )


@frame.action
def choose_point(levels: Sequence[int]) -> None:
    """Handle a click on a point: select its solver and t, and open the view of its subgraphs."""
    point = picked_point(st.session_state[CURVES].selection, levels)
    if point is not None:
        st.session_state["who"], st.session_state["t"] = point
        st.session_state["view"] = BEHIND


def curve_rows(points: Sequence[CurvePoint]) -> list[dict[str, object]]:
    return [{"solver": each.solver, "t": each.t, "ES": each.es, "low": each.low, "high": each.high} for each in points]


def scores(boards: Sequence[Board]) -> None:
    left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom", gap="medium")
    with middle:
        profile = choose_profile(boards)
    aborts_fail = profile is Profile.PASSNET and count_aborts()
    if aborts_fail:
        boards = measured.boards(aborts_fail=True)
    with left:
        board = choose_board([each for each in boards if each.profile is profile])
    with right:
        errors = st.segmented_control(
            "Error tolerance",
            [each.value for each in Interpretation],
            key="errors",
            bind="query-params",
            default=Interpretation.DEFAULT.value,
            required=True,
        )
    interpretation = Interpretation(errors or Interpretation.DEFAULT.value)
    conditions = caption(board, aborts_fail=aborts_fail)
    st.caption(plain(conditions))
    if apart := clocks_apart(of_other_clocks(board, boards)):
        st.caption(apart)
    levels = LEVELS[interpretation]
    if "t" not in st.session_state and st.query_params.get("t", "") not in {str(level) for level in levels}:
        # not the widget's default: a click on a point also sets this state
        st.session_state["t"] = 0
    t = st.select_slider("Tolerance level t", levels, key="t", bind="query-params")
    lines = ranked(board, t, interpretation=interpretation)
    points = [
        CurvePoint(line.contestant.name, level.t, level.es, level.low, level.high)
        for line in sorted(lines, key=lambda line: line.contestant.name)
        for level in line.report.levels
    ]
    draw = functools.partial(curve_chart, points, t)
    st.altair_chart(
        draw(),
        width="stretch",
        key=CURVES,
        on_select=functools.partial(choose_point, tuple(levels)),
        selection_mode=POINT,
    )
    other = twin(board, boards)
    table(
        lines,
        t,
        ranked(other, t, interpretation=interpretation) if other else (),
        PROFILES[other.profile] if other else "",
    )
    look = Look(board, boards, t, interpretation, lines, conditions)
    downloads(look, "curves", "ES(t) over eager", functools.partial(curve_rows, points), draw)
    views(look)


def models_section() -> None:
    """Show how far the attempts of language models got and what they cost; nothing if there were none."""
    cards = resources.service().conversations.cards()
    if not cards:
        return
    st.subheader("Language models")
    for conditions, comparable in itertools.groupby(cards, key=card_conditions):
        st.caption(plain(conditions))
        st.dataframe([card_row(card) for card in comparable], hide_index=True, width="stretch", placeholder="–")
    st.caption(
        "Each attempt counts with its best bundle, on every subgraph of its task. Costs follow the prices entered. A"
        " model's bundles that were timed are also ranked above, beside solvers that ran the same subgraphs."
    )


def card_conditions(card: Card) -> str:
    """Describe the conditions that comparable report cards share."""
    device, capture, profile, clock_version = card.ground
    pieces = (
        device,
        f"{capture.value} capture",
        f"judged by: {PROFILES[profile]}",
        f"baseline: {BASELINE_NAMES[card.baseline]}",
        clock_note(clock_version),
    )
    return " · ".join(filter(None, pieces))


def card_row(card: Card) -> dict[str, object]:
    return {
        "model": card.model,
        "tasks": card.tasks,
        "attempts": card.attempts,
        **{stage: f"{number} of {total}" for stage, number, total in card.stages},
        "accepted": f"{card.accepted} of {card.attempts}",
        "tokens": card.tokens,
        "cost": card.cost,
        "cost per accepted": card.cost_per_accepted,
    }


st.title("Scores")
if not live.await_recorded():
    st.stop()
available = measured.boards()
if available:
    scores(available)
else:
    st.info(
        "Nothing has been measured yet. Scores need times, and times need a GPU: run passes on a machine that has one, "
        "or import a run that was measured there.",
        icon=":material/show_chart:",
    )
    links.link("runs", "Import a run", icon=":material/upload_file:")
models_section()
inductor_section()
