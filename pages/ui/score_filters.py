"""The filters of Scores: one row, to which every figure of the page keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.ui import resources
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.boards import Board, Place
from passnet_core.leaderboard.inductor_effects import LONGEST, NAMING, TIMES, BaselineRow, Grouping
from passnet_core.records import Capture

EAGER_TIMES = (*(name for _, name in TIMES), LONGEST)


@dataclass(frozen=True)
class ScoreFilters:
    """What is shown. places: of the subgraphs; None for all. capture: None for both. totals: how many subgraphs each
    task has."""

    places: frozenset[Place] | None
    capture: Capture | None
    totals: Mapping[str, int]

    def boards(self, boards: Sequence[Board]) -> Sequence[Board]:
        """Return the boards as far as they are shown, in their order; the same objects where no place is left out."""
        shown = [each for each in boards if self.capture in (None, each.capture)]
        if self.places is None:
            return shown
        return [narrowed for each in shown if (narrowed := self._narrowed(each, self.places)).places]

    def _narrowed(self, board: Board, kept: frozenset[Place]) -> Board:
        places = tuple(each for each in board.places if each in kept)
        return replace(
            board,
            places=places,
            total=sum(self.totals.get(task, 0) for task in {task for task, _ in places}),
            contestants=tuple(
                replace(each, rows=tuple(row for row in each.rows if (row.task_id, row.subgraph_id) in kept))
                for each in board.contestants
            ),
        )

    def rows(self, rows: Sequence[BaselineRow]) -> Sequence[BaselineRow]:
        """Return the rows that are shown."""
        return [
            row
            for row in rows
            if self.capture in (None, row.capture)
            and (self.places is None or (row.task_id, row.subgraph_id) in self.places)
        ]


NO_FILTERS = ScoreFilters(None, None, {})


def filter_row(boards: Sequence[Board], rows: Sequence[BaselineRow]) -> ScoreFilters:
    """Draw the filters, which are in the URL, and return what they choose. boards, rows: all that there are."""
    tasks = {each.id: each for each in resources.listing().tasks}
    dtypes = {
        (row.task_id, row.subgraph_id): row.dtype for each in boards for one in each.contestants for row in one.rows
    }
    measured = [tasks[task] for task in {task for task, _ in dtypes} if task in tasks]
    captures = [each.value for each in Capture if any(board.capture is each for board in boards)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="score-filters"):
        operators = _several(
            "Operators (any of them)", "operators", {each for task in measured for each in task.vocabulary}
        )
        chosen_dtypes = _several("dtype", "dtypes", set(dtypes.values()))
        times = st.multiselect(
            "Eager's time", EAGER_TIMES, key="times", bind="query-params", placeholder="any", width=220
        )
        capture = st.selectbox(
            "Capture", captures, index=None, key="capture", bind="query-params", placeholder="both", width=130
        )
    places = None
    if operators or chosen_dtypes or times:
        groups = {(row.task_id, row.subgraph_id): NAMING[Grouping.TIME](row, None) for row in rows}
        places = frozenset(
            place
            for place, dtype in dtypes.items()
            if (not operators or _has(tasks.get(place[0]), operators))
            and (not chosen_dtypes or dtype in chosen_dtypes)
            and (not times or not set(times).isdisjoint(groups.get(place, ())))
        )
    return ScoreFilters(places, Capture(capture) if capture else None, {each.id: each.subgraphs for each in measured})


def _several(label: str, key: str, options: set[str]) -> Sequence[str]:
    return st.multiselect(label, sorted(options), key=key, bind="query-params", placeholder="any", width=220)


def _has(task: TaskSummary | None, operators: Sequence[str]) -> bool:
    return task is not None and not set(operators).isdisjoint(task.vocabulary)
