"""A task for Harbor, which runs coding agents in containers: an agent writes a bundle, and the judge gives the reward.

The agent works in the playground's image, without what has or writes passes for the bundled tasks. The verifier judges
the bundle in a container of its own, so that an agent cannot alter the judge, and writes the default reward."""

import json
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template

from passnet_core.bundles.reading import folder_files
from passnet_core.corpus.layout import task_files
from passnet_core.corpus.shapes import Shapes, shapes_in
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import Bundle, EvalSpec, Task, digest_of
from passnet_core.solvers.llm.conversation import guide
from passnet_core.solvers.llm.prompting import CONTRACT, describe_subgraphs, first_of_sources

FILES = Path(__file__).with_name("harbor_files")
PLACES = {
    "task.toml": "task.toml",
    "instruction.md": "instruction.md",
    "Dockerfile": "environment/Dockerfile",
    "docker-compose.yaml": "environment/docker-compose.yaml",
    "test.sh": "tests/test.sh",
}
"""Where the files of every task are."""
TO_START_S = 300.0
"""What a verifier may need besides the time limits of its subgraphs."""


class _Percent(Template):
    """A template of a file that has dollar signs of its own."""

    delimiter = "%"


def write_harbor_task(task: Task, destination: Path, solution: Bundle | None, shapes: Shapes) -> Path:
    """Write a task for Harbor to destination/<its name>, which appears complete or not at all, and return that folder.

    solution: a right bundle, if one is known. shapes: inside the subgraphs, as far as they are known. Raises BadInput
    if the folder exists already, InfrastructureError if it cannot be written."""
    folder = destination / task.id
    if folder.exists():
        raise BadInput(f"{folder} exists already. Choose another folder.")
    try:
        destination.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{task.id}-", dir=destination) as growing:
            whole = Path(growing) / task.id
            for name, text in harbor_files(task, solution, shapes):
                path = whole / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            whole.rename(folder)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{destination} is not a folder, or in none. Choose another one.") from error
    except OSError as error:
        raise InfrastructureError(f"Task {task.id!r} cannot be written to {folder}: {error.strerror}.") from error
    return folder


def harbor_files(task: Task, solution: Bundle | None, shapes: Shapes) -> Iterator[tuple[str, str]]:
    """Yield (path below the task's folder, text) for every file of a task for Harbor."""
    values = _values(task, shapes)
    for name, place in PLACES.items():
        yield place, _filled(name, values)
    for name, text in task_files(task):
        yield f"environment/data/tasks/{task.id}/{name}", text
    if solution is not None:
        yield "solution/solve.sh", _filled("solve.sh", values)
        for name, text in folder_files(solution).items():
            yield f"solution/pass_dir/{name}", text


def _values(task: Task, shapes: Shapes) -> dict[str, str]:
    count = len(task.subgraphs)
    return {
        "name": _toml(f"passnet/{_package_name(task.id)}"),
        "description": _toml(f"Compiler passes for {count} subgraphs of PyTorch models, judged on a CPU."),
        "task": _toml(task.id),
        "family": _toml(task.family.value),
        "split": _toml(task.split),
        "count": str(count),
        "limit": str(TO_START_S + count * EvalSpec().deadline_s),
        "quoted": shlex.quote(task.id),
        "contract": guide()[CONTRACT].strip(),
        "subgraphs": describe_subgraphs(task.subgraphs, shapes_in(first_of_sources(task.subgraphs), shapes)),
    }


def _filled(name: str, values: Mapping[str, str]) -> str:
    return _Percent((FILES / name).read_text(encoding="utf-8")).substitute(values)


def _toml(text: str) -> str:
    """A string in TOML, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _package_name(task_id: str) -> str:
    """The task's name if Harbor allows it, and else what is left of it with a digest."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", task_id).strip("-_")
    return plain if plain == task_id else f"{plain or 'task'}-{digest_of(task_id)[:8]}"
