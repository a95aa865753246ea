"""Whole models that somebody captured, cut into tasks by the rule of the bundled ones, each in a sandbox of its own."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from passnet_core.corpus.catalogue import check_sizes
from passnet_core.corpus.packs import SUFFIX, Pack, packs_in, task_of, write_pack
from passnet_core.corpus.partitioning import PREFIX, joined
from passnet_core.corpus.summaries import summary
from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Subgraph, Task, digest_of, to_json

PROGRAM = "passnet_core.corpus.partitioning"

PACK = f"cut{SUFFIX}"
"""What comes of all models that were ever cut."""

PARTS = "cut"
"""The folder with what came of each."""

NAME = re.compile(rf"{PREFIX}[a-z0-9-]+")


@dataclass(frozen=True)
class CutReport:
    """What was cut: models, and names of the tasks that are in the corpus now, with all their subgraphs. problems: one
    sentence for each model that could not be cut."""

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
    """Cuts those that were not cut before, and puts the tasks of all into a pack below home. What was done is kept when
    it is interrupted. limit_s: for each model. Raises InfrastructureError where nothing can be run here."""
    parts = home / PARTS
    parts.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for done, model in enumerate(models):
        progress(done, len(models))
        path = parts / f"{digest_of([model.digest, model.source_model, model.task_id])}{SUFFIX}"
        if path.exists():
            continue
        try:
            write_pack(path, list(_tasks(backend.program(PROGRAM, _asked(model), limit_s))))
        except BadInput as error:
            problems.append(f"{model.task_id}/{model.id}: {error}")
    progress(len(models), len(models))
    packs = [Pack(path) for path in packs_in(parts)]
    write_pack(home / "tasks" / PACK, joined(packs))
    made = Pack(home / "tasks" / PACK)
    count = sum(entry.summary.subgraphs for entry in made.entries.values())
    return CutReport(len(models) - len(problems), tuple(made.entries), count, tuple(problems))


def _asked(model: Subgraph) -> bytes:
    return json.dumps(to_json(model), allow_nan=False).encode()


def _tasks(lines: bytes) -> Iterator[Task]:
    """What the program wrote, which may be anything: it had to do with a stranger's code. Raises BadInput."""
    for _, members in groupby(lines.splitlines(keepends=True), key=_task_name):
        task = task_of(b"".join(members))
        summary(task)  # reads every source
        check_sizes(task)
        if not NAME.fullmatch(task.id):
            raise BadInput(f"It gave a task with the name {task.id[:80]!r}.")
        yield task


def _task_name(line: bytes) -> object:
    try:
        return json.loads(line)["task"]
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(f"It gave something that is no task: {error}") from error
