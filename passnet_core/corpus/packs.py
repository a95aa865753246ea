"""Packs: many tasks in one file that only grows.

NAME.jsonl.gz        one JSON line per subgraph. Each task is a gzip member of its own and can be read alone; the whole
                     file can be read with zcat, or as a table with DuckDB's read_json.
NAME.index.jsonl     one line per task: its summary, and the offset and length of its member. It only saves time;
                     missing lines are computed from the pack.

A killed writer leaves at most one incomplete member at the end. Readers ignore it, and the next writer removes it."""

import contextlib
import fcntl
import gzip
import json
import os
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from passnet_core import outside
from passnet_core.corpus.summaries import TaskSummary, summary, summary_from_json
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import Family, Subgraph, Task, digest_of, from_json, to_json

SUFFIX, INDEX_SUFFIX = ".jsonl.gz", ".index.jsonl"

LARGEST_TASK_BYTES = 256 << 20
"""The most bytes of one task's lines when unpacked."""

CHUNK_BYTES = 1 << 16
BATCH_BYTES = 1 << 20
"""A writer commits when it holds more compressed bytes than this."""
LEVEL = 9


@dataclass(frozen=True)
class PackEntry:
    """A task's entry in the index. offset, length: its gzip member, in bytes. content: the digest from content_of."""

    summary: TaskSummary
    offset: int
    length: int
    content: str


class Pack:
    """A pack opened for reading; tasks appended later do not show. Threads may share it.

    entries: by task name. problem: why some of the file was not read, in a sentence; empty: all was. torn: whether the
    only problem is an incomplete last task. recovered: entries that the index lacks. end: where the last complete
    member ends. indexed: how many bytes of the index are valid."""

    def __init__(self, path: Path) -> None:
        """Open the pack. Raises BadInput if the file cannot be read."""
        self.path = path
        self.problem, self.torn = "", False
        self._lock = threading.Lock()
        try:
            self._file = outside.opened(path)
            self.entries, self.indexed = _read_index(path, os.fstat(self._file.fileno()).st_size)
            self.end = max((entry.offset + entry.length for entry in self.entries.values()), default=0)
            self.recovered = tuple(self._found_after(self.end))
        except OSError as error:
            raise BadInput(f"{path.name} cannot be read: {error.strerror}.") from error
        for entry in self.recovered:
            self.entries[entry.summary.id] = entry
            self.end = entry.offset + entry.length

    def task(self, task_id: str) -> Task:
        """Return the task of this name. Raises KeyError if there is none, BadInput if pack or index is damaged."""
        entry = self.entries[task_id]
        try:
            with self._lock:
                self._file.seek(entry.offset)
                found = self._file.read(entry.length)
            task = task_of(gzip.decompress(found))
        except (OSError, EOFError, zlib.error, BadInput) as error:
            raise BadInput(f"Task {task_id!r} in {self.path.name} is damaged ({error}). Import it again.") from error
        if task.id != task_id:
            raise BadInput(f"{index_of(self.path).name} does not fit the pack at task {task_id!r}. Delete that file.")
        return task

    def _found_after(self, start: int) -> Iterator[PackEntry]:
        for offset, length, lines in self._members(start):
            try:
                task = task_of(lines)
                yield PackEntry(summary(task), offset, length, content_of(task))
            except BadInput as error:
                self.problem = f"{self.path.name}: the part at byte {offset} is left out: {error}"

    def _members(self, start: int) -> Iterator[tuple[int, int, bytes]]:
        """Yield (offset, length, content) of every complete gzip member from this offset on."""
        size = self._file.seek(0, os.SEEK_END)
        while start < size:
            self._file.seek(start)
            unpacking, parts, fed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), [b""], 0
            try:
                while not unpacking.eof and (chunk := self._file.read(CHUNK_BYTES)):
                    fed += len(chunk)
                    parts.append(unpacking.decompress(chunk, LARGEST_TASK_BYTES))
            except zlib.error as error:
                self.problem = f"{self.path.name} is damaged after {start} bytes ({error}): the rest is left out."
                return
            if not unpacking.eof:
                self.problem = f"{self.path.name} ends inside a task: an import was interrupted. Run the import again."
                self.torn = True
                return
            length = fed - len(unpacking.unused_data)
            yield start, length, b"".join(parts)
            start += length


class Writer:
    """Appends tasks to a pack. Tasks that commit() has written survive a crash. Use writing() to get a writer."""

    def __init__(self, pack: Pack, data: IO[bytes], index: IO[bytes]) -> None:
        self.entries = dict(pack.entries)
        self._data, self._index = data, index
        self._end = pack.end
        self._waiting: list[tuple[bytes, PackEntry]] = []
        self._bytes = 0

    def append(self, task: Task, known: TaskSummary) -> None:
        """Add a task whose name is new. known: its summary."""
        member = gzip.compress(lines_of(task), LEVEL, mtime=0)
        entry = PackEntry(known, self._end, len(member), content_of(task))
        self.entries[task.id] = entry
        self._waiting.append((member, entry))
        self._end += len(member)
        self._bytes += len(member)
        if self._bytes > BATCH_BYTES:
            self.commit()

    def commit(self) -> None:
        """Write the appended tasks to the disk. Raises OSError, after which none of them counts as written."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if not waiting:
            return
        try:
            self._data.write(b"".join(member for member, _ in waiting))
            self._data.flush()
            os.fsync(self._data.fileno())
            self._index.write(b"".join(_index_line(entry) for _, entry in waiting))
            self._index.flush()
        except OSError:
            self._end = waiting[0][1].offset
            for _, entry in waiting:
                del self.entries[entry.summary.id]
            raise


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """Open a pack for writing, created if missing. Commits at the end, even if the block raises.
    Raises BadInput while another process writes the pack, InfrastructureError if the disk refuses it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as data:
            try:
                fcntl.flock(data, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BadInput(f"Another import into {path.parent} is running. Wait until it ends.") from None
            pack = Pack(path)
            if pack.problem and not pack.torn:
                raise BadInput(f"{pack.problem} Move {path} away before you import again.")
            data.truncate(pack.end)
            with index_of(path).open("ab") as index:
                index.truncate(pack.indexed)
                index.write(b"".join(map(_index_line, pack.recovered)))
                writer = Writer(pack, data, index)
                try:
                    yield writer
                finally:
                    writer.commit()
    except OSError as error:
        raise InfrastructureError(
            f"{path} cannot be written: {error.strerror}. Tasks written before are kept."
        ) from error


def write_pack(path: Path, tasks: Iterable[Task]) -> None:
    """Write a new pack, replacing an old one at once when complete. The same tasks give the same bytes."""
    growing = path.with_name(f".growing-{os.getpid()}-{path.name}")
    try:
        with writing(growing) as writer:
            for task in tasks:
                writer.append(task, summary(task))
        # readers can do without an index, but not with the old pack's
        index_of(path).unlink(missing_ok=True)
        os.replace(growing, path)
        os.replace(index_of(growing), index_of(path))
    finally:
        for left in (growing, index_of(growing)):
            left.unlink(missing_ok=True)


def packs_in(folder: Path) -> list[Path]:
    """Return the packs of a folder by name; none if the folder does not exist."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))


def index_of(path: Path) -> Path:
    """Return the path of a pack's index."""
    return path.with_name(path.name.removesuffix(SUFFIX) + INDEX_SUFFIX)


def content_of(task: Task) -> str:
    """Return the digest of everything in a task except its split."""
    return digest_of(to_json(replace(task, split="")))


def lines_of(task: Task) -> bytes:
    """Return a task as JSON lines, one per subgraph. Raises BadInput for a task without subgraphs."""
    if not task.subgraphs:
        raise BadInput(f"Task {task.id!r} has no subgraph.")
    shared = {"task": task.id, "family": task.family.value, "split": task.split}
    rows = [
        {
            **shared,
            "subgraph": each.id,
            "source_model": each.source_model,
            "code": each.code,
            "inputs": to_json(each.inputs),
        }
        for each in task.subgraphs
    ]
    return "".join(json.dumps(row, separators=(",", ":"), allow_nan=False) + "\n" for row in rows).encode()


def task_of(lines: bytes) -> Task:
    """Read a task from its lines: the inverse of lines_of. Raises BadInput if they are not a task's."""
    try:
        rows = [outside.from_json_text(line) for line in lines.splitlines()]
        first = rows[0]
        subgraphs = tuple(_subgraph_of(row) for row in rows)
        return Task(first["task"], Family(first["family"]), first["split"], subgraphs)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise BadInput(f"these are not the lines of a task: {error}") from error


def _subgraph_of(row: dict[str, Any]) -> Subgraph:
    kept = {name: value for name, value in row.items() if name not in ("task", "family", "split", "subgraph")}
    return from_json(Subgraph, {**kept, "id": row["subgraph"], "task_id": row["task"]})


def _index_line(entry: PackEntry) -> bytes:
    where = {"offset": entry.offset, "length": entry.length, "content": entry.content}
    return json.dumps({**where, "summary": to_json(entry.summary)}, separators=(",", ":")).encode() + b"\n"


def _read_index(path: Path, size: int) -> tuple[dict[str, PackEntry], int]:
    """Return the entries of the index that fit a pack of this size, and how many bytes of the index they take."""
    entries: dict[str, PackEntry] = {}
    end = read = 0
    try:
        lines = outside.file_bytes(index_of(path)).splitlines(keepends=True)
    except FileNotFoundError:
        return entries, read
    for line in lines:
        entry = _entry_of(line)
        if entry is None or entry.offset != end or end + entry.length > size:
            break
        entries[entry.summary.id] = entry
        end += entry.length
        read += len(line)
    return entries, read


def _entry_of(line: bytes) -> PackEntry | None:
    if not line.endswith(b"\n"):
        return None
    try:
        data: Mapping[str, Any] = outside.from_json_text(line)
        return PackEntry(summary_from_json(data["summary"]), int(data["offset"]), int(data["length"]), data["content"])
    except (ValueError, TypeError, KeyError, OverflowError):
        return None
