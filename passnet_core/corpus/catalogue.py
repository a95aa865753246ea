"""The tasks at hand: browsing, finding, importing and exporting them."""

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from passnet_core.corpus.layout import is_task, read_task, write_task
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError, UnknownItem
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import Family, Subgraph, Task, from_json, to_json

INDEX = "index.json"
INDEX_FORMAT = 1


@dataclass(frozen=True)
class TaskSummary:
    """What a table shows of a task without reading it.

    operators: labels of the first subgraph's operations, in order; vocabulary: every label in the task, each once.
    operations: most operations in one subgraph. shapes: per subgraph that of its largest input, each once.
    """

    id: str
    family: Family
    split: str
    subgraphs: int
    source_models: tuple[str, ...]
    dtypes: tuple[str, ...]
    operators: tuple[str, ...]
    vocabulary: tuple[str, ...]
    operations: int
    shapes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ImportReport:
    """What an import brought: names of the tasks, their subgraphs in all, and what could not be read."""

    tasks: tuple[str, ...]
    subgraphs: int
    problems: tuple[str, ...]


class Corpus:
    """The tasks in some folders; of two with the same name the first folder's counts. Safe to share by threads."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._lock = threading.RLock()
        self._read: dict[str, Task] = {}
        self.refresh()

    def refresh(self) -> None:
        """Looks at the folders anew."""
        places: dict[str, Path] = {}
        summaries: dict[str, TaskSummary] = {}
        problems: list[str] = []
        for folder in self.folders:
            index = read_index(folder)
            for place in _task_folders(folder):
                if place.name in places:
                    problems.append(f"Task {place.name!r} in {folder} is hidden by one of the same name.")
                    continue
                places[place.name] = place
                try:
                    summaries[place.name] = _indexed(index, place) or summary(read_task(place))
                except PlaygroundError as error:
                    problems.append(f"Task {place.name!r} is left out: {error}")
        with self._lock:
            self._read.clear()
            self._places = places
            self._summaries = dict(sorted(summaries.items()))
            self._problems = tuple(problems)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence per task that could not be read."""
        return self._problems

    def tasks(self) -> tuple[TaskSummary, ...]:
        """Every task, by name."""
        return tuple(self._summaries.values())

    def task(self, task_id: str) -> Task:
        """The task of this name. Raises UnknownItem."""
        with self._lock:
            place = self._places.get(task_id)
            if place is None:
                raise UnknownItem(
                    f"Task {task_id!r} is not in this corpus. See them with: python -m passnet_core corpus list"
                )
            if task_id not in self._read:
                self._read[task_id] = read_task(place)
            return self._read[task_id]

    def resolve(self, name_or_folder: str) -> Task:
        """A task by name, or else the one in a folder in PassNet's layout."""
        if name_or_folder in self._places:
            return self.task(name_or_folder)
        folder = Path(name_or_folder)
        if _is_folder(folder):
            return read_task(folder)
        raise UnknownItem(
            f"{name_or_folder!r} is neither a task of this corpus nor a folder. "
            "See the tasks with: python -m passnet_core corpus list"
        )

    def subgraph(self, task_id: str, subgraph_id: str) -> Subgraph:
        """Raises UnknownItem naming some that exist."""
        return find_subgraph(self.task(task_id), subgraph_id)

    def import_folder(self, source: Path, into: Path) -> ImportReport:
        """Copies every task below source into the corpus folder; one unreadable task does not stop the others."""
        if not _is_folder(source):
            raise UnknownItem(f"There is no folder {source} to import from.")
        brought: list[Task] = []
        problems: list[str] = []
        for place in _found(source):
            try:
                task = read_task(place)
                for subgraph in task.subgraphs:
                    _checked(subgraph)
                # a task that is here under that name, in whichever folder, is never replaced
                here = self._places.get(task.id, into / task.id)
                if not is_task(here):
                    write_task(task, here)
                elif _content(read_task(here)) != _content(task):
                    raise BadInput("a task of that name with other content is here already. Rename the folder.")
                brought.append(task)
            except BadInput as error:
                problems.append(f"{place.resolve().name}: {error}")
        if not brought and not problems:
            raise BadInput(f"{source} holds no task: no folder below it has graph_list.txt or model.py.")
        if into.is_dir():
            write_index(into)
        if into not in self.folders:
            self.folders = (*self.folders, into)
        self.refresh()
        return ImportReport(
            tuple(task.id for task in brought), sum(len(task.subgraphs) for task in brought), tuple(problems)
        )

    def export(self, task_id: str, destination: Path) -> Path:
        """Writes the task to destination/<its name> and returns that folder. Raises BadInput where it exists."""
        folder = destination / task_id
        write_task(self.task(task_id), folder)
        return folder


def find_subgraph(task: Task, subgraph_id: str) -> Subgraph:
    """Raises UnknownItem naming some that exist."""
    for subgraph in task.subgraphs:
        if subgraph.id == subgraph_id:
            return subgraph
    some = ", ".join(subgraph.id for subgraph in task.subgraphs[:3])
    raise UnknownItem(f"Task {task.id!r} has no subgraph {subgraph_id!r}. It has {some}, …")


def summary(task: Task) -> TaskSummary:
    """Raises BadInput, naming the subgraph, where a model.py is not straight-line code."""
    sequences = [_checked(subgraph) for subgraph in task.subgraphs]
    shapes = [max((spec.shape for spec in each.inputs), key=_elements, default=()) for each in task.subgraphs]
    return TaskSummary(
        id=task.id,
        family=task.family,
        split=task.split,
        subgraphs=len(task.subgraphs),
        source_models=tuple(sorted({each.source_model for each in task.subgraphs})),
        dtypes=tuple(sorted({each.dtype for each in task.subgraphs if each.dtype})),
        operators=sequences[0] if sequences else (),
        vocabulary=tuple(sorted({label for sequence in sequences for label in sequence})),
        operations=max((len(sequence) for sequence in sequences), default=0),
        shapes=tuple(dict.fromkeys(shapes)),
    )


def read_index(folder: Path) -> dict[str, Any]:
    """The folder's index as written by write_index; {} where there is none that can be used: it is only a shortcut."""
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    usable = isinstance(index, dict) and index.get("format") == INDEX_FORMAT and isinstance(index.get("tasks"), dict)
    return index["tasks"] if usable else {}


def write_index(folder: Path) -> None:
    """Writes the summaries of a corpus folder beside its tasks, each with the digest of the files it was made from."""
    old = read_index(folder)
    entries: dict[str, Any] = {}
    for place in _task_folders(folder):
        try:
            known = _indexed(old, place) or summary(read_task(place))
        except PlaygroundError:
            continue  # it is reported where the corpus is opened
        entries[place.name] = {"files": files_digest(place), "summary": to_json(known)}
    text = json.dumps({"format": INDEX_FORMAT, "tasks": entries}, indent=1) + "\n"
    growing = folder / f".{INDEX}-{os.getpid()}"
    try:
        growing.write_text(text, encoding="utf-8")
        os.replace(growing, folder / INDEX)
    except OSError as error:
        raise InfrastructureError(f"The index of {folder} cannot be written: {error.strerror}.") from error


def files_digest(folder: Path) -> str:
    """Digest of the names and contents of the files below a folder."""
    digest = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(root, name)
            digest.update(os.path.relpath(path, folder).encode() + b"\0")
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:20]


def _indexed(index: dict[str, Any], place: Path) -> TaskSummary | None:
    entry = index.get(place.name)
    if not isinstance(entry, dict):
        return None
    try:
        if entry.get("files") != files_digest(place):
            return None
        return from_json(TaskSummary, entry.get("summary"))
    except (OSError, BadInput):
        return None


def _checked(subgraph: Subgraph) -> tuple[str, ...]:
    try:
        return operator_sequence(parse(subgraph.code))
    except BadInput as error:
        raise BadInput(f"{subgraph.id}/model.py: {error}") from error


def _content(task: Task) -> Task:
    return replace(task, split="")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False  # too long, or no path at all


def _elements(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _task_folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith((".", "__"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"The corpus folder {folder} cannot be read: {error.strerror}.") from error
    return [path for name in sorted(names) if is_task(path := folder / name)]


def _found(source: Path) -> Iterator[Path]:
    """Every task at or below a folder, not looking inside tasks, nor through links."""
    for root, folders, _ in os.walk(source):
        folders.sort()
        if is_task(Path(root)):
            folders.clear()
            yield Path(root)
