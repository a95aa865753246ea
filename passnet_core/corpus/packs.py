"""Packs: many tasks in one file that only grows.

NAME.jsonl.gz        one JSON line per subgraph; each task is a gzip member of its own, so that it reads alone, and the
                     whole reads with zcat, or as a table with DuckDB's read_json
NAME.index.jsonl     per task its summary and where its member lies: a shortcut, made anew where it is missing

What is written first counts first: a writer that is killed leaves at most one member without its end, which readers
pass over and the next writer takes away.
"""

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

from passnet_core.corpus.summaries import TaskSummary, summary, summary_from_json
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import Family, Subgraph, Task, digest_of, from_json, to_json

SUFFIX, INDEX_SUFFIX = ".jsonl.gz", ".index.jsonl"

LARGEST_TASK_BYTES = 256 << 20
"""Of one task's lines. What unpacks to more is no task."""

CHUNK_BYTES = 1 << 16
BATCH_BYTES = 1 << 20
LEVEL = 9


@dataclass(frozen=True)
class PackEntry:
    """Where a task lies in its pack. content: what content_of() says of it."""

    summary: TaskSummary
    offset: int
    length: int
    content: str


class Pack:
    """A pack for reading; what is appended later is not seen. Safe to share by threads.

    problem: a sentence where not all of the file could be read; torn: it only lacks the end of its last task. indexed:
    how many bytes of the index are of use.
    """

    def __init__(self, path: Path) -> None:
        """Raises BadInput where the file cannot be read."""
        self.path = path
        self.problem, self.torn = "", False
        self._lock = threading.Lock()
        try:
            self._file = path.open("rb")
            self.entries, self.indexed = _read_index(path, os.fstat(self._file.fileno()).st_size)
            self.end = max((entry.offset + entry.length for entry in self.entries.values()), default=0)
            self.recovered = tuple(self._found_after(self.end))
        except OSError as error:
            raise BadInput(f"{path.name} cannot be read: {error.strerror}.") from error
        for entry in self.recovered:
            self.entries[entry.summary.id] = entry
            self.end = entry.offset + entry.length

    def task(self, task_id: str) -> Task:
        """Raises KeyError for a name it has not, BadInput where the file is not what its index says."""
        entry = self.entries[task_id]
        try:
            with self._lock:
                self._file.seek(entry.offset)
                found = self._file.read(entry.length)
            task = task_of(gzip.decompress(found))
        except (OSError, EOFError, zlib.error, BadInput) as error:
            raise BadInput(f"Task {task_id!r} in {self.path.name} is damaged ({error}). Bring it in again.") from error
        if task.id != task_id:
            raise BadInput(f"{self.path.name} holds another task where its index says {task_id!r}. Delete the index.")
        return task

    def _found_after(self, start: int) -> Iterator[PackEntry]:
        for offset, length, lines in self._members(start):
            try:
                task = task_of(lines)
                yield PackEntry(summary(task), offset, length, content_of(task))
            except BadInput as error:
                self.problem = f"{self.path.name}: what lies {offset} bytes after its start is left out: {error}"

    def _members(self, start: int) -> Iterator[tuple[int, int, bytes]]:
        """(offset, length, content) of every whole member from there on."""
        size = self._file.seek(0, os.SEEK_END)
        while start < size:
            self._file.seek(start)
            unpacking, parts, fed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), [b""], 0
            try:
                while not unpacking.eof and (chunk := self._file.read(CHUNK_BYTES)):
                    fed += len(chunk)
                    parts.append(unpacking.decompress(chunk, LARGEST_TASK_BYTES))
            except zlib.error as error:
                self.problem = f"{self.path.name} is damaged after {start} bytes ({error}): what follows is left out."
                return
            if not unpacking.eof:
                self.problem = f"{self.path.name} ends amid a task, as when an import is interrupted. Run it again."
                self.torn = True
                return
            length = fed - len(unpacking.unused_data)
            yield start, length, b"".join(parts)
            start += length


class Writer:
    """Appends to a pack, which only one at a time may do. What commit() has written survives whatever happens then."""

    def __init__(self, pack: Pack, data: IO[bytes], index: IO[bytes]) -> None:
        self.entries = dict(pack.entries)
        self._data, self._index = data, index
        self._end = pack.end
        self._waiting: list[tuple[bytes, PackEntry]] = []
        self._bytes = 0

    def append(self, task: Task, known: TaskSummary) -> None:
        """Adds a task whose name is not there yet. known: its summary."""
        member = gzip.compress(lines_of(task), LEVEL, mtime=0)
        entry = PackEntry(known, self._end, len(member), content_of(task))
        self.entries[task.id] = entry
        self._waiting.append((member, entry))
        self._end += len(member)
        self._bytes += len(member)
        if self._bytes > BATCH_BYTES:
            self.commit()

    def commit(self) -> None:
        """Puts what was appended on the disk. Raises OSError, and then it is not there."""
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
    """A writer of this pack, which is made where it is not there. Commits at the end, also where that is an error.

    Raises BadInput while another process writes it, InfrastructureError where the disk does not take it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as data:
            try:
                fcntl.flock(data, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BadInput(f"Another import into {path.parent} is under way. Wait for it to end.") from None
            pack = Pack(path)
            if pack.problem and not pack.torn:
                raise BadInput(f"{pack.problem} Move {path} away before adding to it.")
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
            f"{path} cannot be written: {error.strerror}. What was written before is kept."
        ) from error


def write_pack(path: Path, tasks: Iterable[Task]) -> None:
    """Writes a pack anew: the same bytes for the same tasks. It appears whole, or not at all."""
    growing = path.with_name(f".growing-{os.getpid()}-{path.name}")
    try:
        with writing(growing) as writer:
            for task in tasks:
                writer.append(task, summary(task))
        # without an index a pack is whole, with that of another it is not
        index_of(path).unlink(missing_ok=True)
        os.replace(growing, path)
        os.replace(index_of(growing), index_of(path))
    finally:
        for left in (growing, index_of(growing)):
            left.unlink(missing_ok=True)


def packs_in(folder: Path) -> list[Path]:
    """The packs of a folder, by name; none where there is no folder."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))


def index_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(SUFFIX) + INDEX_SUFFIX)


def content_of(task: Task) -> str:
    """Digest of all of a task but the split it was put into."""
    return digest_of(to_json(replace(task, split="")))


def lines_of(task: Task) -> bytes:
    """A task as JSON lines, one per subgraph. Raises BadInput for one without."""
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
    """The inverse of lines_of. Raises BadInput."""
    try:
        rows = [json.loads(line) for line in lines.splitlines()]
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
    """The entries of the index that fit the file, and how many bytes of it they take."""
    entries: dict[str, PackEntry] = {}
    end = read = 0
    try:
        lines = index_of(path).read_bytes().splitlines(keepends=True)
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
        data: Mapping[str, Any] = json.loads(line)
        return PackEntry(summary_from_json(data["summary"]), int(data["offset"]), int(data["length"]), data["content"])
    except (ValueError, TypeError, KeyError):
        return None
