"""The finished example on Start: a reference bundle on a small subgraph, with the verdict it got."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.ui import resources
from passnet_core.corpus.catalogue import find_subgraph
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


def finished_example() -> Example | None:
    """The simplest reference bundle that was judged, on the subgraph where it did best; None: there is no bundle."""
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
    """Passes, whether the kernel lies in another file, and the size of the graph: what a first look has to take in."""
    elsewhere = "triton.jit" not in reference.bundle.passes[0].code
    return (
        len(reference.bundle.passes),
        elsewhere,
        min(operations[each] for each in reference.task_ids if each in operations),
    )


def _best_run(service: Service, reference: ReferenceBundle) -> Example | None:
    best: Example | None = None
    for task_id in reference.task_ids:
        for summary in service.runs(200, task_id):
            if summary.run.bundle_digest != reference.bundle.digest or not summary.accepted:
                continue
            for outcome in service.outcomes(summary.run.id):
                if outcome.task_id != task_id or not outcome.verdict.accepted or outcome.match is None:
                    continue
                if best is None or _speedup(outcome) > _speedup(best.outcome):
                    subgraph = find_subgraph(service.corpus.task(task_id), outcome.subgraph_id)
                    best = Example(reference.name, task_id, subgraph, reference.bundle, outcome, summary.run.recorded)
    return best


def _speedup(outcome: Outcome | None) -> float:
    speedup = outcome.speedup() if outcome else None
    return speedup.value if speedup else 0.0


def _unjudged(service: Service, reference: ReferenceBundle, known: set[str]) -> Example:
    task = service.corpus.task(next(each for each in reference.task_ids if each in known))
    return Example(reference.name, task.id, task.subgraphs[0], reference.bundle, None, "")
