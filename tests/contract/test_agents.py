"""Coding agents at work over the Model Context Protocol, with the client of its own SDK."""

import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from passnet_core.access.personal import PersonalService
from passnet_core.people.person import ALLOWANCES, PersonRole
from passnet_core.records import Device, Job, Outcome, Verdict
from passnet_core.server import agents
from passnet_core.server.agents import CALLS_OF_PERSON, IDLE_S, PLACES_OF_PERSON, AgentDesk
from passnet_core.solvers.llm.tools import TOOLS
from tests.contract.made import outcome
from tests.contract.made import task as three_subgraphs
from tests.contract.programs_served import Playground, Program, playground
from tests.contract.scripted import a_pass, by_its_text
from tests.fake_backend import FakeBackend
from tests.page_client import run_apart
from tests.waiting import seconds

FASTER = a_pass(Verdict.FASTER)
WRONG = a_pass(Verdict.WRONG_VALUES)

Work = Callable[[Client], Awaitable[None]]


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend(by_its_text, Device.CUDA)


@pytest.fixture
def alone(tmp_path: Path, backend: FakeBackend) -> Iterator[Playground]:
    with playground(tmp_path, backend, [three_subgraphs(), three_subgraphs("tanh", 2)]) as served:
        yield served


@pytest.fixture
def many(tmp_path: Path, backend: FakeBackend) -> Iterator[Playground]:
    with playground(tmp_path, backend, [three_subgraphs()], many=True) as served:
        yield served


def agent(program: Program, work: Work, **how: Any) -> None:
    """Connect as this program, and work."""

    async def connected() -> None:
        headers = {"Authorization": f"Bearer {program.token}"} if program.token else None
        async with (
            httpx2.AsyncClient(headers=headers, timeout=seconds(60)) as http,
            Client(streamable_http_client(f"{program.url}/mcp", http_client=http), **how) as client,
        ):
            await work(client)

    run_apart(connected())


async def told(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool answers that can be called so."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return text_of(result)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool answers that cannot be called so."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return text_of(result)


def text_of(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def test_the_tools_are_those_of_a_conversation_and_some_that_find_things(alone: Playground) -> None:
    async def work(client: Client) -> None:
        tools = {each.name: each for each in (await client.list_tools()).tools}
        for tool in TOOLS:
            if tool.name != "finish":
                offered = tools.pop(tool.name)
                assert offered.description == tool.description
                named = set(offered.input_schema["properties"]) - {"task", "stage"}
                assert named == set(tool.parameters["properties"])
        assert set(tools) == {"list_tasks", "read_task", "open_bundle", "list_runs", "scores"}
        assert client.instructions is not None
        assert "list_tasks" in client.instructions

    agent(alone.program(), work)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_repairs_a_bundle_until_it_is_accepted(alone: Playground, mode: str) -> None:
    """Over today's protocol, and over the one with a handshake that older agents speak."""

    async def work(client: Client) -> None:
        assert "relu (develop, 3 subgraphs, float32): relu" in await told(client, "list_tasks", query="relu")
        opening = await told(client, "read_task", task="relu")
        assert "def pattern" in opening
        assert "in_0 float32 [2, 5]" in opening
        assert "no pass yet" in await refused(client, "check", task="relu")
        assert await told(client, "write_file", task="relu", name="a.py", code=WRONG) == "Wrote a.py: a pass."
        assert "3 of 3: matches." in await told(client, "check", task="relu")
        assert "wrong values" in await told(client, "evaluate", task="relu")
        assert "wrong values" in await told(client, "explain", task="relu", subgraph="float32/1")
        await told(client, "patch_file", task="relu", name="a.py", old="wrong values", new="right, faster")
        steps: list[str] = []

        async def step(progress: float, total: float | None, message: str | None) -> None:
            steps.append(message or "")

        result = await client.call_tool("evaluate", {"task": "relu"}, progress_callback=step)
        found = result.structured_content
        assert found is not None
        assert (found["accepted"], found["total"], found["verdicts"]) == (3, 3, {"right, faster": 3})
        assert steps
        assert all(" of 3 subgraphs: " in each for each in steps)
        # a person can watch it
        assert f"Run {found['run']}: http://page.example/runs?run={found['run']}" in text_of(result)
        listed = alone.service.runs()
        assert [each.run.label for each in listed] == ["agent", "agent"]
        assert listed[0].run.id == found["run"]
        assert f"{found['run']} " in await told(client, "list_runs", task="relu")
        assert "agent bundle" in await told(client, "scores", task="relu")
        # its files are still there, also for another task
        assert "a.py:" in await told(client, "read_task", task="relu")
        assert "a.py:" not in await told(client, "read_task", task="tanh")
        await told(client, "open_bundle", task="tanh", bundle=listed[0].run.bundle_digest)
        assert "a.py:" in await told(client, "read_task", task="tanh")

    agent(alone.program(), work, mode=mode)


def test_a_wrong_call_is_told_what_is_wrong(alone: Playground) -> None:
    async def work(client: Client) -> None:
        for tool, arguments, said in (
            ("gone", {}, "There is no tool 'gone'. There are: list_tasks,"),
            ("check", {}, "check lacks the argument task."),
            ("check", {"task": "gone"}, "Task 'gone' is not in this corpus."),
            ("check", {"task": 5}, "The argument task of check must be text"),
            ("check", {"task": "relu", "all": "x"}, "check has no argument 'all'. It has: task."),
            ("list_tasks", {"limit": 0}, "must be a number from 1 to 200"),
            ("evaluate", {"task": "relu", "stage": "check"}, "must be one of verify, measure"),
            ("write_file", {"task": "relu", "name": "../a.py", "code": ""}, "is not a valid file name"),
            ("read_guide", {"page": "gone"}, "The guide has no page 'gone'. It has: contract,"),
            ("open_bundle", {"task": "relu", "bundle": "gone"}, "There is no bundle 'gone' here."),
            ("explain", {"task": "relu", "subgraph": "float32/0"}, "Nothing was checked yet."),
            ("list_runs", {"task": "gone"}, "Task 'gone' is not in this corpus."),
        ):
            assert said in await refused(client, tool, **arguments)

    agent(alone.program(), work)


def test_a_call_that_is_given_up_cancels_its_run(alone: Playground, backend: FakeBackend) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slowly(job: Job) -> Outcome:
        entered.set()
        assert go_on.wait(seconds(60))
        return outcome(job, Verdict.FASTER)

    async def work(client: Client) -> None:
        await told(client, "write_file", task="relu", name="a.py", code=FASTER)
        backend.answer = slowly
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "evaluate", {"task": "relu"})
            assert await anyio.to_thread.run_sync(entered.wait, seconds(60))
            # one call at a time works on a task
            assert "Another call still works on task 'relu'" in await refused(client, "check", task="relu")
            group.cancel_scope.cancel()

    agent(alone.program(), work)
    (run,) = alone.service.runs()
    deadline = run_apart(until_cancelled(alone, run.run.id))
    go_on.set()
    assert deadline
    verdicts = [each.verdict for each in alone.service.wait(run.run.id)]
    assert verdicts[1:] == [Verdict.CANCELLED, Verdict.CANCELLED]


async def until_cancelled(alone: Playground, run_id: str) -> bool:
    with anyio.move_on_after(seconds(60)):
        while not alone.service.progress(run_id).cancelled:
            await anyio.sleep(0.05)
        return True
    return False


def test_each_agent_has_its_own_files_and_runs_and_its_persons_quota(many: Playground) -> None:
    alice, bob = many.program("alice"), many.program("bob")

    async def of_alice(client: Client) -> None:
        await told(client, "write_file", task="relu", name="secret.py", code=FASTER)
        await told(client, "evaluate", task="relu")

    async def of_bob(client: Client) -> None:
        assert "secret.py" not in await told(client, "read_task", task="relu")
        assert await told(client, "list_runs", task="relu") == "There is no run on this task."
        digest = many.service.runs()[0].run.bundle_digest
        assert "There is no bundle" in await refused(client, "open_bundle", task="relu", bundle=digest)
        await told(client, "write_file", task="relu", name="a.py", code=FASTER)
        assert many.register is not None
        many.register.spent(many.person("bob").id, ALLOWANCES[PersonRole.MEMBER].device_s + 1)
        assert "30 minutes of judging" in await refused(client, "evaluate", task="relu")

    agent(alice, of_alice)
    agent(bob, of_bob)
    assert many.service.visitor_of(many.service.runs()[0].run.id) == many.person("alice").id


def test_who_has_many_calls_under_way_gets_no_more_and_holds_up_nobody(tmp_path: Path, backend: FakeBackend) -> None:
    """64 calls that wait for a judge, and one person more who reads and writes."""
    go_on = threading.Event()

    def slowly(job: Job) -> Outcome:
        assert go_on.wait(seconds(120))
        return outcome(job, Verdict.FASTER)

    backend.answer = slowly
    tasks = [replace(three_subgraphs(), id=f"relu-{number}") for number in range(CALLS_OF_PERSON)]

    async def of_alice(client: Client) -> None:
        for task in tasks:
            await told(client, "write_file", task=task.id, name="a.py", code=FASTER)
        async with anyio.create_task_group() as group:
            for task in tasks:
                group.start_soon(client.call_tool, "evaluate", {"task": task.id})
            with anyio.fail_after(seconds(60)):
                while len(many.service.runs()) < CALLS_OF_PERSON:
                    await anyio.sleep(0.05)
            for number in range(64 - len(tasks)):
                said = await refused(client, "evaluate", task=tasks[number % len(tasks)].id)
                assert "16 of your calls are under way" in said
            await anyio.to_thread.run_sync(agent, bob, of_bob)
            go_on.set()
        assert "16 tasks" in await told(client, "list_tasks", query="relu")

    async def of_bob(client: Client) -> None:
        assert "16 tasks" in await told(client, "list_tasks", query="relu")
        assert "def pattern" in await told(client, "read_task", task="relu-0")
        assert "Wrote" in await told(client, "write_file", task="relu-0", name="a.py", code=FASTER)
        assert "no run" in await told(client, "list_runs", task="relu-0")
        assert "Nothing was timed" in await told(client, "scores")

    with playground(tmp_path, backend, tasks, many=True) as many:
        alice, bob = many.program("alice"), many.program("bob")
        agent(alice, of_alice)


def test_who_works_on_many_tasks_gives_up_the_first_and_nobody_elses(tmp_path: Path, backend: FakeBackend) -> None:
    most = PLACES_OF_PERSON
    tasks = [replace(three_subgraphs(), id=f"relu-{number}") for number in range(most + 5)]

    async def writes(client: Client) -> None:
        await told(client, "write_file", task="relu-0", name="a.py", code=FASTER)

    async def of_alice(client: Client) -> None:
        for task in tasks:
            await told(client, "read_task", task=task.id)
        await writes(client)
        for task in tasks[1:]:
            await told(client, "write_file", task=task.id, name="a.py", code=FASTER)
        # what she lost is said as long as she has not begun anew
        for _ in range(2):
            opening = await told(client, "read_task", task="relu-0")
            assert "Your files for this task are gone: you have worked on other tasks since." in opening
            assert "a.py:" not in opening
        assert "gone: you have worked on other" in await told(
            client, "write_file", task="relu-0", name="b.py", code=FASTER
        )
        assert "are gone" not in await told(client, "read_task", task="relu-0")
        assert "a.py:" in await told(client, "read_task", task=tasks[-1].id)

    async def of_bob(client: Client) -> None:
        assert "a.py:" in await told(client, "read_task", task="relu-0")

    with playground(tmp_path, backend, tasks, many=True) as many:
        bob = many.program("bob")
        agent(bob, writes)
        agent(many.program("alice"), of_alice)
        agent(bob, of_bob)


def test_files_are_held_for_half_an_hour_and_within_a_share_of_memory(
    tmp_path: Path, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "FILES_OF_PERSON_BYTES", 150_000)
    clock = [0.0]
    desk = AgentDesk(lambda run_id: "", now=lambda: clock[0])

    def call(tool: str, task: str, **arguments: str) -> str:
        access = PersonalService(served.service)
        return desk.call(access, tool, {"task": task, **arguments}, threading.Event(), lambda *_: None).text

    with playground(tmp_path, backend, [three_subgraphs(), three_subgraphs("tanh", 2)]) as served:
        call("write_file", "relu", name="a.py", code=FASTER)
        clock[0] += IDLE_S - 1
        assert "a.py:" in call("read_task", "relu")
        clock[0] += IDLE_S + 1
        assert "gone: nothing was done with them for 30 minutes." in call("check", "relu")
        call("write_file", "relu", name="a.py", code="#" * 90_000)
        call("write_file", "tanh", name="a.py", code="#" * 90_000)
        assert "gone: you have worked on other tasks" in call("read_task", "relu")
        assert "a.py:" in call("read_task", "tanh")


def test_a_stream_on_which_nothing_comes_cannot_be_opened(many: Playground) -> None:
    answered = many.program("alice").ask("GET", "/mcp", Accept="text/event-stream")
    assert (answered.status, answered.headers["allow"]) == (405, "POST")


def test_an_agent_without_a_token_is_not_let_in(many: Playground) -> None:
    async def nothing(client: Client) -> None:
        raise AssertionError("it was let in")

    for token in ("", "passnet_forged"):
        with pytest.raises(BaseExceptionGroup) as refusal:
            agent(Program(many.url, token), nothing)
        assert refusal.group_contains(MCPError, match="error response")


def test_an_agent_starts_the_program_itself(tmp_path: Path) -> None:
    """Over standard input and output, with the real judge: what agents are set up with."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "passnet_core", "mcp"], env={"PASSNET_HOME": str(tmp_path)}
    )

    async def work() -> None:
        async with Client(stdio_client(command)) as client:
            task = "abs-73ed99"
            assert task in await told(client, "list_tasks", query="abs", limit=200)
            await told(client, "write_file", task=task, name="a.py", code="def pattern(x):\n    return x.abs()\n")
            assert "replacement_func" in await told(client, "check", task=task)

    run_apart(work())
