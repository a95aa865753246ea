"""The store over a local socket: one JSON line calls a method, one JSON line returns its result."""

import contextlib
import json
import os
import socket
import struct
import tempfile
import threading
import types
import typing
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from passnet_core.errors import BadInput, PlaygroundError, StoreError, StoreRefusal
from passnet_core.records import from_json, to_json
from passnet_core.store.base import QUESTIONS, Store, StoreGone

ANSWER_WITHIN_S = 120.0
"""How long a client waits for an answer."""
ASK_WITHIN_S = 10.0
"""How long connecting may take, and sending a request."""
LARGEST_REQUEST_BYTES = 256 * 2**20
ERRORS: dict[str, type[PlaygroundError]] = {each.__name__: each for each in (StoreRefusal, BadInput, StoreError)}


class RemoteStore:
    """The store that another process has open. base.Store documents its methods."""

    def __init__(self, path: Path) -> None:
        """Connect to the socket at this path. Raises StoreGone if no process answers."""
        self._path = path
        self._ask("recorded_files")

    def __getattr__(self, name: str) -> Any:
        if name not in QUESTIONS:
            raise AttributeError(name)
        return partial(self._ask, name)

    def close(self) -> None:
        """Do nothing: no connection stays open between calls."""

    def _ask(self, name: str, *arguments: Any) -> Any:
        try:
            with _connected(self._path) as connection:
                connection.settimeout(ANSWER_WITHIN_S)
                connection.sendall(_line({"ask": name, "arguments": [to_json(each) for each in arguments]}))
                connection.shutdown(socket.SHUT_WR)
                text = _received(connection)
        except TimeoutError as error:
            raise StoreError(
                f"The process that has the results file open did not answer within {ANSWER_WITHIN_S:.0f} s. Try "
                "again, or end that process."
            ) from error
        except OSError as error:
            raise StoreGone(_GONE) from error
        if not text.endswith(b"\n"):
            raise StoreGone(_GONE)
        reply = json.loads(text)
        if "error" in reply:
            raise ERRORS.get(reply["error"], StoreError)(reply["message"])
        return _decoded(_kinds(name)["return"], reply["answer"])


_GONE = "The process that had the results file open has ended. Try again."


class StoreServer:
    """Answers other processes of the same user until it is closed."""

    def __init__(self, store: Any, path: Path) -> None:
        self._store = store
        self._path = path
        self._busy: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._socket = _bound(path)
        self._thread = threading.Thread(target=self._accept, name="passnet-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer the requests that were received, then stop."""
        # shutdown wakes accept; closing alone would leave it waiting
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        with self._lock:
            busy = tuple(self._busy)
        for thread in busy:
            thread.join(ASK_WITHIN_S)
        self._path.unlink(missing_ok=True)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # the socket was closed
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                self._busy.add(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            # a client that hangs up or stalls harms only itself
            with connection, contextlib.suppress(OSError):
                connection.settimeout(ASK_WITHIN_S)
                if _same_user(connection):
                    connection.sendall(_line(self._answer(_received(connection))))
        finally:
            with self._lock:
                self._busy.discard(threading.current_thread())

    def _answer(self, request: bytes) -> dict[str, Any]:
        try:
            asked = json.loads(request)
            name, arguments = asked["ask"], asked["arguments"]
            if name not in QUESTIONS:
                raise StoreError(
                    f"The process with the results file has no method {name!r}: it runs another version. Restart it."
                )
            kinds = [kind for key, kind in _kinds(name).items() if key != "return"]
            values = [_decoded(kind, each) for kind, each in zip(kinds, arguments, strict=True)]
            return {"answer": to_json(getattr(self._store, name)(*values))}
        except PlaygroundError as error:
            kind = next((name for name, each in ERRORS.items() if isinstance(error, each)), "StoreError")
            return {"error": kind, "message": str(error)}
        except (ValueError, KeyError, TypeError) as error:
            return {"error": "StoreError", "message": f"The request to the store is not valid: {error!r}."}


@cache
def _kinds(name: str) -> dict[str, Any]:
    return typing.get_type_hints(getattr(Store, name))


def _decoded(kind: Any, data: Any) -> Any:
    if isinstance(kind, types.UnionType):
        if data is None:
            return None
        kind = next(each for each in typing.get_args(kind) if each is not types.NoneType)
    return None if kind is types.NoneType else from_json(kind, data)


def _line(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _received(connection: socket.socket) -> bytes:
    """Return everything that the other end sends before it shuts down."""
    parts, size = [], 0
    while part := connection.recv(1 << 20):
        parts.append(part)
        size += len(part)
        if size > LARGEST_REQUEST_BYTES:
            raise OSError(f"more than {LARGEST_REQUEST_BYTES} bytes were sent")
    return b"".join(parts)


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection, _address(path) as address:
        connection.settimeout(ASK_WITHIN_S)
        connection.connect(address)
        yield connection


def _bound(path: Path) -> socket.socket:
    """Return a listening socket that only this user can reach. It replaces the socket of an ended process."""
    listening = socket.socket(socket.AF_UNIX)
    try:
        with tempfile.TemporaryDirectory(prefix=".s", dir=path.parent) as private:
            with _address(Path(private) / "s") as address:
                listening.bind(address)
            os.chmod(Path(private) / "s", 0o600)
            listening.listen(16)
            os.replace(Path(private) / "s", path)
    except OSError as error:
        listening.close()
        raise StoreError(
            f"The results file cannot be shared through {path}: {error.strerror or error}. "
            "Set PASSNET_HOME to another folder."
        ) from error
    return listening


@contextlib.contextmanager
def _address(path: Path) -> Iterator[str]:
    """Yield the path or a shorter equivalent: the address of a socket may have about 100 bytes."""
    if len(os.fsencode(path)) < 100:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _same_user(connection: socket.socket) -> bool:
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True  # on other systems the socket's file mode protects it
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return user == os.getuid()
