"""Raw bytes on a socket: what the cases of the fuzzer send to servers, and what has to hold of what comes back."""

import contextlib
import json
import logging
import re
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from urllib.parse import urlsplit

import h11
import pytest

from passnet_core.server import entrance
from tests.contract.judge_served import served
from tests.contract.programs_served import Program, playground
from tests.example_playground import PASS, TASK_ID, answer, task
from tests.fake_backend import FakeBackend
from tests.fuzzing.cases import OF_PYTHON
from tests.fuzzing.ground import Ground
from tests.waiting import seconds

SECRET = "a-secret-of-alice"
QUIET_S = 0.3
"""For what is odd: how long an answer may take until the client says that nothing follows."""
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) ")


@dataclass(frozen=True)
class Sent:
    """A request as its bytes will be. pieces: in how many parts they are sent."""

    method: bytes
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""
    version: bytes = b"HTTP/1.1"
    pieces: int = 1

    def with_header(self, name: bytes, value: bytes) -> "Sent":
        """The same with this header, in the place of those of its name."""
        others = tuple(header for header in self.headers if header[0].lower() != name.lower())
        return replace(self, headers=(*others, (name, value)))

    def encoded(self) -> bytes:
        lines = (b" ".join((self.method, self.target, self.version)), *map(b": ".join, self.headers), b"")
        return b"\r\n".join(lines) + b"\r\n" + self.body


class Log(logging.Handler):
    """What servers log of their own failures."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.failures: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = logging.Formatter().format(record)
        # the HTTP server answers a malformed body itself, and then logs that the app answers too
        if record.exc_info and isinstance(record.exc_info[1], h11.LocalProtocolError):
            return
        if record.exc_info or record.levelno >= logging.ERROR or OF_PYTHON.search(text):
            self.failures.append(text[-1500:])

    def taken(self) -> list[str]:
        taken, self.failures = self.failures, []
        return taken


@dataclass(frozen=True)
class Door:
    """A server to which the cases speak. token: bob's, whose requests they are. right: a request that is answered with
    200 at any time. run_id: of alice, whose it is alone."""

    address: tuple[str, int]
    token: str
    right: bytes
    run_id: str = ""
    log: Log = field(default_factory=Log)

    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Those of a right request to it."""
        return (
            (b"Host", b"%s:%d" % (self.address[0].encode(), self.address[1])),
            (b"Authorization", b"Bearer " + self.token.encode()),
            (b"Content-Type", b"application/json"),
            (b"Accept", b"application/json, text/event-stream"),
            (b"Connection", b"close"),
        )


@contextlib.contextmanager
def doors(ground: Ground) -> Iterator[None]:
    """Serve programs, agents and the judge's callers, with a judge that answers at once. Alice has a run and a
    conversation that bob may not see."""
    log, fake = Log(), FakeBackend(answer)
    of_alice = PASS.replace("Adds and rectifies", SECRET)
    with contextlib.ExitStack() as stack:
        programs = stack.enter_context(playground(ground.folder / "programs", fake, [task()], many=True))
        alice, bob = programs.program("alice"), programs.program("bob")
        run = alice.judged(task=TASK_ID, bundle={"passes": [{"name": "a.py", "code": of_alice}]}, label=SECRET)
        tokens = {name: f"the token of {name}" for name in ("alice", "bob")}
        judge = stack.enter_context(served(ground.folder / "callers", fake, [task()], tokens=tokens))
        opening = {"task": TASK_ID, "bundle": {"passes": [{"name": "a.py", "code": of_alice}]}}
        opened = Program(judge.url, tokens["alice"]).ask("POST", "/sessions", opening)
        assert opened.status == 201, opened
        patching = stack.enter_context(pytest.MonkeyPatch.context())
        # a body that does not come is not waited for; the first request of a service takes longer than others
        patching.setattr(entrance, "BODY_S", 2 * QUIET_S)
        ground.doors = {
            "programs": _door(programs.url, bob.token, "/api/me", run["run"], log),
            "judge": _door(judge.url, tokens["bob"], "/guide", opened.data["id"], log),
        }
        loggers = [logging.getLogger(name) for name in ("", "uvicorn")]  # uvicorn's does not pass on to the root
        for logger in loggers:
            logger.addHandler(log)
            stack.callback(logger.removeHandler, log)
        yield


def _door(url: str, token: str, path: str, run_id: str, log: Log) -> Door:
    where = urlsplit(url)
    door = Door((str(where.hostname), int(where.port or 0)), token, b"", run_id, log)
    return replace(door, right=Sent(b"GET", path.encode(), door.headers()).encoded())


def exchange(door: Door, data: bytes, pieces: int = 1, quiet_s: float = QUIET_S) -> bytes:
    """Send these bytes, and return all that comes back until the server hangs up. Raises TimeoutError if it does not,
    OSError if it does not listen. quiet_s: after so many seconds without a byte the client says that nothing follows,
    as the server may wait for it."""
    received = bytearray()
    with socket.create_connection(door.address, timeout=seconds(20)) as connection:
        _send(connection, data, pieces)
        with contextlib.suppress(ConnectionError):  # it may hang up while bytes are still on their way
            connection.settimeout(quiet_s)
            with contextlib.suppress(TimeoutError):
                _receive(connection, received)
                return bytes(received)
            connection.settimeout(seconds(20))
            connection.shutdown(socket.SHUT_WR)
            _receive(connection, received)
    return bytes(received)


def _send(connection: socket.socket, data: bytes, pieces: int) -> None:
    """Send these bytes in so many pieces. The server may hang up before it has heard all."""
    size = max(1, -(-len(data) // pieces))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for start in range(0, len(data), size):
            connection.sendall(data[start : start + size])


def _receive(connection: socket.socket, received: bytearray) -> None:
    while data := connection.recv(1 << 16):
        received += data


def problems_after(door: Door, data: bytes, pieces: int = 1) -> Iterator[str]:
    """Send these bytes, and say what does not hold: no failure of the server, a sentence of what is wrong, nothing that
    is another's, and an answer to the next request."""
    try:
        received = exchange(door, data, pieces)
    except TimeoutError:
        received = b""
        yield "the server neither answers nor hangs up"
    statuses = [int(status) for status in STATUS_LINE.findall(received)]
    yield from (f"status {status}: {received[:600]!r}" for status in statuses if status >= 500 and status != 503)
    if len(statuses) == 1 and statuses[0] >= 400 and not data.startswith(b"HEAD"):
        yield from _unclear(statuses[0], received)
    if SECRET.encode() in received:
        yield f"something of another's: {received[:600]!r}"
    if STATUS_LINE.findall(after := exchange(door, door.right, quiet_s=seconds(20))) != [b"200"]:
        yield f"the next right request is answered with {after[:300]!r}"
    yield from door.log.taken()


def _unclear(status: int, received: bytes) -> Iterator[str]:
    """What is wrong with how something was refused. The HTTP server and MCP's transport do it in plain text, or by the
    status alone."""
    head, _, body = received.partition(b"\r\n\r\n")
    said = body.decode(errors="replace")
    if b"application/json" in head:
        error = json.loads(body).get("error")
        said = error["message"] if isinstance(error, dict) else ""
    elif not body and status < 500:
        return
    if not said or OF_PYTHON.search(said):
        yield f"status {status} without a word of what is wrong: {received[:600]!r}"


def picked(rng: Random, options: Sequence[bytes], door: Door) -> bytes:
    """One of these, in which the id of what is alice's may be meant."""
    return rng.choice(options).replace(b"ALICES", door.run_id.encode())
