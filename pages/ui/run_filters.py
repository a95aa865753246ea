"""The filters of Runs: folded into one popover, with a chip for each that is set. All of them are in the URL."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui.search_bar import Chip, Field, chip_row, ignored_filters, remove_filter, several, unknown_values
from passnet_core.records import CONTENDER_NAMES, SolverKind, Verdict

SOLVERS = {CONTENDER_NAMES[each.contender]: each for each in SolverKind}
SWITCHES = {
    "own": ("Only mine", "Runs that were started in this browser, or by you if you have signed in"),
    "starred": ("Only starred", "Runs that you starred"),
    "checks": ("Include check-only runs", "Runs that only applied the rules and matched, without computing values"),
}
"""The filters that are on or off, by their names in the URL, with what they say."""
ON_OFF = ("true", "false")


@dataclass(frozen=True)
class RunSearch:
    """Which runs are asked for. task_id, solver: None for any. verdicts: none for any."""

    task_id: str | None = None
    solver: SolverKind | None = None
    verdicts: tuple[Verdict, ...] = ()
    own: bool = False
    starred: bool = False
    checks: bool = False


def run_filters(tasks: Sequence[str]) -> RunSearch:
    """Draw the filters and what is set. tasks: the ids of the tasks that can be chosen."""
    unknown = unknown_values(_fields(tasks))
    with st.popover("Filters", icon=":material/filter_list:"):
        verdicts = several("Verdict (any of them)", "verdict", [each.value for each in Verdict])
        task_id = st.selectbox("Task", tasks, index=None, key="of", bind="query-params", placeholder="all tasks")
        solver = st.pills("Solver", list(SOLVERS), key="solver", bind="query-params")
        on = {key: st.toggle(label, key=key, bind="query-params", help=help) for key, (label, help) in SWITCHES.items()}
    search = RunSearch(task_id, SOLVERS.get(solver or ""), tuple(map(Verdict, verdicts)), **on)
    _active(search, solver)
    ignored_filters(unknown, search)
    return search


def _fields(tasks: Sequence[str]) -> tuple[Field, ...]:
    """Return the filters with the values that a link may give them."""
    return (
        Field("verdict", "Verdict", "", [each.value for each in Verdict]),
        Field("of", "Task", "", tasks),
        Field("solver", "Solver", "", list(SOLVERS)),
        *(Field(key, label, "", ON_OFF) for key, (label, _) in SWITCHES.items()),
    )


def _active(search: RunSearch, solver: str | None) -> None:
    """Draw a button for each filter that is set, which removes it, and one for all. Draw nothing if none is set."""
    found = [
        Chip(each.value, f"verdict {each.value}", remove_filter, ("verdict", each.value)) for each in search.verdicts
    ]
    if search.task_id:
        found.append(Chip(search.task_id, "of", _set, ("of", None)))
    if solver:
        found.append(Chip(solver, "solver", _set, ("solver", None)))
    for key, (label, _) in SWITCHES.items():
        if getattr(search, key):
            found.append(Chip(label, key, _set, (key, False)))
    chip_row(found, _clear)


def _set(key: str, value: object) -> None:
    st.session_state[key] = value


def _clear() -> None:
    st.session_state["verdict"] = []
    for key in ("of", "solver"):
        st.session_state[key] = None
    for key in SWITCHES:
        st.session_state[key] = False
