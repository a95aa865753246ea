"""A served app holds as much of its machine after jobs of all kinds as before them: processes, zombies, open files,
sockets, temporary files and shared memory. make test has 60 of them judged, make test-all 200."""

import asyncio
import contextlib
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.example_playground import PASS, TASK_ID
from tests.page_client import PageClient, run_apart
from tests.soak.holding import grown
from tests.soak.persons import CODES, PERSONS, Notes, Programmer, Town, programmer
from tests.soak.soaking import OPERATOR, Plan, Served, at_rest, served_town
from tests.waiting import short

pytestmark = [pytest.mark.settled, pytest.mark.sandbox, pytest.mark.long]

KINDS = (*CODES, *(f"import ctypes, os, signal\n{act}\n{PASS}" for act in (
    "os._exit(0)", "os.kill(-1, signal.SIGKILL)", "ctypes.string_at(0)", "os.fork()", "open('/tmp/left', 'w')",
    "open('/dev/shm/left', 'w')", "raise ValueError",
)))  # fmt: skip
"""Passes that are right, wrong, or do not load, and some that end themselves or leave something."""
ENDLESS = f"while True: pass\n{PASS}"
SUBGRAPHS = 2


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with served_town(tmp_path, Plan(persons=6, minutes=0, kept_s=5)) as town:
        yield town


@pytest.mark.parametrize(("rounds", "least"), [(2, 60), pytest.param(6, 200, marks=pytest.mark.slow)])
def test_jobs_of_all_kinds_leave_nothing_behind(served: Served, rounds: int, least: int) -> None:
    jobs = run_apart(_round(served.town, 0))
    run_apart(_plain(served.town, 0))
    before = run_apart(at_rest(served, forgetting=False))
    for number in range(1, rounds + 1):
        jobs += run_apart(_round(served.town, number))
    assert jobs * rounds / (rounds + 1) >= least
    run_apart(_plain(served.town, 1))
    after = run_apart(at_rest(served, before=before))
    assert grown(before, after) == {}


async def _plain(town: Town, number: int) -> None:
    """A right pass, checked and judged: afterwards the judge has as many processes ready as it may have."""
    async with programmer(OPERATOR, town, Notes(), random.Random(number)) as ours:
        for stage in ("check", "verify"):
            await ours.ended(await ours.started(f"{PASS}\nPLAIN = {number}\n", stage))


async def _round(town: Town, number: int) -> int:
    """Jobs of each kind at once, in pages, programs and agents. Returns how many jobs programs had judged."""
    notes = Notes()
    async with contextlib.AsyncExitStack() as stack:
        ours = await stack.enter_async_context(programmer(OPERATOR, town, notes, random.Random(number)))
        with_page = await stack.enter_async_context(PERSONS["member"](number % 6, town, notes, random.Random(number)))
        agent = await stack.enter_async_context(PERSONS["agent"](5, town, notes, random.Random(number)))
        async with asyncio.TaskGroup() as group:
            runs = group.create_task(_runs(ours, number))
            for turn in (2 * number, 2 * number + 1):
                await with_page.turn(turn)
            group.create_task(agent.turn(3 * number + 1))
            group.create_task(_steps(town, number))
            group.create_task(asyncio.to_thread(_broken_off, town))
    assert not notes.problems
    return SUBGRAPHS * runs.result()


async def _runs(ours: Programmer, number: int) -> int:
    """Runs of each kind of pass, some of which are cancelled while they wait, and one while it is judged."""
    codes = [f"{code}\nROUND = {number}\n" for code in KINDS]
    started = [await ours.started(code, stage) for code in codes for stage in ("check", "verify")]
    started.append(await ours.started(f"{ENDLESS}\nROUND = {number}\n", "verify", deadline_s=min(600.0, short(3.0))))
    started += [await ours.started(f"{code}\nGIVEN_UP = True\n", "verify") for code in codes[:3]]
    for run_id in started[-3:]:
        (await ours.client.post(f"/runs/{run_id}/cancel")).raise_for_status()
    judged = await ours.started(f"{ENDLESS}\nCANCELLED = {number}\n", "verify", deadline_s=600.0)
    while (run := await ours.get(f"/runs/{judged}"))["queue_position"] is not None or run["phase"] == "queued":
        await asyncio.sleep(0.05)
    (await ours.client.post(f"/runs/{judged}/cancel")).raise_for_status()
    for run_id in (*started, judged):
        await ours.ended(run_id)
    refused = await ours.client.post("/runs", json={"task": TASK_ID, "bundle": {"passes": [{"name": "../a.py"}]}})
    assert refused.status_code == 422
    return len(started) + 1


async def _steps(town: Town, number: int) -> None:
    """The programs of a kernel, step by step, which its page asks the judge for."""
    async with PageClient(town.address) as client:
        await client.open("workbench", f"task={TASK_ID}&tab=Programs")
        await client.type(f"{PASS}\nSTEPS = {number}\n")
        await client.until(lambda shown: "rogram" in shown.text)


def _broken_off(town: Town) -> None:
    """Requests that end before they have said or heard all."""
    where = urlsplit(town.address)
    head = f"Host: {where.netloc}\r\nAuthorization: Bearer {town.tokens[OPERATOR]}\r\n"
    for request in (
        f"POST /api/runs HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
        f"POST /mcp HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
        f"GET /api/boards HTTP/1.1\r\n{head}\r\n",
        "GET /_stcore/stream HTTP/1.1\r\n",
        "",
    ):
        with socket.create_connection((str(where.hostname), int(where.port or 0))) as connection:
            connection.sendall(request.encode())
