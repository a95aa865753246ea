"""Find the tasks of a corpus that a bundle matches. It is loaded once for many subgraphs, not once for each."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError
from passnet_core.execution.backends.base import MatchSources
from passnet_core.execution.scheduler import NOBODY, Scheduler
from passnet_core.records import Bundle, Device, EvalSpec, Job, Stage, Task, digest_of

BATCH = 250
"""How many subgraphs the judge gets at once. It takes a second or two, during which no results appear."""

LOADING_S = 20.0
"""How many seconds the passes may take to load."""


@dataclass(frozen=True)
class TaskMatches:
    """How many subgraphs of a task a bundle matches. unread: subgraphs that could not be read or rewritten."""

    task_id: str
    subgraphs: int
    matched: int
    unread: int = 0


def surveyed(
    scheduler: Scheduler, corpus: Corpus, bundle: Bundle, task_ids: Sequence[str], device: Device, owner: str = NOBODY
) -> Iterator[TaskMatches]:
    """Yield the matches of every task, in the given order; a task that cannot be read is left out. owner: whose turn it
    is at the judge.

    Raises BadInput if a rule rejects the bundle or it does not load, InfrastructureError if no judge answers."""
    known: dict[str, int | None] = {}
    for tasks in _batches(corpus, task_ids):
        codes = {digest_of(each.code): each.code for task in tasks for each in task.subgraphs}
        new = {digest: code for digest, code in codes.items() if digest not in known}
        if new:
            spec = EvalSpec(stage=Stage.CHECK, device=device, deadline_s=LOADING_S)
            job = Job(tasks[0].subgraphs[0], bundle, spec)
            answer = scheduler.inspect(MatchSources(job, tuple(new.values())), threading.Event(), owner=owner)
            if not answer.outcome.verdict.judged:
                raise InfrastructureError(answer.outcome.reason)
            if len(answer.counts) != len(new):
                raise BadInput(answer.outcome.reason)
            known.update(zip(new, answer.counts))
        for task in tasks:
            counts = [known[digest_of(each.code)] for each in task.subgraphs]
            yield TaskMatches(task.id, len(counts), sum(bool(each) for each in counts), counts.count(None))


def _batches(corpus: Corpus, task_ids: Sequence[str]) -> Iterator[list[Task]]:
    batch: list[Task] = []
    for task_id in task_ids:
        try:
            task = corpus.task(task_id)
        except PlaygroundError:
            continue
        if task.subgraphs:
            batch.append(task)
        if sum(len(each.subgraphs) for each in batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
