"""The leaderboard among the views of the Scores page: places, who cannot be told apart, and submissions."""

import functools
from collections.abc import Mapping, Sequence

import streamlit as st

from pages.ui.submissions import submissions_section
from pages.ui.text import plain
from passnet_core.charts.downloads import file_stem
from passnet_core.leaderboard.boards import Board
from passnet_core.leaderboard.ranking import PublishedRow
from passnet_core.reports.ranks import RankedBoard, Ranks, as_csv, as_page, ranks_of

FIGURES = ("aggregate score", "95% from", "to", "geometric mean")


def leaderboard_view(board: Board, boards: Sequence[Board]) -> None:
    """Show the places of a board's solvers, and apart from them what PassNet's rules and PassNet's own figures say."""
    ranks = _ranks(board, tuple(boards))
    _table(ranks.ours)
    st.caption(
        "Ranked by the aggregate score; intervals are of 95%, over tasks. A place is 1 and the number of solvers that"
        " are better beyond chance: those of one place cannot be told apart from its best. Faster: beyond the interval"
        " and the noise floor."
    )
    for row in ranks.ours.rows:
        if row.alike:
            st.markdown(f"{plain(row.contestant.name)} cannot be told apart from {plain(', '.join(row.alike))}.")
    if ranks.by_passnet is not None:
        st.subheader("The same by PassNet's rules", anchor=False)
        _table(ranks.by_passnet)
    with st.expander("Published by others"):
        st.caption(
            f"{ranks.source}. Not judged here, and not to be ranked with the rows above: the machine, the protocol and"
            " the subgraphs differ."
        )
        _show(list(map(_published, ranks.published)))
    stem = file_stem("leaderboard", board.title, board.id[:4])
    with st.popover("Download: leaderboard", icon=":material/download:", type="tertiary", key="download-leaderboard"):
        st.download_button(
            "One page as HTML", lambda: as_page(ranks), file_name=f"{stem}.html", mime="text/html",
            key="leaderboard-html", on_click="ignore", width="stretch",
        )  # fmt: skip
        st.download_button(
            "Data as CSV", lambda: as_csv(ranks.ours), file_name=f"{stem}.csv", mime="text/csv",
            key="leaderboard-csv", on_click="ignore", width="stretch",
        )  # fmt: skip
    submissions_section()


@functools.lru_cache(maxsize=16)
def _ranks(board: Board, boards: tuple[Board, ...]) -> Ranks:
    return ranks_of(board, boards)


def _table(ranked: RankedBoard) -> None:
    st.caption(plain(f"{ranked.conditions}."))
    rows = [
        {
            "place": row.place,
            "solver": row.contestant.name,
            "aggregate score": row.score.value,
            "95% from": row.score.low,
            "to": row.score.high,
            "geometric mean": None if row.geometric_mean is None else row.geometric_mean.value,
            "right": f"{row.right} of {row.subgraphs}",
            "faster than eager": f"{row.faster} of {row.subgraphs}",
            "faster than Inductor": f"{row.faster_than_inductor} of {row.compared}" if row.compared else None,
        }
        for row in ranked.rows
    ]
    _show(rows)


def _show(rows: Sequence[Mapping[str, object]]) -> None:
    figures = {each: st.column_config.NumberColumn(each, format="%.3f") for each in FIGURES}
    st.dataframe(rows, hide_index=True, width="stretch", column_config=figures, placeholder="–")


def _published(row: PublishedRow) -> dict[str, object]:
    return {
        "solver": row.name,
        "aggregate score": row.score,
        "geometric mean": row.geometric_mean,
        "right": None if row.right is None else f"{row.right:.1%}",
        "faster than eager": None if row.faster is None else f"{row.faster:.1%}",
    }
