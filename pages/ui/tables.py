"""Tables in which a row can be chosen. A choice is an event; what is selected is in the URL."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from pages.ui import frame, links
from pages.ui.text import key_of
from passnet_core.records import Outcome, level_of
from passnet_core.reports.gravity import worst_first


def choose_row(
    rows: Sequence[Mapping[str, Any]] | pa.Table,
    ids: Sequence[str],
    *,
    key: str,
    choose: Callable[[str], None],
    height: int | None = None,
    column_config: Mapping[str, Any] | None = None,
    column_order: Sequence[str] | None = None,
    chosen: str | None = None,
) -> None:
    """Draw a table; choosing a row calls choose with its id. chosen: the id of the row that is marked at first.

    Streamlit keeps the position of the chosen row when the rows change. So the key changes with the rows, and the
    position is looked up in the ids that were drawn.
    """
    full_key = key_of(key, "\n".join(ids))
    st.dataframe(
        rows,
        key=full_key,
        hide_index=True,
        width="stretch",
        height=height or "auto",
        on_select=functools.partial(_chosen, full_key, tuple(ids), choose),
        selection_mode=["single-row", "single-cell"],  # a click anywhere on a row chooses it
        selection_default={"selection": {"rows": [ids.index(chosen)]}} if chosen in ids else None,
        placeholder="–",
        column_config=column_config,
        column_order=column_order,
    )


@frame.action
def _chosen(key: str, ids: tuple[str, ...], choose: Callable[[str], None]) -> None:
    selection = st.session_state[key].selection
    positions = [row for row, _ in selection.cells] or selection.rows
    if positions and positions[0] < len(ids):
        choose(ids[positions[0]])


def choose_outcome(
    outcomes: Sequence[Outcome], *, key: str, choose: Callable[[str], None], chosen: Outcome | None = None
) -> None:
    """Draw the outcomes of a run, one row per subgraph, the worst first. choose: called with the subgraph's
    links.place_id. chosen: the outcome whose row is marked at first."""
    several = len({each.task_id for each in outcomes}) > 1
    rows = worst_first(outcomes)
    choose_row(
        [({"task": each.task_id} if several else {}) | outcome_row(each) for each in rows],
        [links.place_id(each.task_id, each.subgraph_id) for each in rows],
        key=key,
        choose=choose,
        chosen=links.place_id(chosen.task_id, chosen.subgraph_id) if chosen else None,
        column_config={"speedup": st.column_config.NumberColumn("speedup", format="%.2f×")},
    )


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    speedup = outcome.speedup()
    return {
        "subgraph": outcome.subgraph_id,
        "verdict": outcome.verdict.value,
        "speedup": speedup.value if speedup else None,
        "smallest t": level_of(outcome.accuracy),
        "dtype": outcome.dtype,
        "reason": outcome.reason,
    }
