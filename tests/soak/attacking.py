"""What somebody with ill will does to a served app while others use it. Each attack goes on until it is cancelled."""

import asyncio
import contextlib
import itertools
import random
import urllib.parse
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import httpx

from passnet_core.server.entrance import BUNDLE_BODY
from tests.example_playground import PASS, TASK_ID
from tests.soak.persons import ATTACKER, Notes, Programmer, Town, agent, programmer

LOOPING = f"{PASS}\nwhile True:\n    pass\n"
LATEST_S = 600.0
AT_ONCE = 64
IDLE, SLOW = 200, 50
SLOWLY_S = 1.0


async def loops(town: Town) -> None:
    """Passes that loop while they load, with as late a deadline as can be asked for, always several waiting."""
    async with programmer(ATTACKER, town, Notes(), random.Random(0)) as program:
        await asyncio.gather(*(_looping(program, stage, lane) for stage in ("check", "verify") for lane in range(3)))


async def _looping(program: Programmer, stage: str, lane: int) -> None:
    for number in itertools.count():
        with contextlib.suppress(AssertionError, httpx.HTTPError):  # refused: the attacker asks again
            code = f"{LOOPING}\nOWN = {lane, number}\n"
            await program.ended(await program.started(code, stage, deadline_s=LATEST_S))
        await asyncio.sleep(SLOWLY_S)


async def calls(town: Town) -> None:
    """As many calls of one agent at once as there are, each of a pass that loops."""

    async def one(lane: int) -> None:
        async with agent(ATTACKER, town, Notes(), random.Random(lane)) as attacker:
            for number in itertools.count():
                with contextlib.suppress(AssertionError, httpx.HTTPError):
                    code = f"{LOOPING}\nOWN = {lane, number}\n"
                    await attacker.told("write_file", task=TASK_ID, name="a.py", code=code)
                    await attacker.told("evaluate", task=TASK_ID)
                await asyncio.sleep(SLOWLY_S)

    await asyncio.gather(*map(one, range(AT_ONCE)))


async def connections(town: Town) -> None:
    """Connections that say nothing, opened again when they are closed."""
    await asyncio.gather(*(_sending(town, lambda: iter(())) for _ in range(IDLE)))


async def headers(town: Town) -> None:
    """Headers that come a byte at a time, and never end."""
    line = b"GET /api/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "

    def parts() -> Iterator[bytes]:
        return itertools.chain([line], itertools.repeat(b"a"))

    await asyncio.gather(*(_sending(town, parts) for _ in range(SLOW)))


async def bodies(town: Town) -> None:
    """Bodies as large as may be, a byte at a time, with and without a token."""

    def parts(number: int) -> Iterator[bytes]:
        token = town.tokens[ATTACKER] if number % 2 else "none"
        head = (
            f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {BUNDLE_BODY}\r\n\r\n"
        )
        return itertools.chain([head.encode(), b" " * (BUNDLE_BODY - 1000)], itertools.repeat(b" "))

    await asyncio.gather(*(_sending(town, partial(parts, number)) for number in range(SLOW)))


async def findings(town: Town) -> None:
    """Bundles that many rules find fault with, run after run, to fill the disk."""
    code = PASS + "\n".join(f"torch.relu(torch.ones({number}))" for number in range(700)) + "\n"
    async with programmer(ATTACKER, town, Notes(), random.Random(0)) as program:
        for number in itertools.count():
            with contextlib.suppress(AssertionError, httpx.HTTPError):
                await program.ended(await program.started(f"{code}\nOWN = {number}\n", "verify"))


async def _sending(town: Town, parts: Callable[[], Iterator[bytes]]) -> None:
    """Send the parts over a connection, one each second, and keep it; open another one whenever it is closed."""
    place = urllib.parse.urlsplit(town.address)
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            try:
                closed = asyncio.create_task(reader.read())
                for part in parts():
                    if closed.done():
                        break
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(SLOWLY_S)
                await closed
            finally:
                writer.close()
        await asyncio.sleep(SLOWLY_S)


ATTACKS: dict[str, Callable[[Town], Coroutine[Any, Any, None]]] = {
    each.__name__: each for each in (loops, calls, connections, headers, bodies, findings)
}
