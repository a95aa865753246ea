"""Fetch everything that a run's report shows from the service."""

from collections.abc import Iterable

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.records import Bundle, Run, Task
from passnet_core.reports.asking import ShowsRuns
from passnet_core.reports.content import Material, content_of
from passnet_core.reports.writing import written


def run_report(service: ShowsRuns, run_id: str) -> str:
    """Return the run's report as HTML, with the outcomes so far. Raises UnknownItem if there is no such run."""
    return written(content_of(material_of(service, run_id)))


def material_of(service: ShowsRuns, run_id: str) -> Material:
    """Return what the run's report is made from, without unknown tasks and bundles. Raises UnknownItem for the run."""
    progress = service.progress(run_id)
    run = progress.run
    tasks = _tasks(service.corpus, run.task_ids)
    return Material(
        run=run,
        total=progress.total,
        problem=progress.problem,
        outcomes=progress.outcomes,
        bundle=_bundle(service, run),
        subgraphs={(task.id, each.id): each for task in tasks for each in task.subgraphs},
        members={task.id: [each.id for each in task.subgraphs] for task in tasks},
        reference=next(
            (each.name for each in service.reference_bundles() if each.bundle.digest == run.bundle_digest), ""
        ),
    )


def _bundle(service: ShowsRuns, run: Run) -> Bundle | None:
    try:
        return service.bundle(run.bundle_digest) if run.bundle_digest else None
    except UnknownItem:
        return None


def _tasks(corpus: Corpus, task_ids: Iterable[str]) -> list[Task]:
    """Return those of the tasks that the corpus has and can read. An imported run may be of other tasks."""
    found = []
    for task_id in task_ids:
        try:
            found.append(corpus.task(task_id))
        except (BadInput, UnknownItem):
            continue
    return found
