"""Scores: what the measurements say first, then ES(t) of each solver.

Only solvers that ran the same subgraphs under the same conditions are ranked."""

import functools
import itertools
from collections.abc import Sequence

import streamlit as st

from pages.ui import frame, links, live, measured, resources
from pages.ui.components import PROFILES, clock_note, clocks_apart
from pages.ui.inductor import inductor_section, why_slower
from pages.ui.plots import described, leave_if_asked, picked_point
from pages.ui.score_filters import NO_FILTERS, ScoreFilters, filter_row
from pages.ui.score_views import BEHIND, Look, downloads, views
from pages.ui.submissions import submissions_section
from pages.ui.text import count, plain, recorded, span
from passnet_core.charts.curves import POINT, CurvePoint, curve_chart
from passnet_core.leaderboard.boards import Board, Ranked, of_other_clocks, ranked, right_at, twin
from passnet_core.leaderboard.findings import Headline, finding, headline, medians, solver_sentence
from passnet_core.leaderboard.naming import asked_for, board_names, listed
from passnet_core.leaderboard.report_card import Card
from passnet_core.records import BASELINE_NAMES, RIGHT, Profile
from passnet_core.scoring.scores import LEVELS, Interpretation

CURVES = "curves"
WIDE = 520
"""The width of a field with a board's name, in pixels, if the page is that wide."""
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


@frame.action
def turn_board(widget: str) -> None:
    """Handle a choice of a board: put its id into the URL."""
    links.select("board", st.session_state[widget])


def asked_board(boards: Sequence[Board], profile: Profile) -> Board:
    """Return the board of the URL; the most telling one if the URL names none, or one that is not here, which is
    said."""
    names, value = board_names(boards), links.selected("board")
    by_id = {each.id: each for each in boards}
    found = asked_for(value, names) if value else boards[0].id
    if found is None:
        st.warning(
            f"There is no board {plain(repr(value))} here, judged by: {plain(PROFILES[profile])}. New results may "
            "have changed it. The board below is the most informative; the others are under *Board and rules*.",
            icon=":material/link_off:",
        )
    return by_id[found] if found else boards[0]


def choose_board(boards: Sequence[Board], board: Board) -> None:
    """Let the visitor choose a board; boards of a single task have a field of their own if they are many."""
    names = board_names(boards)
    several, single = listed(boards)
    options = [each.id for each in (*several, *[each for each in single if each is board])]
    st.session_state["board"] = board.id
    st.selectbox(
        "Board",
        options,
        key="board",
        format_func=names.__getitem__,
        on_change=turn_board,
        args=("board",),
        width=WIDE,
    )
    if single:
        st.session_state["one"] = board.id if board in single else None
        st.selectbox(
            f"One task ({count(len(single), 'board')})",
            sorted((each.id for each in single), key=names.__getitem__),
            key="one",
            format_func=names.__getitem__,
            on_change=turn_board,
            args=("one",),
            placeholder="Type a task's name",
            width=WIDE,
        )


def caption(board: Board, *, aborts_fail: bool) -> list[str]:
    """Describe a board: subgraphs measured, device, capture, rules, whether aborts count, days, clock version if it is
    an older one, noise floor, recorded sources."""
    return [
        f"{len(board.places):,} of {count(board.total, 'subgraph')} of {count(len(board.task_ids), 'task')}",
        board.device,
        f"{board.capture.value} capture",
        "end to end",
        f"judged by: {PROFILES[board.profile]}",
        *(["aborts count as failures"] if aborts_fail else []),
        *conditions_of(board),
    ]


def conditions_of(each: Board | Headline) -> list[str]:
    """Return days, clock version if it is an older one, noise floor, and recorded sources."""
    return [
        span(each.dates),
        *([note] if (note := clock_note(each.clock_version)) else []),
        *([] if each.noise is None else [f"noise floor ±{each.noise:.1%} (median)"]),
        *([recorded(each.recorded)] if each.recorded else []),
    ]


def finding_first(found: Headline, why: str) -> tuple[str, ...]:
    """Say, before anything else, what TorchInductor slows down, why, and what the best solver makes of the same
    subgraphs. Return the conditions that are said with it."""
    st.header(plain(headline(found)), anchor="finding")
    if found.inductor and why:
        st.markdown(plain(why))
    if found.inductor and found.solver:
        st.subheader(plain(solver_sentence(found)), anchor=False)
    total = f"{len(found.places):,} of {count(found.total, 'subgraph')}" if found.total else ""
    pieces = (
        f"{total or count(len(found.places), 'subgraph')} of {count(len(found.task_ids), 'task')}",
        found.device,
        "end to end",
        f"judged by: {PROFILES[found.profile]}",
        *conditions_of(found),
        medians(found),
        "slower: the whole 95% interval of the speedup is below 1 and beyond the noise floor",
    )
    st.caption(" · ".join(plain(each) for each in pieces if each))
    return pieces


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
        "Eager is 1 by definition. Intervals are bootstrapped over the subgraphs. Accepted is a verdict and does not"
        f" depend on t; within t = {t} means timed, with every output within that tolerance of eager. Click the chart"
        " to see the subgraphs behind the nearest point."
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


def scores(boards: Sequence[Board], filters: ScoreFilters, said: Sequence[str]) -> None:
    """Show ES(t) and the ranking. said: conditions that the page has said already."""
    left, right = st.columns([3, 1], vertical_alignment="bottom", gap="small")
    with right, st.popover("Board and rules", icon=":material/tune:", width="content"):
        profile = choose_profile(boards)
        aborts_fail = profile is Profile.PASSNET and count_aborts()
        if aborts_fail:
            boards = filters.boards(measured.boards(aborts_fail=True))
        here = [each for each in boards if each.profile is profile]
        place = st.container()
        errors = st.segmented_control(
            "Error tolerance",
            [each.value for each in Interpretation],
            key="errors",
            bind="query-params",
            default=Interpretation.DEFAULT.value,
            required=True,
        )
    board = asked_board(here, profile)
    with place:
        choose_board(here, board)
    left.subheader(f"ES\\(t\\): {plain(board_names(here)[board.id])}", anchor="scores")
    interpretation = Interpretation(errors or Interpretation.DEFAULT.value)
    conditions = caption(board, aborts_fail=aborts_fail)
    st.caption(plain(" · ".join(each for each in conditions if each not in said)))
    if apart := clocks_apart(of_other_clocks(board, boards)):
        st.caption(apart)
    above = st.container()
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
    look = Look(board, boards, t, interpretation, lines, " · ".join(conditions))
    draw = functools.partial(curve_chart, points, t, look.drawn)
    above.vega_lite_chart(
        described(draw),
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
    downloads(look, "curves", "ES(t) over eager", functools.partial(curve_rows, points), draw)
    views(look)


def models_section() -> None:
    """Show how far the attempts of language models got and what they cost; nothing if there were none."""
    cards = resources.service().talks.cards()
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


leave_if_asked()
st.title("Scores")
if not live.await_recorded():
    st.stop()
every, every_row = measured.boards(), measured.baseline_rows()
filters = filter_row(every, every_row) if every else NO_FILTERS
available, rows = filters.boards(every), filters.rows(every_row)
said: tuple[str, ...] = ()
if found := finding(available):
    said = finding_first(found, why_slower(rows))
if available:
    scores(available, filters, said)
elif every:
    st.info("No measured subgraph has all of this. Remove a filter.", icon=":material/filter_alt_off:")
else:
    st.info(
        "Nothing has been measured yet. Scores need times, and times need a GPU: run passes on a machine that has one, "
        "or import a run that was measured there.",
        icon=":material/show_chart:",
    )
    links.link("runs", "Import a run", icon=":material/upload_file:")
    submissions_section()
models_section()
inductor_section(rows)
