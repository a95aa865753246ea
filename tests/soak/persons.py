"""Persons who use a served app as a class does, each for themselves: with a browser, a program or a coding agent."""

import asyncio
import contextlib
import itertools
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.contract.test_sign_ins import sign_in
from tests.example_playground import PASS, TASK_ID
from tests.page_client import PageClient, Shown
from tests.waiting import seconds

DONE, RUNNING = "Permanent page of this run", "Running…"
READ = ("scores", "learn", "runs", "explore", "scores", "help")
TWICE = PASS.replace("s = tl.load", "s = 2 * tl.load")
CODES = (
    PASS,
    PASS,
    PASS,
    TWICE,
    PASS.replace("relu(a + b)", "sigmoid(a + b)"),
    PASS.replace("    out = torch", '    raise ValueError("of mine")\n    out = torch'),
    PASS.replace("import triton\n", "import triton.gone\n"),
)
"""Passes of which most are right; others compute something else, match nothing, fail, or do not load."""
KINDS = (
    "member", "member", "program", "visitor", "reader", "agent", "member", "member", "member", "reader",
)  # fmt: skip
"""What every ten persons are. Members have signed in; they and visitors write passes in the Workbench."""

ATTACKER = -3
"""The person who attacks the app meanwhile, if anybody does, and has a token."""


@dataclass
class Notes:
    """What persons see. took: for each thing that they wait for, when it came and how long it took, in seconds.
    problems: what went wrong. turns: of each person. began: the clock's zero."""

    began: float = field(default_factory=time.monotonic)
    took: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)
    turns: Counter[int] = field(default_factory=Counter)

    @property
    def now_s(self) -> float:
        return time.monotonic() - self.began

    @contextlib.contextmanager
    def timing(self, what: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.took[what].append((self.now_s, time.monotonic() - began))


@dataclass(frozen=True)
class Town:
    """Where the persons are. address: of the app. tokens: of programs and agents, by the person's number. turn_s: how
    long a turn takes for a person who does not wait for anything."""

    address: str
    tokens: dict[int, str]
    turn_s: float = 60.0


class Person(Protocol):
    """Somebody who uses the app, a turn at a time."""

    async def turn(self, number: int) -> None: ...


async def live(person: int, kind: str, town: Town, notes: Notes, *, until_s: float, least: int = 1) -> None:
    """Have a person take turns until the notes' clock shows until_s, and at least so many."""
    rng = random.Random(person)
    began = notes.now_s + rng.uniform(0, town.turn_s)
    where = f"{kind} {person}"
    async with contextlib.AsyncExitStack() as stack:
        opened: Any = None
        for number in itertools.count():
            starts = began + number * town.turn_s
            if number >= least and starts >= until_s:
                return
            await asyncio.sleep(starts - notes.now_s)
            try:
                if opened is None:
                    opened = await stack.enter_async_context(PERSONS[kind](person, town, notes, rng))
                await opened.turn(number)
                notes.turns[person] += 1
            except (OSError, TimeoutError, LookupError, AssertionError, httpx.HTTPError, ExceptionGroup) as error:
                notes.problems.append(f"{where}, turn {number}: {type(error).__name__}: {error}"[:800])


def code_of(person: int, turn: int, rng: random.Random) -> str:
    """A pass that nobody else has, so that it must be judged."""
    return f"{rng.choice(CODES)}\nOWN = {person, turn}\n"


# --- with a browser --------------------------------------------------------------------------------------------------


@dataclass
class Writer:
    """Types passes, checks them and runs them in the Workbench; every other turn opens it anew."""

    person: int
    client: PageClient
    notes: Notes
    rng: random.Random
    pause_s: float

    async def turn(self, number: int) -> None:
        if number % 2 == 0 or "editor" not in self.client.shown.components:
            with self.notes.timing("page"):
                await self.client.open("workbench", f"task={TASK_ID}")
        await self._typed(PASS + f"\nHALF = {self.person, number}\n")  # its check is superseded
        await self._typed(code_of(self.person, number, self.rng))
        for button, what in (("Check", "check"), ("Run", "run")):
            await asyncio.sleep(self.rng.uniform(0, self.pause_s))
            with self.notes.timing(what):
                with self.notes.timing(f"{what} begun"):
                    await self.client.press(button)
                await self.client.until(_is_judged)
        self.notes.problems += [f"person {self.person}: {error}" for error in self.client.shown.errors]

    async def _typed(self, code: str) -> None:
        with self.notes.timing("typing"):
            await self.client.type(code)


@contextlib.asynccontextmanager
async def _writer(person: int, town: Town, notes: Notes, rng: random.Random, *, member: bool) -> AsyncIterator[Person]:
    async with PageClient(town.address) as client:
        if member:
            await sign_in(client, f"person-{person}")
        yield Writer(person, client, notes, rng, town.turn_s / 6)


def _is_judged(shown: Shown) -> bool:
    return DONE in shown.text and RUNNING not in shown.text


@dataclass
class Reader:
    """Opens boards, lessons, runs and help; two pages a turn."""

    person: int
    client: PageClient
    notes: Notes

    async def turn(self, number: int) -> None:
        for page in (READ[(2 * number) % len(READ)], READ[(2 * number + 1) % len(READ)]):
            with self.notes.timing("boards" if page == "scores" else "page"):
                await self.client.open(page)
            self.notes.problems += [f"person {self.person}, {page}: {error}" for error in self.client.shown.errors]


@contextlib.asynccontextmanager
async def _reader(person: int, town: Town, notes: Notes, rng: random.Random) -> AsyncIterator[Person]:
    async with PageClient(town.address) as client:
        yield Reader(person, client, notes)


# --- with a program --------------------------------------------------------------------------------------------------


@dataclass
class Programmer:
    """Has passes checked and judged over /api, asks for the boards, and gives up a run now and then."""

    person: int
    client: httpx.AsyncClient
    notes: Notes
    rng: random.Random

    async def turn(self, number: int) -> None:
        code = code_of(self.person, number, self.rng)
        await self.get("/tasks?query=relu")
        for stage in ("check", "verify"):
            what = "run" if stage == "verify" else stage
            with self.notes.timing(f"{what} by program"):
                outcomes = await self.ended(await self.started(code, stage))
                assert all(outcome["verdict"] != "infrastructure error" for outcome in outcomes), outcomes
        if number % 3 == 1:
            run_id = await self.started(code + "GIVEN_UP = True\n", "verify")
            (await self.client.post(f"/runs/{run_id}/cancel")).raise_for_status()
            await self.ended(run_id)
        with self.notes.timing("boards by program"):
            await self.get("/boards")

    async def started(self, code: str, stage: str, **more: Any) -> str:
        """The id of a run that has been taken in."""
        bundle = {"passes": [{"name": "a.py", "code": code}]}
        answered = await self.client.post("/runs", json={"task": TASK_ID, "bundle": bundle, "stage": stage, **more})
        assert answered.status_code == 202, answered.text
        return str(answered.json()["run"])

    async def ended(self, run_id: str) -> Any:
        """All outcomes of a run, once it has ended."""
        while not (run := await self.get(f"/runs/{run_id}?wait_s=30"))["finished"]:
            pass
        outcomes = await self.get(f"/runs/{run_id}/outcomes")
        assert len(outcomes) == run["total"], f"{run_id} has {len(outcomes)} outcomes of {run['total']}"
        return outcomes

    async def get(self, path: str) -> Any:
        return (await self.client.get(path)).raise_for_status().json()


@contextlib.asynccontextmanager
async def programmer(person: int, town: Town, notes: Notes, rng: random.Random) -> AsyncIterator[Programmer]:
    headers = {"Authorization": f"Bearer {town.tokens[person]}"}
    async with httpx.AsyncClient(base_url=f"{town.address}/api", headers=headers, timeout=seconds(90)) as client:
        yield Programmer(person, client, notes, rng)


# --- with a coding agent ---------------------------------------------------------------------------------------------


@dataclass
class Agent:
    """Writes, checks and evaluates passes over /mcp, and gives up an evaluation now and then."""

    person: int
    client: Client
    notes: Notes
    rng: random.Random

    async def turn(self, number: int) -> None:
        await self.told("list_tasks", query="relu")
        await self.told("read_task", task=TASK_ID)
        await self.told("write_file", task=TASK_ID, name="a.py", code=code_of(self.person, number, self.rng))
        for tool, what in (("check", "check"), ("evaluate", "run")):
            with self.notes.timing(f"{what} by agent"):
                await self.told(tool, task=TASK_ID)
        if number % 3 == 1:
            await self.told("write_file", task=TASK_ID, name="a.py", code=code_of(self.person, -number, self.rng))
            given_up = asyncio.create_task(self.told("evaluate", task=TASK_ID))
            await asyncio.sleep(self.rng.random())
            given_up.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await given_up
            while (await self.call("read_task", task=TASK_ID))[1]:  # until its place is free again
                await asyncio.sleep(0.2)
        with self.notes.timing("boards by agent"):
            await self.told("scores")

    async def told(self, tool: str, **arguments: Any) -> str:
        """What a tool answers that can be called so."""
        text, refused = await self.call(tool, **arguments)
        assert not refused, text
        return text

    async def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """What a tool answers, and whether it refuses."""
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        return str(getattr(content, "text", "")), bool(result.is_error)


@contextlib.asynccontextmanager
async def agent(person: int, town: Town, notes: Notes, rng: random.Random) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {town.tokens[person]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=seconds(90)) as http,
        Client(streamable_http_client(f"{town.address}/mcp", http_client=http)) as client,
    ):
        yield Agent(person, client, notes, rng)


@contextlib.asynccontextmanager
async def _member(person: int, town: Town, notes: Notes, rng: random.Random) -> AsyncIterator[Person]:
    async with _writer(person, town, notes, rng, member=True) as opened:
        yield opened


@contextlib.asynccontextmanager
async def _visitor(person: int, town: Town, notes: Notes, rng: random.Random) -> AsyncIterator[Person]:
    async with _writer(person, town, notes, rng, member=False) as opened:
        yield opened


PERSONS: dict[str, Any] = {
    "member": _member, "visitor": _visitor, "reader": _reader, "program": programmer, "agent": agent,
}  # fmt: skip
WITH_TOKENS = ("program", "agent")


def kind_of(person: int) -> str:
    return KINDS[person % len(KINDS)]
