"""An SQLite file that threads and processes share: for what is written often and browsed by nobody, and has to survive
a kill. Results are in the store."""

import sqlite3
import threading
from pathlib import Path
from typing import Any

from passnet_core.errors import InfrastructureError

WAIT_S = 30.0
"""How long to wait for another process that writes."""


class SharedFile:
    """Safe to share between threads, and between processes. Every statement is on the disk when its method returns.
    All methods raise InfrastructureError if the file cannot be used."""

    def __init__(self, path: Path, schema: str) -> None:
        """Open the file, or create it. schema: statements that change nothing in a file that has the tables."""
        self._lock = threading.Lock()
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
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
