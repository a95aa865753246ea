"""Open the store from any process. The first process opens the file and serves the others over a local socket."""

import contextlib
import functools
import threading
import time
from pathlib import Path
from typing import Any, cast

from passnet_core.errors import StoreError
from passnet_core.store.base import FILE, QUESTIONS, Store, StoreBusy, StoreGone
from passnet_core.store.database import Database
from passnet_core.store.remote import RemoteStore, StoreServer

SOCKET = "store.sock"
PATIENCE_S = 10.0
"""How long to wait for a process that has the file open but does not answer: it is starting or ending."""


def open_store(home: Path, *, patience_s: float = PATIENCE_S) -> Store:
    """Open the store in this folder, created if missing.
    Raises StoreError if the folder or the file cannot be used, or if a process that does not share it has it open."""
    return cast(Store, SharedStore(home, patience_s))


class SharedStore:
    """Has the file open, or asks the process that has it open. When that process ends, this one opens the file."""

    def __init__(self, home: Path, patience_s: float) -> None:
        self._home = home
        self._patience_s = patience_s
        self._lock = threading.RLock()
        self._closed = False
        self._server: StoreServer | None = None
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"The folder {home} for the results cannot be created: {error.strerror}. "
                "Set PASSNET_HOME to another folder."
            ) from error
        self._current: Database | RemoteStore | None = self._open()

    def __getattr__(self, name: str) -> Any:
        if name not in QUESTIONS:
            raise AttributeError(name)
        return functools.partial(self._ask, name)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._server is not None:
                self._server.close()
            if self._current is not None:
                self._current.close()
            self._current, self._server = None, None

    def _ask(self, name: str, *arguments: Any) -> Any:
        current = self._reached(None)
        try:
            return getattr(current, name)(*arguments)
        except StoreGone:
            # that process has ended; asking again is safe, as no method writes the same data twice
            return getattr(self._reached(current), name)(*arguments)

    def _reached(self, gone: Database | RemoteStore | None) -> Database | RemoteStore:
        """Return the open store, after opening it again if it is the one that was found gone."""
        with self._lock:
            if self._closed:
                raise StoreError("The results file is closed: the playground is shutting down. Start it again.")
            if self._current is None or self._current is gone:
                self._current = None
                self._current = self._open()
            return self._current

    def _open(self) -> Database | RemoteStore:
        socket = self._home / SOCKET
        deadline = time.monotonic() + self._patience_s
        while True:
            with contextlib.suppress(StoreGone):
                return RemoteStore(socket)
            try:
                database = Database(self._home / FILE)
            except StoreBusy:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
                continue
            with contextlib.ExitStack() as undoing:
                undoing.callback(database.close)
                self._server = StoreServer(database, socket)
                undoing.pop_all()
            return database
