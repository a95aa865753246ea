"""The finished example on Start: a reference bundle on a small subgraph, with its verdict."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from pages.ui import resources
from passnet_core.records import Bundle, Outcome, Subgraph
from passnet_core.service import ReferenceBundle, Service


@dataclass(frozen=True)
class Example:
    reference: str
    task_id: str
    subgraph: Subgraph
    bundle: Bundle
    outcome: Outcome | None
    recorded: str


@st.cache_resource(show_spinner=False, ttl=60, max_entries=4)
def finished_example(home: str) -> Example | None:
    """Return the simplest reference bundle that was judged, on its fastest subgraph; None if there is no bundle.

    home: the folder of the store, part of the cache's key. Cached for a minute, because the search reads whole runs.
    """
    service = resources.service()
    operations = {task.id: task.operations for task in service.corpus.tasks()}
    usable = [each for each in service.reference_bundles() if set(operations).intersection(each.task_ids)]
    simplest = sorted(usable, key=lambda each: _difficulty(each, operations))
    for reference in simplest:
        judged = _best_run(service, reference)
        if judged:
            return judged
    return _unjudged(service, simplest[0], set(operations)) if simplest else None


def _difficulty(reference: ReferenceBundle, operations: Mapping[str, int]) -> tuple[int, bool, int]:
    """Return how much a reader has to take in: passes, whether the kernel is in another file, operations."""
    kernel_in_helper = "triton.jit" not in reference.bundle.passes[0].code
    return (
        len(reference.bundle.passes),
        kernel_in_helper,
        min(operations[each] for each in reference.task_ids if each in operations),
    )


def _best_run(service: Service, reference: ReferenceBundle) -> Example | None:
    best: Example | None = None
    known = {task.id for task in service.corpus.tasks()}
    for task_id in [each for each in reference.task_ids if each in known]:
        subgraphs = {each.id: each for each in service.corpus.task(task_id).subgraphs}
        for summary in service.runs(200, task_id):
            if summary.run.bundle_digest != reference.bundle.digest or not summary.accepted:
                continue
            for outcome in service.outcomes(summary.run.id):
                subgraph = subgraphs.get(outcome.subgraph_id)
                if subgraph is None or outcome.task_id != task_id or not outcome.verdict.accepted:
                    continue
                if best is None or _speedup(outcome) > _speedup(best.outcome):
                    best = Example(reference.name, task_id, subgraph, reference.bundle, outcome, summary.run.recorded)
    return best


def _speedup(outcome: Outcome | None) -> float:
    speedup = outcome.speedup() if outcome else None
    return speedup.value if speedup else 0.0


def _unjudged(service: Service, reference: ReferenceBundle, known: set[str]) -> Example:
    task = service.corpus.task(next(each for each in reference.task_ids if each in known))
    return Example(reference.name, task.id, task.subgraphs[0], reference.bundle, None, "")
