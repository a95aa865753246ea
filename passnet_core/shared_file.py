"""An SQLite file that threads and processes share: for what is written often and browsed by nobody, and has to survive
a kill. Results are in the store."""

import contextlib
import sqlite3
import threading
from pathlib import Path
from typing import Any

from passnet_core.errors import InfrastructureError

WAIT_S = 30.0
"""How long to wait for another process that writes."""
LOG_BEGINS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""How SQLite's write-ahead log begins, if it has anything. SQLite writes over a log that begins otherwise."""


class SharedFile:
    """Safe to share between threads, and between processes. Every statement is on the disk when its method returns.
    All methods raise InfrastructureError if the file cannot be used."""

    def __init__(self, path: Path, schema: str) -> None:
        """Open the file, or create it. schema: statements that change nothing in a file that has the tables."""
        self._lock = threading.Lock()
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _check_log(path)
            self._file = sqlite3.connect(path, timeout=WAIT_S, check_same_thread=False, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.executescript(schema)
        except (OSError, sqlite3.Error) as error:
            raise InfrastructureError(
                f"{path} cannot be opened: {error}. Name another folder with PASSNET_HOME, or move it away."
            ) from error

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement, and return its rows."""
        try:
            with self._lock:
                return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise InfrastructureError(
                f"{self.path} cannot be used: {error}. Free disk space, then ask again."
            ) from error

    def row(self, statement: str, *values: Any) -> Any | None:
        """Execute a statement, and return its first row; None if there is none."""
        found = self.rows(statement, *values)
        return found[0] if found else None

    def close(self) -> None:
        with self._lock:
            self._file.close()


def _check_log(path: Path) -> None:
    """Raises InfrastructureError for a log that SQLite would write over, or with which it would spoil the file."""
    log = path.with_name(f"{path.name}-wal")
    try:
        begins = log.read_bytes()[:4]
    except FileNotFoundError:
        return
    except OSError as error:
        raise _broken_log(log, error.strerror or str(error)) from error
    if not begins:
        return
    if begins not in LOG_BEGINS:
        raise _broken_log(log, "it is none of SQLite's")
    if not path.exists():
        raise _broken_log(log, "the file that it belongs to is not there")
    # a connection that may write would take the log over into the file when it closes
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", WAIT_S, uri=True)) as reading:
        try:
            found = str(reading.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.DatabaseError as error:
            found = str(error) if "malformed" in str(error) else "ok"  # whatever else it is, opening tells
    if found != "ok":
        raise _broken_log(log, f"with it, the file is damaged ({found.splitlines()[-1]})")


def _broken_log(log: Path, problem: str) -> InfrastructureError:
    return InfrastructureError(
        f"{log}, the log of what was written last to {log.name.removesuffix('-wal')}, cannot be used: {problem}. If it "
        "was damaged, move it away and start again: only what was written since the playground was last closed is lost."
    )
