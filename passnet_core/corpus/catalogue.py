"""The corpus: browse, find, import and export the available tasks."""

import contextlib
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

from passnet_core import outside
from passnet_core.corpus.layout import is_task, read_task, write_task
from passnet_core.corpus.packs import SUFFIX, Pack, content_of, packs_in, writing
from passnet_core.corpus.summaries import TaskSummary, summary
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError, UnknownItem
from passnet_core.records import Subgraph, Task, from_json, to_json

INDEX = "index.json"
INDEX_FORMAT = 1

IMPORTED = f"imported{SUFFIX}"
"""The pack with imported tasks."""

MOST_ELEMENTS = 1 << 32
"""The most elements that one input may have."""


@dataclass(frozen=True)
class ImportReport:
    """The result of an import. tasks: their names. subgraphs: of all tasks together. problems: one sentence each."""

    tasks: tuple[str, ...]
    subgraphs: int
    problems: tuple[str, ...]


class Corpus:
    """The tasks in some folders, each in a subfolder or in a pack. Of several with the same name, the first counts.
    Threads may share it."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._lock = threading.RLock()
        self._read: dict[str, Task] = {}
        self.unlisted: Callable[[str], Task | None] = lambda task_id: None
        """Finds the tasks that can be opened by name, but are not in the list of tasks."""
        self.revision = 0
        """Grows with every refresh."""
        self.refresh()

    def refresh(self) -> None:
        """Read the folders again."""
        readers: dict[str, Callable[[], Task]] = {}
        summaries: dict[str, TaskSummary] = {}
        problems: list[str] = []
        in_folders: set[str] = set()
        for folder in self.folders:
            hidden = 0
            index = read_index(folder)
            for place in _task_folders(folder):
                if place.name in readers:
                    problems.append(f"Task {place.name!r} in {folder} is hidden: a task of that name came earlier.")
                    continue
                readers[place.name] = functools.partial(read_task, place)
                in_folders.add(place.name)
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
                problems.append(f"Tasks hidden in packs of {folder}, as tasks of their names came earlier: {hidden}.")
        with self._lock:
            self.revision += 1
            self._read.clear()
            self._readers = readers
            self._summaries = dict(sorted(summaries.items()))
            self._problems = tuple(problems)
            self.in_folders = frozenset(in_folders)
            """The names of the tasks that have a folder of their own, not in a pack."""

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each task or pack that was not read or is hidden."""
        return self._problems

    def tasks(self) -> tuple[TaskSummary, ...]:
        """Return the summary of every task, by name."""
        return tuple(self._summaries.values())

    def task(self, task_id: str) -> Task:
        """Return the task of this name. Raises UnknownItem if there is none."""
        with self._lock:
            reader = self._readers.get(task_id)
            if reader is not None:
                if task_id not in self._read:
                    self._read[task_id] = reader()
                return self._read[task_id]
        if (unlisted := self.unlisted(task_id)) is not None:
            return unlisted
        raise UnknownItem(
            f"Task {outside.quoted(task_id)} is not in this corpus. "
            "List its tasks with: python -m passnet_core corpus list"
        )

    def resolve(self, name_or_folder: str) -> Task:
        """Return the task of this name, or else read the task in this folder. Raises UnknownItem if it is neither."""
        with contextlib.suppress(UnknownItem):
            return self.task(name_or_folder)
        folder = Path(name_or_folder)
        if outside.is_folder(folder):
            return read_task(folder)
        raise UnknownItem(
            f"{outside.quoted(name_or_folder)} is neither a task of this corpus nor a folder. "
            "List the tasks with: python -m passnet_core corpus list"
        )

    def subgraph(self, task_id: str, subgraph_id: str) -> Subgraph:
        """Return a subgraph. Raises UnknownItem, naming some that exist."""
        return self.task(task_id).subgraph(subgraph_id)

    def import_folder(
        self,
        source: Path,
        into: Path,
        *,
        listed: Sequence[str] | None = None,
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> ImportReport:
        """Copy every task below source into a pack in the folder `into`. A task that cannot be read is reported, and
        does not stop the others.

        A task that the corpus already has with equal content is not written again, so a second call resumes an
        interrupted import. listed: take only tasks below these folders, given relative to source. progress: called with
        (folders done, folders in all). Raises UnknownItem if there is no such folder, BadInput if it has no task."""
        if not outside.is_folder(source):
            raise UnknownItem(f"There is no folder {source} to import from.")
        problems: list[str] = []
        places = list(_tasks_below(source)) if listed is None else list(_tasks_listed(source, listed, problems))
        if not places:
            words = "; ".join(problems[:3]) or "no folder below it has graph_list.txt or model.py"
            raise BadInput(f"{source} contains no task: {words}.")
        brought: list[str] = []
        subgraphs = 0
        with writing(into / IMPORTED) as pack:
            for done, place in enumerate(places):
                progress(done, len(places))
                try:
                    task = read_task(place)
                    known = summary(task)
                    check_sizes(task)
                    # a task of that name is never replaced, whichever folder it is in
                    here = pack.entries[task.id].content if task.id in pack.entries else self._content(task.id)
                    if not here:
                        pack.append(task, known)
                    elif here != content_of(task):
                        raise BadInput("a task of this name exists already, with different content. Rename the folder.")
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
        """Return the models to cut. Each name stands for all subgraphs of a task, or of every task below a folder.
        Appends a sentence to problems for each task that cannot be read. Raises UnknownItem for an unknown name."""
        found: list[Subgraph] = []
        for name in names:
            if name in self._readers:
                found += self.task(name).subgraphs
                continue
            if not outside.is_folder(Path(name)):
                raise UnknownItem(f"{outside.quoted(name)} is neither a task of this corpus nor a folder.")
            places = list(_tasks_below(Path(name)))
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
        """Write a task to destination/<its name>, and return that folder. Raises BadInput if it exists already."""
        folder = destination / task_id
        write_task(self.task(task_id), folder)
        return folder


def read_index(folder: Path) -> dict[str, Any]:
    """Return the entries that write_index wrote, by task name; {} without a usable index, which only saves time."""
    try:
        index = outside.from_json_text(outside.file_bytes(folder / INDEX))
    except (OSError, ValueError):
        return {}
    usable = isinstance(index, dict) and index.get("format") == INDEX_FORMAT and isinstance(index.get("tasks"), dict)
    return index["tasks"] if usable else {}


def write_index(folder: Path) -> None:
    """Write an index into a corpus folder: the summary of each task, and the digest of the files it was made from."""
    old = read_index(folder)
    entries: dict[str, Any] = {}
    for place in _task_folders(folder):
        try:
            known = _indexed(old, place) or summary(read_task(place))
        except PlaygroundError:
            continue  # reported when the corpus is opened
        entries[place.name] = {"files": files_digest(place), "summary": to_json(known)}
    text = json.dumps({"format": INDEX_FORMAT, "tasks": entries}, indent=1) + "\n"
    growing = folder / f".{INDEX}-{os.getpid()}"
    try:
        growing.write_text(text, encoding="utf-8")
        os.replace(growing, folder / INDEX)
    except OSError as error:
        raise InfrastructureError(f"The index of {folder} cannot be written: {error.strerror}.") from error


def files_digest(folder: Path) -> str:
    """Return the digest of the names and contents of all files below a folder."""
    digest = hashlib.sha256()
    above = len(os.path.join(folder, ""))
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(root, name)
            digest.update(path[above:].encode() + b"\0")
            digest.update(hashlib.sha256(outside.file_bytes(Path(path))).digest())
    return digest.hexdigest()[:20]


def _indexed(index: dict[str, Any], place: Path) -> TaskSummary | None:
    """Return the summary that the index has for a task's folder; None if it has none, or if a file has changed."""
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
    """Raise BadInput if an input is too large for any machine, judged by its shape."""
    for subgraph in task.subgraphs:
        for spec in subgraph.inputs:
            if min(spec.shape, default=0) < 0 or math.prod(spec.shape) > MOST_ELEMENTS:
                raise BadInput(
                    f"{subgraph.id}: input {spec.name} has the shape {list(spec.shape)}; at most"
                    f" {MOST_ELEMENTS:,} elements are allowed."
                )


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
    """Read a list of folders, one per line; lines that begin with # are comments. Raises BadInput."""
    try:
        lines = outside.file_text(file).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The list {file} cannot be read: {outside.cause(error)}.") from error
    return tuple(dict.fromkeys(word for line in lines if (word := line.strip()) and not word.startswith("#")))


def _tasks_listed(source: Path, listed: Sequence[str], problems: list[str]) -> Iterator[Path]:
    """Yield the folder of every task at or below the listed folders, once. A folder without a task is a problem."""
    top, seen = source.resolve(), set[Path]()
    for name in listed:
        place = source / name
        inside = "\0" not in name and place.resolve().is_relative_to(top)
        found = list(_tasks_below(place)) if inside and outside.is_folder(place) else []
        if not found:
            problems.append(f"{name}: {'it contains no task' if inside else 'it is outside the source folder'}")
        for each in found:
            if each.resolve() not in seen:
                seen.add(each.resolve())
                yield each


def _tasks_below(source: Path) -> Iterator[Path]:
    """Yield the folder of every task at or below a folder, without entering tasks or following links."""
    for root, folders, _ in os.walk(source):
        folders.sort()
        if is_task(Path(root)):
            folders.clear()
            yield Path(root)
