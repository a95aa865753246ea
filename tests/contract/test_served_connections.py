"""The served app while somebody keeps it waiting or fills its memory: real sockets to a real server."""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.contract.test_connections import ELSEWHERE, connected, frame, has_ended, place
from tests.page_client import XSRF, PageClient, run_apart
from tests.serving import serving_example
from tests.waiting import eventually, seconds

pytestmark = [pytest.mark.sandbox, pytest.mark.long]

MIB = 1 << 20
LARGE = 7 * MIB
"""A file that may be uploaded."""
UPLOAD = b"PUT /_stcore/upload_file/nobody/file HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_example(tmp_path_factory.mktemp("served")) as opened:
        yield opened


class Visitor(PageClient):
    """A browser that knows by which name the server calls its page."""

    session = ""

    async def _take(self, told: ForwardMsg) -> None:
        if told.WhichOneof("type") == "new_session":
            self.session = told.new_session.initialize.session_id
        await super()._take(told)

    async def upload(self, name: str, number_of_bytes: int = LARGE) -> int:
        """Upload a file, and return the status of the answer."""
        answered = await self.http.put(
            f"/_stcore/upload_file/{self.session}/{name}",
            headers={"X-Xsrftoken": self.http.cookies[XSRF]},
            files={"file": ("run.jsonl", bytes(number_of_bytes))},
        )
        return answered.status_code


def memory_of(address: str) -> int:
    """How many bytes of memory the server at this address has."""
    told = f"--port={place(address)[1]}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if told in (process / "cmdline").read_bytes().split(b"\0"):
                return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    raise AssertionError("the server has gone")


def test_pages_are_drawn_while_others_keep_the_server_waiting(address: str) -> None:
    half = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    waiting = {connected(address, address="127.0.0.3"): b"" for _ in range(200)}
    waiting |= {connected(address, half, address=ELSEWHERE): b"X" for _ in range(50)}
    waiting |= {
        connected(address, UPLOAD + b"Content-Length: 5000000\r\n\r\n", address=ELSEWHERE): b" " for _ in range(50)
    }

    async def works() -> None:
        async with Visitor(address) as visitor:
            async with asyncio.timeout(seconds(60)):
                while waiting:
                    await visitor.open("account")
                    assert "Visitor" in visitor.shown.text
                    for each in [each for each, drip in waiting.items() if has_ended(each, drip)]:
                        each.close()
                        del waiting[each]

    run_apart(works())


def test_bodies_that_nobody_asked_for_take_no_memory(address: str) -> None:
    before = memory_of(address)
    with contextlib.ExitStack() as holding:
        sending = [
            holding.enter_context(connected(address, UPLOAD + b"Content-Length: 31457280\r\n\r\n")) for _ in range(50)
        ]
        for each in sending:
            each.setblocking(False)
        ended = [False] * len(sending)

        def over() -> bool:
            for number, each in enumerate(sending):
                ended[number] = ended[number] or has_ended(each, bytes(MIB))
            return all(ended)

        eventually(over, "the end of bodies that nobody asked for", idle_s=30)
        assert memory_of(address) < before + 150 * MIB


def test_messages_without_end_take_so_much_memory_and_no_more(address: str) -> None:
    upgrade = (
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {address.removeprefix('http://')}\r\nOrigin: {address}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    ).encode()
    before = memory_of(address)
    with contextlib.ExitStack() as holding:
        opened = [holding.enter_context(connected(address, upgrade)) for _ in range(60)]
        for each in opened:
            assert each.recv(65536).startswith(b"HTTP/1.1 101 ")
            with contextlib.suppress(OSError):
                each.sendall(frame(2, bytes(4 * MIB), length=5 * MIB))
        eventually(lambda: sum(has_ended(each, b"") for each in opened) > 20, "the end of what is too much")
        assert memory_of(address) < before + 400 * MIB


def test_a_page_has_a_share_of_the_memory_for_files(address: str) -> None:
    async def uploads() -> None:
        async with Visitor(address) as visitor, Visitor(address) as other:
            await visitor.open("account")
            await other.open("account")
            for number in range(4):
                assert await visitor.upload(f"file-{number}") == 204
            assert await visitor.upload("one-more") == 413
            assert await other.upload("file") == 204
            # another page begins with nothing
            await visitor.open("account")
            assert await visitor.upload("file") == 204

    run_apart(uploads())
