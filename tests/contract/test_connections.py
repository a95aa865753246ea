"""Connections that keep a server waiting, over real sockets, while others use it."""

import asyncio
import contextlib
import http.client
import socket
import threading
import urllib.parse
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from passnet_core.records import Device
from passnet_core.server import awaiting, connections, entrance, web_sockets
from tests.contract.listening import listening
from tests.contract.made import task
from tests.contract.programs_served import Playground, playground
from tests.contract.scripted import by_its_text
from tests.fake_backend import FakeBackend
from tests.waiting import eventually, seconds, short

ELSEWHERE = "127.0.0.2"
"""An address of this machine that is no proxy's."""
RUNS = b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\n"
HEALTH = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have deadlines come soon."""
    for name in ("HEADERS_S", "BODY_S", "UNREAD_S"):
        monkeypatch.setattr(awaiting, name, short(1))
    monkeypatch.setattr(entrance, "BODY_S", short(1))
    monkeypatch.setattr(awaiting, "LOOK_EVERY_S", 0.2)


@pytest.fixture
def many(tmp_path: Path, soon: None) -> Iterator[Playground]:
    with playground(tmp_path, FakeBackend(by_its_text, Device.CUDA), [task()], many=True) as served:
        yield served


class Stage:
    """An application whose requests wait until they are let go, and that says what it did."""

    def __init__(self) -> None:
        self.go_on, self.stalled, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.received = 0

        async def waits(request: Request) -> PlainTextResponse:
            await asyncio.to_thread(self.go_on.wait, seconds(60))
            return PlainTextResponse("waited")

        async def stalls(request: Request) -> PlainTextResponse:
            self.stalled.set()
            self.go_on.wait(seconds(60))
            return PlainTextResponse("stalled")

        async def reads(request: Request) -> PlainTextResponse:
            return PlainTextResponse(str(len(await request.body())))

        async def writes(request: Request) -> StreamingResponse:
            return StreamingResponse(self._without_end())

        self.app = Starlette(
            routes=[
                Route("/waits", waits),
                Route("/stalls", stalls),
                Route("/reads", reads, methods=["POST"]),
                Route("/writes", writes),
                Route("/", lambda request: PlainTextResponse("here")),
                WebSocketRoute("/socket", self._hears),
            ]
        )

    def listening(self) -> contextlib.AbstractContextManager[str]:
        return listening(self.app, before_end=self.go_on.set, ws="websockets-sansio")

    async def _without_end(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(64 << 10)
                await asyncio.sleep(0)
        finally:
            self.ended.set()

    async def _hears(self, websocket: WebSocket) -> None:
        await websocket.accept()
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                self.received += len(await websocket.receive_bytes())
                await websocket.send_text(str(self.received))
        self.ended.set()


@pytest.fixture
def stage() -> Stage:
    return Stage()


def place(url: str) -> tuple[str, int]:
    found = urllib.parse.urlsplit(url)
    assert found.hostname is not None
    assert found.port is not None
    return found.hostname, found.port


def connected(url: str, begins: bytes = b"", *, address: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of this machine, over which this was sent."""
    made = socket.create_connection(place(url), seconds(30), source_address=(address, 0))
    made.sendall(begins)
    return made


def answer_of(connection: socket.socket) -> http.client.HTTPResponse:
    response = http.client.HTTPResponse(connection)
    response.begin()
    response.read()
    return response


def status(url: str, path: str = "/", *, address: str = "127.0.0.1", **headers: str) -> int:
    """The status of the answer to a request from an address of this machine."""
    asking = http.client.HTTPConnection(*place(url), timeout=seconds(30), source_address=(address, 0))
    with contextlib.closing(asking):
        asking.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return asking.getresponse().status


def has_ended(connection: socket.socket, drip: bytes) -> bool:
    """Whether the server has ended a connection over which another byte is sent, if any."""
    connection.setblocking(False)
    try:
        if drip:
            connection.send(drip)
        while said := connection.recv(65536):
            del said
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


# --- connections that keep the server waiting, while somebody works --------------------------------------------------


@pytest.mark.parametrize(
    ("number", "begins", "drip"),
    [
        pytest.param(200, b"", b"", id="idle"),
        pytest.param(200, HEALTH + b"\r\n", b"", id="kept alive"),
        pytest.param(50, HEALTH, b"X", id="slow headers"),
        pytest.param(50, HEALTH + b"\r\n" + HEALTH, b"X", id="slow headers of a second request"),
        pytest.param(50, RUNS + b"{token}Content-Length: 60000\r\n\r\n", b" ", id="slow bodies"),
        pytest.param(50, HEALTH + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", id="bodies without end"),
        pytest.param(50, b"GET /api/health HTTP/1.0\r\n", b"X", id="HTTP/1.0"),
    ],
)
def test_who_keeps_a_server_waiting_holds_up_nobody(many: Playground, number: int, begins: bytes, drip: bytes) -> None:
    attacker, program = many.program("mallory"), many.program("alice")
    begins = begins.replace(b"{token}", f"Authorization: Bearer {attacker.token}\r\n".encode())
    waiting = {connected(many.url, begins, address=ELSEWHERE) for _ in range(number)}
    answered = 0

    def ended() -> bool:
        nonlocal answered
        assert program.get("/tasks/relu")["subgraphs"]
        answered += 1
        for each in [each for each in waiting if has_ended(each, drip)]:
            each.close()
            waiting.remove(each)
        return not waiting

    assert program.ask("GET", "/api/health").status == 200
    eventually(ended, "the end of what keeps the server waiting", idle_s=30)
    assert answered


def test_a_body_that_never_ends_is_not_waited_for(stage: Stage, soon: None) -> None:
    """Where no interface has a deadline of its own."""
    with stage.listening() as url, connected(url, b"POST /reads HTTP/1.1\r\nContent-Length: 9\r\n\r\n") as waiting:
        eventually(lambda: has_ended(waiting, b""), "the end of the connection")
        assert status(url) == 200


def test_an_answer_that_nobody_reads_is_given_up(stage: Stage, soon: None) -> None:
    with stage.listening() as url, connected(url, b"GET /writes HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        assert stage.ended.wait(seconds(30))
        assert status(url) == 200


def test_an_answer_that_is_awaited_and_read_takes_as_long_as_it_takes(stage: Stage, soon: None) -> None:
    with stage.listening() as url, connected(url, b"GET /waits HTTP/1.1\r\nHost: localhost\r\n\r\n") as patient:
        with connected(url) as idle:
            # this one's deadline is over, and so would be that of the other
            eventually(lambda: has_ended(idle, b""), "the end of an idle connection")
        stage.go_on.set()
        assert answer_of(patient).status == 200


def test_requests_sent_at_once_are_answered_one_after_the_other(stage: Stage) -> None:
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    sent = 49 * (request + b"\r\n") + request + b"Connection: close\r\n\r\n"
    with stage.listening() as url, connected(url, sent) as sender, sender.makefile("rb") as answers:
        assert answers.read().count(b"HTTP/1.1 200 OK") == 50


# --- how many connections --------------------------------------------------------------------------------------------


def test_an_address_has_a_share_of_all_connections(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 40)
    with stage.listening() as url, contextlib.ExitStack() as holding:
        held = [holding.enter_context(connected(url, address=ELSEWHERE)) for _ in range(10)]
        # the server sees them in the order in which they came
        assert answer_of(connected(url, address=ELSEWHERE)).status == 503
        assert status(url, address="127.0.0.3") == 200
        held[0].close()
        eventually(lambda: status(url, address=ELSEWHERE) == 200, "room for another connection")


def test_no_more_connections_are_open_than_files_allow(
    stage: Stage, soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 40)
    with stage.listening() as url, contextlib.ExitStack() as holding:
        for number in range(40):
            holding.enter_context(connected(url, address=f"127.0.0.{2 + number // 10}"))
        assert status(url) == 503
        # idle ones do not stay
        eventually(lambda: status(url) == 200, "room for another connection")


def test_behind_a_proxy_an_address_has_a_share_of_all_requests(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 40)
    of_one = b"GET /waits HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n"
    with stage.listening() as url, contextlib.ExitStack() as holding:
        for _ in range(10):
            holding.enter_context(connected(url, of_one))
        eventually(lambda: status(url, X_Forwarded_For="203.0.113.7") == 429, "as many requests as an address may have")
        assert status(url, X_Forwarded_For="203.0.113.8") == 200
        # whoever is no proxy cannot say so
        assert status(url, address=ELSEWHERE, X_Forwarded_For="203.0.113.7") == 200


def test_an_ipv6_network_is_one_address() -> None:
    assert connections.network_of("2001:db8::1") == connections.network_of("2001:db8::ffff:2")
    assert connections.network_of("2001:db8:0:1::1") != connections.network_of("2001:db8::1")
    assert connections.network_of("::ffff:192.0.2.1") == "192.0.2.1"


# --- WebSockets ------------------------------------------------------------------------------------------------------


def frame(opcode: int, data: bytes, *, length: int | None = None) -> bytes:
    """A frame of a client, or the beginning of one that is said to be longer (RFC 6455, section 5.2)."""
    told = len(data) if length is None else length
    size = bytes([0x80 | told]) if told < 126 else b"\xff" + told.to_bytes(8, "big")
    return bytes([0x80 | opcode]) + size + bytes(4) + data


PING, BINARY = 9, 2


@contextlib.contextmanager
def socketed(url: str) -> Iterator[socket.socket]:
    upgrade = (
        b"GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    )
    with connected(url, upgrade) as opened:
        assert opened.recv(4096).startswith(b"HTTP/1.1 101 ")
        yield opened


def test_a_socket_that_floods_and_reads_nothing_is_held_back_and_ended(stage: Stage, soon: None) -> None:
    pings = 1000 * frame(PING, bytes(125))
    with stage.listening() as url, socketed(url) as flooding, socketed(url) as other:
        sent = _sent_until_it_ends(flooding, pings)
        assert sent < 32 << 20
        other.sendall(frame(BINARY, b"12345"))
        assert other.recv(100)[2:] == b"5"


def _sent_until_it_ends(flooding: socket.socket, pings: bytes) -> int:
    """How many bytes a server took, at most 256 MiB, before it took no more."""
    flooding.setblocking(False)
    sent = 0

    def over() -> bool:
        nonlocal sent
        try:
            while sent < 256 << 20:
                sent += flooding.send(pings[sent % len(pings) :])
            return True
        except BlockingIOError:
            return False
        except OSError:
            return True

    eventually(over, "the end of a connection that floods")
    return sent


def test_messages_that_are_too_large_or_never_end_end_the_connection(stage: Stage, soon: None) -> None:
    with stage.listening() as url:
        with socketed(url) as large:
            large.sendall(frame(BINARY, b"", length=web_sockets.LARGEST_MESSAGE + 1))
            assert large.recv(4)[2:] == (1009).to_bytes(2, "big")
        with socketed(url) as slow, socketed(url) as quiet:
            slow.sendall(frame(BINARY, b"1234", length=1000))
            eventually(lambda: has_ended(slow, b"5"), "the end of a message that comes byte by byte")
            # who says nothing at all stays, like somebody who reads a page
            quiet.setblocking(True)
            quiet.sendall(frame(BINARY, b"12345"))
            assert quiet.recv(100)[2:] == b"5"


def test_unfinished_messages_of_all_take_so_much_memory_and_no_more(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_sockets, "MOST_UNFINISHED", 8 << 20)
    part = frame(BINARY, bytes(1 << 20), length=4 << 20)
    with stage.listening() as url, contextlib.ExitStack() as holding:
        opened = [holding.enter_context(socketed(url)) for _ in range(12)]
        for each in opened:
            with contextlib.suppress(OSError):
                each.sendall(part)
        eventually(lambda: sum(has_ended(each, b"") for each in opened) >= 4, "the end of what is too much")
        assert sum(has_ended(each, b"") for each in opened) < 12


def test_what_comes_at_the_same_time_for_all_ends_no_more_than_is_too_much(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 128 << 10
    monkeypatch.setattr(web_sockets, "MOST_UNFINISHED", 8 * size)
    begun = frame(BINARY, bytes(size), length=4 << 20)
    with stage.listening() as url, contextlib.ExitStack() as holding:
        opened = [holding.enter_context(socketed(url)) for _ in range(8)]
        for each in opened:
            each.sendall(begun)
        with connected(url, b"GET /stalls HTTP/1.1\r\nHost: localhost\r\n\r\n") as asking:
            assert stage.stalled.wait(seconds(30))
            for each in opened:
                each.sendall(b"x")
            stage.go_on.set()
            assert answer_of(asking).status == 200
        eventually(lambda: sum(has_ended(each, b"") for each in opened) >= 1, "the end of what is too much")
        assert status(url) == 200
        assert sum(has_ended(each, b"") for each in opened) == 1
