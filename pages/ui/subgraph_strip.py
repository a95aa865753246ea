"""A cell for each subgraph of a task, with what is known there of the passes in the editor. A click selects it."""

import contextlib
import itertools
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.ui import bench, resources
from pages.ui.bench import BenchView
from pages.ui.built import component
from pages.ui.components import subgraph_title
from pages.ui.text import count
from passnet_core.people.quotas import QuotaExceeded
from passnet_core.records import ONLY_CHECKED, RIGHT, UNDECIDED, UNJUDGED, UNREPLACED, Outcome, Stage

MOST_CHECKED = 24
"""How many subgraphs of a task are checked while somebody types."""
KEY = "subgraph-cells"


def subgraph_strip(here: BenchView) -> None:
    """Draw the strip of a task with several subgraphs. What is not known yet is there when the page is drawn next."""
    if len(here.task.subgraphs) < 2:
        return
    ids = [each.id for each in here.task.subgraphs]

    def choose() -> None:
        chosen = st.session_state[KEY].get("chosen")
        if chosen in ids:
            st.session_state["subgraph"] = chosen

    component("cells")(key=KEY, data=_data(here, _known(here)), on_chosen_change=choose)


def _data(here: BenchView, known: Mapping[str, Outcome]) -> dict[str, Any]:
    task = here.task
    by_dtype = itertools.groupby(sorted(task.subgraphs, key=lambda each: each.dtype), key=lambda each: each.dtype)
    return {
        "label": f"{count(len(task.subgraphs), 'subgraph')} of {task.id}",
        "groups": [
            {
                "name": dtype,
                "cells": [
                    {
                        "id": each.id,
                        "state": _state(known.get(each.id)),
                        "title": f"{subgraph_title(each)}: {_words(known.get(each.id))}",
                        "selected": each.id == here.subgraph.id,
                    }
                    for each in alike
                ],
            }
            for dtype, alike in by_dtype
        ],
    }


def _state(outcome: Outcome | None) -> str:
    if outcome is None or outcome.verdict in UNJUDGED | UNDECIDED:
        return "unknown"
    if outcome.verdict in RIGHT | ONLY_CHECKED:
        return "right" if outcome.verdict in RIGHT else "matched"
    return "unmatched" if outcome.verdict in UNREPLACED else "wrong"


def _words(outcome: Outcome | None) -> str:
    return outcome.verdict.value if outcome else "not checked"


def _known(here: BenchView) -> dict[str, Outcome]:
    """What is known of these passes by subgraph id: by the run that is shown, or else by checks, for which this does
    not wait."""
    outcomes = here.progress.outcomes if here.progress and here.is_current else ()
    known = {each.subgraph_id: each for each in outcomes if each.task_id == here.task.id}
    if here.outcome is not None:
        known.setdefault(here.subgraph.id, here.outcome)
    if here.subgraph.id in known and not here.is_running and _may_check(here):
        spec = bench.spec_for(here.task, Stage.CHECK)
        with contextlib.suppress(QuotaExceeded):  # the pane says so, where it waits for the check
            for each in here.task.subgraphs:
                if each.id not in known and (
                    checked := resources.service().check_within(here.task, here.draft.bundle, spec, each.id, 0.0)
                ):
                    known[each.id] = checked
    return known


def _may_check(here: BenchView) -> bool:
    """Whether checks of all subgraphs are no burden: of a short task, for the person at this machine."""
    return bool(here.draft.bundle.files) and len(here.task.subgraphs) <= MOST_CHECKED and not resources.serves_others()
