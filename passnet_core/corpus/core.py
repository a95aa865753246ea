"""The core: a small, fixed part of the corpus on which everything is measured first."""

from dataclasses import replace

from passnet_core.corpus.catalogue import Corpus
from passnet_core.records import Task, digest_of


def core(corpus: Corpus) -> tuple[Task, ...]:
    """One subgraph of each eval task and of each task that has a folder of its own, by name, each as a task that holds
    nothing else. A digest of the task's name chooses, which spreads them over dtypes and sizes."""
    chosen = (each.id for each in corpus.tasks() if each.split == "eval" or each.id in corpus.in_folders)
    return tuple(_with_one(corpus.task(task_id)) for task_id in chosen)


def _with_one(task: Task) -> Task:
    place = int(digest_of(task.id)[:8], 16) % len(task.subgraphs)
    return replace(task, subgraphs=(task.subgraphs[place],))
