"""The tasks at hand: browsing, finding, importing and exporting them."""

import functools
import hashlib
import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passnet_core.corpus.layout import is_task, read_task, write_task
from passnet_core.corpus.packs import SUFFIX, Pack, content_of, packs_in, writing
from passnet_core.corpus.summaries import TaskSummary, summary
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError, UnknownItem
from passnet_core.records import Subgraph, Task, from_json, to_json

INDEX = "index.json"
INDEX_FORMAT = 1

IMPORTED = f"imported{SUFFIX}"
"""The pack that imports go to."""

MOST_ELEMENTS = 1 << 32
"""Of one input."""


@dataclass(frozen=True)
class ImportReport:
    """What an import brought: names of the tasks, their subgraphs in all, and what could not be read."""

    tasks: tuple[str, ...]
    subgraphs: int
    problems: tuple[str, ...]


class Corpus:
    """The tasks in some folders, each in a folder of its own or in packs; of two with the same name the first one met
    counts. Safe to share by threads."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._lock = threading.RLock()
        self._read: dict[str, Task] = {}
        self.revision = 0
        """Grows with every look at the folders."""
        self.refresh()

    def refresh(self) -> None:
        """Looks at the folders anew."""
        readers: dict[str, Callable[[], Task]] = {}
        summaries: dict[str, TaskSummary] = {}
        problems: list[str] = []
        for folder in self.folders:
            hidden = 0
            index = read_index(folder)
            for place in _task_folders(folder):
                if place.name in readers:
                    problems.append(f"Task {place.name!r} in {folder} is hidden by one of the same name.")
                    continue
                readers[place.name] = functools.partial(read_task, place)
                try:
                    summaries[place.name] = _indexed(index, place) or summary(read_task(place))
                except PlaygroundError as error:
                    problems.append(f"Task {place.name!r} is left out: {error}")
            for pack in _packs(folder, problems):
                for name, entry in pack.entries.items():
                    if name in readers:
                        hidden += 1
                        continue
                    readers[name] = functools.partial(pack.task, name)
                    summaries[name] = entry.summary
            if hidden:
                problems.append(f"Of the tasks in packs of {folder}, {hidden} cannot be seen for others of their name.")
        with self._lock:
            self.revision += 1
            self._read.clear()
            self._readers = readers
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
            reader = self._readers.get(task_id)
            if reader is None:
                raise UnknownItem(
                    f"Task {task_id!r} is not in this corpus. See them with: python -m passnet_core corpus list"
                )
            if task_id not in self._read:
                self._read[task_id] = reader()
            return self._read[task_id]

    def resolve(self, name_or_folder: str) -> Task:
        """A task by name, or else the one in a folder in PassNet's layout."""
        if name_or_folder in self._readers:
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
        return self.task(task_id).subgraph(subgraph_id)

    def import_folder(
        self,
        source: Path,
        into: Path,
        *,
        listed: Sequence[str] | None = None,
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> ImportReport:
        """Copies every task below source into a pack in the folder into; what cannot be read does not stop the rest.

        What is there already with the same content is not written again, so that an import that was interrupted goes
        on where it was. listed: only what lies below these folders, named from source on. progress: told how many
        folders were looked at, and of how many.
        """
        if not _is_folder(source):
            raise UnknownItem(f"There is no folder {source} to import from.")
        problems: list[str] = []
        places = list(_found(source)) if listed is None else list(_found_of(source, listed, problems))
        if not places:
            words = "; ".join(problems[:3]) or "no folder below it has graph_list.txt or model.py"
            raise BadInput(f"{source} holds no task: {words}.")
        brought: list[str] = []
        subgraphs = 0
        with writing(into / IMPORTED) as pack:
            for done, place in enumerate(places):
                progress(done, len(places))
                try:
                    task = read_task(place)
                    known = summary(task)
                    check_sizes(task)
                    # a task that is here under that name, in whichever folder, is never replaced
                    here = pack.entries[task.id].content if task.id in pack.entries else self._content(task.id)
                    if not here:
                        pack.append(task, known)
                    elif here != content_of(task):
                        raise BadInput("a task of that name with other content is here already. Rename the folder.")
                    brought.append(task.id)
                    subgraphs += len(task.subgraphs)
                except BadInput as error:
                    problems.append(f"{place.resolve().name}: {error}")
        progress(len(places), len(places))
        if into not in self.folders:
            self.folders = (*self.folders, into)
        self.refresh()
        return ImportReport(tuple(brought), subgraphs, tuple(problems))

    def _content(self, task_id: str) -> str:
        return content_of(self.task(task_id)) if task_id in self._readers else ""

    def models(self, names: Sequence[str], problems: list[str]) -> list[Subgraph]:
        """What these names stand for, to be cut: all subgraphs of a task of the corpus, or of every task below a
        folder. Appends to problems what cannot be read. Raises UnknownItem for a name that is neither."""
        found: list[Subgraph] = []
        for name in names:
            if name in self._readers:
                found += self.task(name).subgraphs
                continue
            if not _is_folder(Path(name)):
                raise UnknownItem(f"{name!r} is neither a task of this corpus nor a folder.")
            places = list(_found(Path(name)))
            if not places:
                problems.append(f"{name}: no folder below it has graph_list.txt or model.py")
            for place in places:
                try:
                    task = read_task(place)
                    check_sizes(task)
                    found += task.subgraphs
                except BadInput as error:
                    problems.append(f"{place.resolve().name}: {error}")
        return found

    def export(self, task_id: str, destination: Path) -> Path:
        """Writes the task to destination/<its name> and returns that folder. Raises BadInput where it exists."""
        folder = destination / task_id
        write_task(self.task(task_id), folder)
        return folder


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


def _packs(folder: Path, problems: list[str]) -> Iterator[Pack]:
    for path in packs_in(folder):
        try:
            pack = Pack(path)
        except BadInput as error:
            problems.append(str(error))
            continue
        if pack.problem:
            problems.append(pack.problem)
        yield pack


def check_sizes(task: Task) -> None:
    """Raises BadInput for what no machine could hold, by its description alone."""
    for subgraph in task.subgraphs:
        for spec in subgraph.inputs:
            if min(spec.shape, default=0) < 0 or math.prod(spec.shape) > MOST_ELEMENTS:
                raise BadInput(
                    f"{subgraph.id}: input {spec.name} has the shape {list(spec.shape)}; at most"
                    f" {MOST_ELEMENTS:,} elements are taken in."
                )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False  # too long, or no path at all


def _task_folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith((".", "__"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"The corpus folder {folder} cannot be read: {error.strerror}.") from error
    return [path for name in sorted(names) if is_task(path := folder / name)]


def read_list(file: Path) -> tuple[str, ...]:
    """The folders that a sample list names, one in a line; what begins with # is none. Raises BadInput."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise BadInput(f"The list {file} cannot be read: {error}") from error
    return tuple(dict.fromkeys(word for line in lines if (word := line.strip()) and not word.startswith("#")))


def _found_of(source: Path, listed: Sequence[str], problems: list[str]) -> Iterator[Path]:
    """Every task at or below the listed folders, each once; one of which none can be found is a problem."""
    top, seen = source.resolve(), set[Path]()
    for name in listed:
        place = source / name
        inside = "\0" not in name and place.resolve().is_relative_to(top)
        found = list(_found(place)) if inside and _is_folder(place) else []
        if not found:
            problems.append(f"{name}: {'there is no task' if inside else 'it lies outside the folder'}")
        for each in found:
            if each.resolve() not in seen:
                seen.add(each.resolve())
                yield each


def _found(source: Path) -> Iterator[Path]:
    """Every task at or below a folder, not looking inside tasks, nor through links."""
    for root, folders, _ in os.walk(source):
        folders.sort()
        if is_task(Path(root)):
            folders.clear()
            yield Path(root)
