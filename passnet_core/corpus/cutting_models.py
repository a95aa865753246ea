"""Cut whole captured models into tasks, by the same rules as the bundled tasks, each model in a sandbox of its own."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from passnet_core.corpus.catalogue import check_sizes
from passnet_core.corpus.members import deduplicated
from passnet_core.corpus.packs import SUFFIX, Pack, packs_in, task_of, write_pack
from passnet_core.corpus.partitioning import PREFIX, joined
from passnet_core.corpus.summaries import summary
from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Subgraph, Task, digest_of, to_json

PROGRAM = "passnet_core.corpus.partitioning"
"""The module that runs in the sandbox."""

PACK = f"cut{SUFFIX}"
"""The file with the tasks of all models that were ever cut."""

PARTS = "cut"
"""The folder with one pack of tasks per model."""

NAME = re.compile(rf"{PREFIX}[a-z0-9-]+")


@dataclass(frozen=True)
class CutReport:
    """The result of cutting. models: how many were cut. tasks: the names of all cut tasks in the corpus, those of
    earlier models included. subgraphs: how many these have. problems: a sentence for each model that was not cut."""

    models: int
    tasks: tuple[str, ...]
    subgraphs: int
    problems: tuple[str, ...]


def cut_models(
    backend: LocalBackend,
    models: Sequence[Subgraph],
    home: Path,
    *,
    limit_s: float,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> CutReport:
    """Cut the models that were not cut before, and write the tasks of all models into a pack below home.
    An interrupted call loses only the model in progress. limit_s: the time limit for each model, in seconds. progress:
    called with (models done, models in all). Raises InfrastructureError if this machine cannot run the program."""
    parts = home / PARTS
    parts.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for done, model in enumerate(models):
        progress(done, len(models))
        path = parts / f"{digest_of([model.digest, model.source_model, model.task_id])}{SUFFIX}"
        if path.exists():
            continue
        try:
            asked = json.dumps(to_json(model), allow_nan=False).encode()
            write_pack(path, list(_tasks(backend.program(PROGRAM, asked, limit_s))))
        except BadInput as error:
            problems.append(f"{model.task_id}/{model.id}: {error}")
    progress(len(models), len(models))
    made = _joined(home)
    count = sum(entry.summary.subgraphs for entry in made.entries.values())
    return CutReport(len(models) - len(problems), tuple(made.entries), count, tuple(problems))


def keep_cut(home: Path, key: str, tasks: Sequence[Task]) -> None:
    """Write tasks that were cut from a model into the pack below home, in place of those of the same key."""
    parts = home / PARTS
    parts.mkdir(parents=True, exist_ok=True)
    by_name: dict[str, Task] = {}
    for task in tasks:
        before = by_name[task.id].subgraphs if task.id in by_name else ()
        by_name[task.id] = replace(task, subgraphs=deduplicated((*before, *task.subgraphs)))
    write_pack(parts / f"{key}{SUFFIX}", [by_name[name] for name in sorted(by_name)])
    _joined(home)


def _joined(home: Path) -> Pack:
    """Write the pack of all cut models anew, and return it."""
    write_pack(home / "tasks" / PACK, joined([Pack(path) for path in packs_in(home / PARTS)]))
    return Pack(home / "tasks" / PACK)


def _tasks(lines: bytes) -> Iterator[Task]:
    """Read the program's output, which is not trusted, as the program ran a stranger's code. Raises BadInput."""
    for _, members in groupby(lines.splitlines(keepends=True), key=_task_name):
        task = task_of(b"".join(members))
        summary(task)  # raises if a source is not straight-line code
        check_sizes(task)
        if not NAME.fullmatch(task.id):
            raise BadInput(f"The program returned a task with the invalid name {task.id[:80]!r}.")
        yield task


def _task_name(line: bytes) -> object:
    try:
        return json.loads(line)["task"]
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"The program returned something that is not a task: {error}") from error
