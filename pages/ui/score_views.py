"""The views below the ranking on the Scores page: behind a point, speedups, against TorchInductor, two solvers, and
the leaderboard."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import streamlit as st

from pages.ui import frame, links
from pages.ui.leaderboard import leaderboard_view
from pages.ui.plots import described, leave_for, picked_fields
from pages.ui.tables import choose_row
from pages.ui.text import count, plain
from passnet_core.charts.bars import BAR, Bar, bar_chart
from passnet_core.charts.contenders import ContenderLook, looks
from passnet_core.charts.downloads import KINDS, csv_text, file_stem, picture
from passnet_core.charts.scatter import DOT, Dot, scatter_chart
from passnet_core.charts.violins import FEWEST, MARK, Speedups, violin_chart
from passnet_core.leaderboard.boards import (
    LOSSES,
    WINS,
    Beside,
    Board,
    Contestant,
    Ranked,
    ScoreRow,
    Spread,
    baselines_on,
    beside,
    deciding,
    duel_counts,
    duel_words,
    spread,
)
from passnet_core.leaderboard.ranking import score_ratio
from passnet_core.records import BASELINE_NAMES, Baseline, SolverKind
from passnet_core.scoring.report import Contribution, contributions, others_said
from passnet_core.scoring.scores import Interpretation

Rows = Sequence[Mapping[str, Any]]
BARS, VIOLINS, SCATTER = "bars", "violins", "scatter"
INDUCTOR = BASELINE_NAMES[Baseline.INDUCTOR]
WORST = 20
"""How many subgraphs are drawn as bars; the table below has all of them."""
TALL = 380
"""Height of a table with many rows, in pixels."""


@dataclass(frozen=True)
class Look:
    """What the views show. lines: the ranking at t; caption: the conditions of all figures."""

    board: Board
    boards: Sequence[Board]
    t: int
    interpretation: Interpretation
    lines: Sequence[Ranked]
    caption: str

    @property
    def contestants(self) -> dict[str, Contestant]:
        """The contestants by name, in the order of their names."""
        return {each.name: each for each in sorted((line.contestant for line in self.lines), key=lambda one: one.name)}

    @property
    def drawn(self) -> dict[str, ContenderLook]:
        """How each contestant is drawn, by name."""
        return looks((each.name, each.kind) for each in self.contestants.values())


def settle(key: str, options: Sequence[str], default: str) -> None:
    """Reset a value that is not among the options to the default. Call it before a widget bound to the URL."""
    if st.session_state.get(key, st.query_params.get(key)) not in options:
        st.session_state[key] = default


def downloads(
    look: Look, what: str, title: str, rows: Callable[[], Rows], draw: Callable[..., alt.LayerChart] | None = None
) -> None:
    """Draw buttons that download the picture, drawn on white, and the data. Each file is made on its click."""
    stem = file_stem("scores", look.board.title, look.board.id[:4], f"t={look.t}", what)
    pieces = look.caption.split(" · ")
    caption = [" · ".join(pieces[:4]), " · ".join(pieces[4:])]
    with st.popover(f"Download: {what}", icon=":material/download:", type="tertiary", key=f"download-{what}"):
        for kind, mime in KINDS.items():
            if draw is None:
                continue
            st.download_button(
                f"Picture as {kind.upper()}",
                functools.partial(_picture_bytes, draw, kind, title, caption),
                file_name=f"{stem}.{kind}",
                mime=mime,
                key=f"{what}-{kind}",
                on_click="ignore",
                width="stretch",
            )
        st.download_button(
            "Data as CSV",
            lambda: csv_text(rows()),
            file_name=f"{stem}.csv",
            mime="text/csv",
            key=f"{what}-csv",
            on_click="ignore",
            width="stretch",
        )


def _picture_bytes(draw: Callable[..., alt.LayerChart], kind: str, title: str, caption: Sequence[str]) -> bytes:
    return picture(draw(), kind, title=title, caption=caption)


# --- one subgraph ----------------------------------------------------------------------------------------------------


@frame.action
def choose_bar() -> None:
    """Handle a click on a bar: select its subgraph."""
    if picked := picked_fields(st.session_state[BARS].selection.get(BAR), ("task", "subgraph")):
        links.select_place(links.place_id(*picked))


def run_links(rows: Sequence[tuple[str, ScoreRow | None]]) -> None:
    """Link to the runs of the chosen subgraph, one per solver."""
    with st.container(horizontal=True):
        for name, row in rows:
            if row is not None:
                links.link(
                    "runs",
                    f"{plain(name)}: the run of {plain(row.task_id)}, {plain(row.subgraph_id)}",
                    icon=":material/open_in_new:",
                    run=row.run_id,
                    task=row.task_id,
                    subgraph=row.subgraph_id,
                )


def chosen_row(rows: Sequence[ScoreRow]) -> ScoreRow | None:
    chosen = links.selected("task"), links.selected("subgraph")
    return next((row for row in rows if (row.task_id, row.subgraph_id) == chosen), None)


@frame.action
def open_run(spreads: Sequence[Spread]) -> None:
    """Handle a click on a mark of the speedups: open its run at its subgraph."""
    picked = picked_fields(st.session_state[VIOLINS].selection.get(MARK), ("solver", "subgraph"))
    for each in spreads:
        for row, _, _ in each.timed:
            if (each.solver, mark_name(row)) == picked:
                leave_for("runs", {"run": row.run_id, "task": row.task_id, "subgraph": row.subgraph_id})


@frame.action
def open_subgraph() -> None:
    """Handle a click on a dot of the scatter: open its subgraph in the Workbench."""
    fields = ("task", "subgraph")
    if picked := picked_fields(st.session_state[SCATTER].selection.get(DOT), fields):
        leave_for("workbench", dict(zip(fields, picked)))


def mark_name(row: ScoreRow) -> str:
    return f"{row.task_id} · {row.subgraph_id}"


# --- behind a point --------------------------------------------------------------------------------------------------


def behind(look: Look) -> None:
    """Show the subgraphs behind a point, worst first, and what the score would be if each were within t."""
    contestants = look.contestants
    settle("who", list(contestants), look.lines[0].contestant.name)
    name = st.selectbox("Solver", list(contestants), key="who", bind="query-params")
    contestant = contestants[name]
    lines = contributions(contestant.entries, look.t, interpretation=look.interpretation)
    shown = lines[:WORST]
    bars = [Bar(line.task_id, line.subgraph_id, line.factor, line.counted, line.mended) for line in shown]
    draw = functools.partial(bar_chart, bars, look.t)
    st.markdown(
        f"What each subgraph counts as in the ES({look.t}) of {plain(contestant.name)}, worst first. On the right: "
        f"what ES({look.t}) would be if that subgraph were within t and no slower than eager."
    )
    st.vega_lite_chart(described(draw), width="stretch", key=BARS, on_select=choose_bar, selection_mode=BAR)
    if rest := others_said(lines[WORST:]):
        st.caption(f"These are the worst {WORST} of {len(lines)}. {rest}")
    fixed = f"ES({look.t}) if within t"
    choose_row(
        contribution_rows(lines, fixed),
        [links.place_id(line.task_id, line.subgraph_id) for line in lines],
        key="behind",
        choose=links.select_place,
        height=TALL if len(lines) > 9 else None,
        column_config={each: st.column_config.NumberColumn(each, format="%.3f") for each in ("speedup", "counts")}
        | {each: st.column_config.NumberColumn(each, format="%.5f") for each in ("multiplies", fixed)},
    )
    st.caption(
        f"ES({look.t}) is the product of the column “multiplies”, which is “counts” to the power of 1/{len(lines)}. "
        "Choose a row or a bar to get a link to its run."
    )
    if chosen := chosen_row(contestant.rows):
        run_links([(contestant.name, chosen)])
    downloads(
        look,
        "contributions",
        f"ES({look.t}) of {contestant.name}: what the worst {len(shown)} of {len(lines)} subgraphs count as",
        functools.partial(contribution_rows, lines, fixed),
        draw,
    )


def contribution_rows(lines: Sequence[Contribution], fixed: str) -> Rows:
    return [
        {
            "task": line.task_id,
            "subgraph": line.subgraph_id,
            "verdict": line.said,
            "speedup": line.speedup,
            "counts": line.factor,
            "multiplies": line.multiplies,
            fixed: line.if_fixed,
        }
        for line in lines
    ]


# --- speedups --------------------------------------------------------------------------------------------------------


def speedups(look: Look) -> None:
    """Show how the speedups of each solver are distributed."""
    spreads = [spread(each, look.t) for each in look.contestants.values()]
    lanes = [
        Speedups(
            each.solver,
            tuple((mark_name(row), speedup, right) for row, speedup, right in each.timed),
        )
        for each in spreads
    ]
    draw = functools.partial(violin_chart, lanes, look.t, look.drawn)
    st.vega_lite_chart(
        described(draw),
        width="stretch",
        key=VIOLINS,
        on_select=functools.partial(open_run, spreads),
        selection_mode=MARK,
    )
    st.caption(
        "Each mark is a subgraph; click it to open the run. Vertical position is jitter. The shape behind the marks is "
        f"the density of all that were timed; it is left out for fewer than {FEWEST}."
    )
    st.dataframe(
        [
            {
                "solver": each.solver,
                "timed": len(each.timed),
                f"within t = {look.t}": each.right,
                "faster than eager": each.faster,
                "lower quartile": each.quantile(0.25),
                "median": each.quantile(0.5),
                "upper quartile": each.quantile(0.75),
                "without a time": each.untimed,
            }
            for each in spreads
        ],
        hide_index=True,
        width="stretch",
        placeholder="–",
        column_config={
            name: st.column_config.NumberColumn(name, format="%.2f×")
            for name in ("lower quartile", "median", "upper quartile")
        },
    )
    downloads(
        look,
        "speedups",
        f"Speedups over eager, within t = {look.t} or not",
        lambda: [
            {
                "solver": each.solver,
                "task": row.task_id,
                "subgraph": row.subgraph_id,
                "verdict": row.verdict.value,
                "speedup": speedup,
                "low": row.low,
                "high": row.high,
                f"within {look.t}": right,
            }
            for each in spreads
            for row, speedup, right in each.timed
        ],
        draw,
    )


# --- against TorchInductor -------------------------------------------------------------------------------------------


def against_inductor(look: Look) -> None:
    """Show each subgraph of a solver beside TorchInductor."""
    solvers = [each for each in look.contestants.values() if each.solver is not SolverKind.INDUCTOR]
    baselines = {BASELINE_NAMES[each]: rows for each, rows in baselines_on(look.board.ground, look.boards).items()}
    if not solvers or not baselines:
        only = f"Only {' and '.join(baselines)} {'was' if len(baselines) == 1 else 'were'}"
        st.info(
            f"{only if baselines else f'{INDUCTOR} was not'} measured here, so there is nothing to compare.",
            icon=":material/compare_arrows:",
        )
        return
    names = {each.name: each for each in solvers}
    settle("mine", list(names), solvers[0].name)
    name = st.selectbox("Solver", list(names), key="mine", bind="query-params")
    contestant = names[name]
    baseline = next(iter(baselines))
    if len(baselines) > 1:
        settle("baseline", list(baselines), baseline)
        baseline = st.selectbox("Baseline", list(baselines), key="baseline", bind="query-params")
    others = baselines[baseline]
    pairs = beside(contestant.rows, others, look.t)
    counts = duel_counts(pairs)
    words = duel_words(contestant.name, baseline)
    st.markdown(" · ".join(f"**{number}** {plain(words[each])}" for each, number in counts.items() if number))
    alone = sum(each.second is None for each in pairs)
    more = len(set(others) - set(look.board.places))
    left = [
        f"{count(alone, 'subgraph')} not measured with {baseline} (at the end, without a ratio)" if alone else "",
        f"{count(more, 'subgraph')} measured with {baseline} only (not in this table)" if more else "",
    ]
    st.caption(". ".join([each for each in left if each] or ["Both ran all of these subgraphs"]) + ".")
    rows = beside_rows(pairs, contestant.name, baseline)
    choose_row(
        rows,
        [links.place_id(each.first.task_id, each.first.subgraph_id) for each in pairs],
        key="against-inductor",
        choose=links.select_place,
        height=TALL + 100 if len(pairs) > 12 else None,
        column_config=beside_columns(contestant.name, baseline),
    )
    st.caption(f"{RATIO} Click a column header to sort by it, or choose a row to get links to its runs.")
    if chosen := chosen_row(contestant.rows):
        run_links([(contestant.name, chosen), (baseline, others.get((chosen.task_id, chosen.subgraph_id)))])
    downloads(look, "against-inductor", "", lambda: rows)


RATIO = (
    "Ratio: the first speedup divided by the second. Faster: the difference is beyond both noise floors, and the "
    "intervals do not overlap."
)


def beside_rows(pairs: Sequence[Beside], first: str, second: str, **more: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Return a row for each subgraph. more: further columns, by name."""
    words = duel_words(first, second)
    return [
        {
            "task": each.first.task_id,
            "subgraph": each.first.subgraph_id,
            f"speedup, {first}": each.first.speedup,
            "from": each.first.low,
            "to": each.first.high,
            f"speedup, {second}": each.second.speedup if each.second else None,
            "from ": each.second.low if each.second else None,
            "to ": each.second.high if each.second else None,
            "ratio": each.ratio,
            "comparison": words[each.duel] if each.duel else f"not measured with {second}",
            f"verdict, {first}": each.first.verdict.value,
            f"verdict, {second}": each.second.verdict.value if each.second else None,
            **{name: figure(each) for name, figure in more.items()},
        }
        for each in pairs
    ]


def beside_columns(first: str, second: str) -> dict[str, Any]:
    speedups = (f"speedup, {first}", f"speedup, {second}", "ratio")
    ends = ("from", "to", "from ", "to ")
    return {name: st.column_config.NumberColumn(name, format="%.3f") for name in (*speedups, *ends)} | {
        "multiplies": st.column_config.NumberColumn("multiplies", format="%.5f")
    }


# --- two solvers -----------------------------------------------------------------------------------------------------


def two_solvers(look: Look) -> None:
    """Show two solvers of the board side by side at t."""
    names = [line.contestant.name for line in look.lines]
    if len(names) < 2:
        st.info(
            "Only one solver ran all of these subgraphs. Choose another board, or measure another solver on them.",
            icon=":material/compare_arrows:",
        )
        return
    settle("first", names, names[0])
    left, right = st.columns(2, gap="medium")
    first = left.selectbox("First", names, key="first", bind="query-params")
    rest = [name for name in names if name != first]
    settle("second", rest, rest[0])
    second = right.selectbox("Second", rest, key="second", bind="query-params")
    one, other = look.contestants[first], look.contestants[second]
    st.markdown(ratio_words(look, first, second))
    figures(look, (first, second))
    pairs = deciding(one, other, look.t, interpretation=look.interpretation)
    counts, words = duel_counts(pairs), duel_words(first, second)
    dots = [
        Dot(each.first.task_id, each.first.subgraph_id, each.first.speedup, each.second.speedup, words[each.duel])
        for each in pairs
        if each.first.speedup is not None and each.second and each.second.speedup is not None and each.duel
    ]
    colours = look.drawn[first].colour, look.drawn[second].colour
    draw = functools.partial(scatter_chart, dots, first, second, list(words.values()), colours)
    chart, summary = st.columns([3, 2], gap="medium")
    chart.vega_lite_chart(described(draw), width="stretch", key=SCATTER, on_select=open_subgraph, selection_mode=DOT)
    wins, losses = (sum(counts[each] for each in kinds) for kinds in (WINS, LOSSES))
    with summary:
        st.markdown(
            f"At t = {look.t}, {plain(first)}: **{wins}** won, **{losses}** lost and "
            f"**{len(pairs) - wins - losses}** tied of {count(len(pairs), 'subgraph')}:\n\n"
            + "\n".join(f"- **{number}** {plain(words[each])}" for each, number in counts.items() if number)
        )
        untimed = len(pairs) - len(dots)
        st.caption(
            "Above the diagonal the first is faster. Click a dot to open its subgraph in the Workbench. "
            "Faster: the difference is beyond both noise floors, and the "
            "intervals do not overlap. "
            + (f"Not drawn: {count(untimed, 'subgraph')} for which one of the two has no time." if untimed else "")
        )
    st.markdown(f"**Which subgraphs decide** the ratio of the two ES({look.t}), the most decisive first")
    rows = beside_rows(pairs, first, second, multiplies=lambda each: each.multiplies)
    choose_row(
        rows,
        [links.place_id(each.first.task_id, each.first.subgraph_id) for each in pairs],
        key="deciding",
        choose=links.select_place,
        height=TALL if len(pairs) > 9 else None,
        column_config=beside_columns(first, second),
        column_order=["task", "subgraph", "multiplies", "comparison", *[each for each in rows[0] if "speedup" in each]],
    )
    st.caption(
        f"Multiplies: the subgraph's factor in the first ES({look.t}) divided by the second; above 1 it favours the "
        "first. Choose a row to get links to its runs."
    )
    if chosen := chosen_row(one.rows):
        run_links([(first, chosen), (second, chosen_row(other.rows))])
    downloads(look, "two-solvers", f"{first} against {second}", lambda: rows, draw)


def ratio_words(look: Look, first: str, second: str) -> str:
    """Say, as Markdown, whether the difference of two solvers is beyond chance."""
    found = score_ratio(look.board, look.contestants[first], look.contestants[second])
    over = f"The aggregate score of {plain(first)} is **{found.value:.3f} times** that of {plain(second)}"
    real = "they cannot be told apart" if found.low <= 1 <= found.high else "the difference is beyond chance"
    return f"{over} (95% interval {found.low:.3f} to {found.high:.3f}): {real}."


def figures(look: Look, names: Sequence[str]) -> None:
    """Show the figures of both curves at t."""
    by_name = {line.contestant.name: line for line in look.lines}
    rows = []
    for name in names:
        line = by_name[name]
        level = line.report.at(look.t)
        if level is not None:
            rows.append(
                {
                    "solver": name,
                    f"ES({look.t})": level.es,
                    "95% from": level.low,
                    "to": level.high,
                    "within t": level.correct,
                    "speedup where within t": level.alpha,
                    "slower where within t": level.slower,
                    "what a failure counts as": level.gamma,
                    "aggregate score": line.report.aggregate,
                }
            )
    shares = ("within t", "slower where within t")
    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        column_config={
            name: st.column_config.NumberColumn(name, format="percent" if name in shares else "%.3f")
            for name in rows[0]
            if name != "solver"
        },
    )


VIEWS: Mapping[str, Callable[[Look], None]] = {
    "Behind a point": behind,
    "Speedups": speedups,
    f"Against {INDUCTOR}": against_inductor,
    "Two solvers": two_solvers,
    "Leaderboard": lambda look: leaderboard_view(look.board, look.boards),
}
BEHIND = next(iter(VIEWS))


def views(look: Look) -> None:
    """Draw the views as tabs. Only the open tab is computed."""
    for tab, draw in zip(st.tabs(list(VIEWS), key="view", bind="query-params"), VIEWS.values()):
        if tab.open:
            with tab:
                draw(look)
