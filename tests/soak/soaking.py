"""A soak: persons use a served app, what it holds is counted each minute, and before and after them at rest."""

import asyncio
import contextlib
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passnet_core.people.person import PersonRole
from passnet_core.people.register import Register
from tests.page_client import PageClient
from tests.signing_in import doorstep
from tests.soak.attacking import ATTACKS
from tests.soak.holding import Family, Held, adopting, children, is_app, shared_files
from tests.soak.persons import ATTACKER, KINDS, READ, WITH_TOKENS, Notes, Town, kind_of, live, programmer

MINUTE_S = 60.0
OPERATOR = -1
"""The person who looks at all runs at last."""
FIRST = -2
"""Whoever comes before the others, in every kind of person."""
ROLES = {"member": "member", "visitor": "visitor", "reader": "visitor", "program": "member", "agent": "member"}
"""What each kind of person is on the server, which decides how much is judged for them in an hour."""


@dataclass(frozen=True)
class Plan:
    """persons: how many. minutes: for how long. turn_s: how long each turn takes at least. least: how many turns each
    of them takes, however long that takes. kept_s: how long Streamlit keeps the session of a page that is gone, with an
    event loop, which has three open files. attack: what somebody else does to the app meanwhile, of ATTACKS."""

    persons: int
    minutes: float
    turn_s: float = MINUTE_S
    least: int = 1
    kept_s: int = 120
    attack: str = ""


@dataclass(frozen=True)
class Served:
    """A town whose app has just started, with what it and its processes hold. kept_s: as in its plan."""

    town: Town
    family: Family
    kept_s: float


@dataclass
class Result:
    """What a soak has shown so far. minutes: what was held at each. before, after: at rest."""

    plan: Plan
    notes: Notes
    before: Held
    minutes: list[Held] = field(default_factory=list)
    after: Held | None = None


@contextlib.contextmanager
def served_town(folder: Path, plan: Plan) -> Iterator[Served]:
    """Serve the example playground to these persons, of whom some can sign in and some have tokens."""
    temporary, home = folder / "temporary", folder / "home"
    temporary.mkdir()
    others, shared = children(), shared_files()
    with contextlib.ExitStack() as stack:
        kept = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(plan.kept_s)}
        patched = stack.enter_context(_environment(TMPDIR=str(temporary), **kept))
        stack.enter_context(adopting())
        people = {f"person-{number}": f"Person {number}." for number in (FIRST, *range(plan.persons))}
        opened = stack.enter_context(doorstep(folder, people))
        patched.close()  # what the persons write is not the app's
        (app,) = (pid for pid in children() - others if is_app(pid))
        tokens = _tokens(home, plan)
        family = Family(app, others, temporary, home, shared)
        yield Served(Town(opened.address, tokens, plan.turn_s), family, plan.kept_s)


def _tokens(home: Path, plan: Plan) -> dict[int, str]:
    """Tokens for those who come with a program or an agent, and for an operator."""
    register = Register(home)
    try:
        tokens = {OPERATOR: register.issue(register.add("Operator", PersonRole.OPERATOR), "", 1)}
        for number in range(plan.persons):
            if kind_of(number) in WITH_TOKENS:
                tokens[number] = register.issue(register.add(f"Program {number}", PersonRole.MEMBER), "", 1)
        attacker = register.issue(register.add("Attacker", PersonRole.MEMBER), "", 1)
        return tokens | {FIRST: tokens[OPERATOR], ATTACKER: attacker}
    finally:
        register.close()


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[contextlib.ExitStack]:
    """Have these variables until the stack that is yielded is closed."""
    with contextlib.ExitStack() as stack:
        before = dict(os.environ)
        stack.callback(os.environ.update, {name: before[name] for name in values if name in before})
        for name in values.keys() - before.keys():
            stack.callback(os.environ.pop, name, None)
        os.environ.update(values)
        yield stack


async def soak(served: Served, plan: Plan, each_minute: Callable[[Result], Any] = lambda so_far: None) -> Result:
    """Have persons use the app, and count before, meanwhile and afterwards what it holds."""
    await _first_visits(served.town)
    before = await at_rest(served, forgetting=plan.minutes > 0)
    result = Result(plan, Notes(), before)
    meanwhile = [asyncio.create_task(_watch(served.family, result, each_minute))]
    if plan.attack:
        meanwhile.append(asyncio.create_task(ATTACKS[plan.attack](served.town)))
    until_s = plan.minutes * MINUTE_S
    async with asyncio.TaskGroup() as group:
        for number in range(plan.persons):
            group.create_task(
                live(number, kind_of(number), served.town, result.notes, until_s=until_s, least=plan.least)
            )
    for task in meanwhile:
        if task.done():
            task.result()
        task.cancel()
    if plan.attack:
        await _given_up(served.town)
    result.notes.problems += await _runs_without_all_outcomes(served.town)
    result.after = await at_rest(served, before=before)
    return result


async def at_rest(served: Served, *, before: Held | None = None, forgetting: bool = True) -> Held:
    """What the app holds at rest. forgetting: once it has forgotten the sessions of pages that are gone."""
    if forgetting:
        await asyncio.sleep(served.kept_s + 1.0)
        async with PageClient(served.town.address) as visitor:
            await visitor.open("help")  # what has expired is dropped at a visit
    return await asyncio.to_thread(lambda: served.family.at_rest(before=before))


async def _first_visits(town: Town) -> None:
    """One person of each kind at once: the judge is warm, and everything that is loaded once is."""
    notes = Notes()
    async with asyncio.TaskGroup() as group:
        for kind in dict.fromkeys(KINDS):
            visit = Town(town.address, town.tokens, 1.0)
            group.create_task(live(FIRST, kind, visit, notes, until_s=0.0, least=len(READ) // 2))
    assert not notes.problems, notes.problems


async def _watch(family: Family, result: Result, each_minute: Callable[[Result], Any]) -> None:
    while True:
        await asyncio.sleep((len(result.minutes) + 1) * MINUTE_S - result.notes.now_s)
        result.minutes.append(await asyncio.to_thread(family.held))
        each_minute(result)


async def _given_up(town: Town) -> None:
    """Cancel what the attacker still has waiting."""
    async with programmer(ATTACKER, town, Notes(), random.Random(0)) as attacker:
        for run in await attacker.get("/runs?limit=1000"):
            await attacker.client.post(f"/runs/{run['run']}/cancel")


async def _runs_without_all_outcomes(town: Town) -> list[str]:
    """What is wrong with the last thousand runs of all persons, once they have ended."""
    problems = []
    async with programmer(OPERATOR, town, Notes(), random.Random(0)) as operator:
        for run in await operator.get("/runs?limit=1000"):
            if run["recorded"]:
                continue
            try:
                outcomes = await operator.ended(run["run"])
            except AssertionError as error:
                problems.append(str(error))
            else:
                failed = [each for each in outcomes if each["verdict"] == "infrastructure error"]
                problems += [f"run {run['run']}: {each['verdict']}: {each.get('reason')}" for each in failed]
    return problems
