"""Coding agents at work over the Model Context Protocol, with the client of its own SDK."""

import json
import re
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
from passnet_core.server.agents import CALLS_OF_PERSON, IDLE_S, PLACES_OF_PERSON, TOOL_FOR, AgentDesk
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
                named = set(offered.input_schema["properties"]) - {"task", "stage", "run"}
                assert named == set(tool.parameters["properties"])
        assert set(tools) == {
            *("list_tasks", "read_task", "open_bundle", "list_runs", "scores"), *("submit", "progress", "cancel"),
        }  # fmt: skip
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


def test_an_agent_hears_from_its_tools_what_they_change(alone: Playground) -> None:
    async def work(client: Client) -> None:
        hints = {each.name: each.annotations for each in (await client.list_tools()).tools}
        assert all(each is not None and each.open_world_hint is False for each in hints.values())
        writing = {name for name, each in hints.items() if each is not None and not each.read_only_hint}
        assert writing == {
            *("write_file", "patch_file", "delete_file", "open_bundle"), *("check", "evaluate", "submit", "cancel"),
        }  # fmt: skip
        destroying = {name for name, each in hints.items() if each is not None and each.destructive_hint}
        assert destroying == {"write_file", "patch_file", "delete_file", "open_bundle", "cancel"}
        repeatable = {name for name, each in hints.items() if each is not None and each.idempotent_hint}
        assert writing - repeatable == {"patch_file", "check", "evaluate", "submit"}

    agent(alone.program(), work)


def test_an_agent_submits_and_asks_how_far_it_is(alone: Playground, backend: FakeBackend) -> None:
    go_on = threading.Event()

    def slowly(job: Job) -> Outcome:
        assert go_on.wait(seconds(60))
        return outcome(job, Verdict.WRONG_VALUES)

    async def work(client: Client) -> None:
        assert "no pass yet" in await refused(client, "submit", task="relu")
        await told(client, "write_file", task="relu", name="a.py", code=WRONG)
        backend.answer = slowly
        submitted = (await client.call_tool("submit", {"task": "relu", "stage": "verify"})).structured_content
        assert submitted is not None
        run = submitted["run"]
        assert (submitted["finished"], submitted["done"], submitted["total"]) == (False, 0, 3)
        assert submitted["page"] == f"http://page.example/runs?run={run}"
        # its files can be worked on meanwhile
        assert "Changed" in await told(
            client, "patch_file", task="relu", name="a.py", old="return x", new="return x + 0"
        )
        assert "0 of 3 subgraphs: " in await told(client, "progress", run=run)
        go_on.set()
        result = await client.call_tool("progress", {"run": run, "wait_s": 60})
        found = result.structured_content
        assert found is not None
        assert (found["finished"], found["done"], found["verdicts"]) == (True, 3, {"wrong values": 3})
        assert "wrong values" in text_of(result)
        assert "wrong values" in await told(client, "explain", task="relu", subgraph="float32/1", run=run)
        assert "not on task 'tanh'" in await refused(client, "explain", task="tanh", subgraph="float32/1", run=run)
        assert "It has: " in await refused(client, "explain", task="relu", subgraph="gone", run=run)

    agent(alone.program(), work)


def test_a_submitted_run_goes_on_without_its_agent_and_can_be_cancelled(many: Playground, backend: FakeBackend) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slowly(job: Job) -> Outcome:
        entered.set()
        assert go_on.wait(seconds(60))
        return outcome(job, Verdict.FASTER)

    async def submits(client: Client) -> None:
        await told(client, "write_file", task="relu", name="a.py", code=FASTER)
        backend.answer = slowly
        await told(client, "submit", task="relu")

    async def not_mine(client: Client) -> None:
        for tool in ("progress", "cancel"):
            assert "There is no run" in await refused(client, tool, run=run_id)

    async def cancels(client: Client) -> None:
        for _ in range(2):
            await told(client, "cancel", run=run_id)
        go_on.set()
        assert "cancelled" in await told(client, "progress", run=run_id, wait_s=60)

    alice = many.program("alice")
    agent(alice, submits)
    assert entered.wait(seconds(60))
    (run,) = many.service.runs()
    run_id = run.run.id
    assert not many.service.progress(run_id).cancelled
    agent(many.program("bob"), not_mine)
    agent(alice, cancels)
    verdicts = [each.verdict for each in many.service.wait(run_id)]
    assert verdicts[1:] == [Verdict.CANCELLED, Verdict.CANCELLED]


def test_an_agent_reads_the_guide_tasks_and_bundles_by_their_addresses(many: Playground) -> None:
    alice, bob = many.program("alice"), many.program("bob")
    digests: list[str] = []

    async def read(client: Client, uri: str) -> Any:
        (content,) = (await client.read_resource(uri)).contents
        assert content.uri == uri
        return content

    async def of_alice(client: Client) -> None:
        listed = {each.name: each.uri for each in (await client.list_resources()).resources}
        assert "A **pass** is one Python file" in (await read(client, listed["contract"])).text
        templates = {each.uri_template for each in (await client.list_resource_templates()).resource_templates}
        assert templates == {
            *("passnet://guide/{page}", "passnet://tasks/{task}"),
            *("passnet://bundles/{bundle}", "passnet://bundles/{bundle}/{file}"),
        }
        task = await read(client, "passnet://tasks/relu")
        assert task.mime_type == "application/json"
        assert len(json.loads(task.text)["subgraphs"]) == 3
        await told(client, "write_file", task="relu", name="a.py", code=FASTER)
        await told(client, "evaluate", task="relu")
        digests.append(str(many.service.runs()[0].run.bundle_digest))
        bundle = json.loads((await read(client, f"passnet://bundles/{digests[0]}")).text)
        assert bundle["bundle"]["passes"][0]["code"] == FASTER
        assert (await read(client, f"passnet://bundles/{digests[0]}/a.py")).text == FASTER

    async def of_bob(client: Client) -> None:
        for uri, said in (
            (f"passnet://bundles/{digests[0]}", "There is no bundle"),
            (f"passnet://bundles/{digests[0]}/a.py", "There is no bundle"),
            ("passnet://tasks/gone", "List its tasks with: list_tasks"),
            ("passnet://guide/..%2Fcontract", "The guide has no page"),
            ("passnet://runs/1", "There is nothing at 'passnet://runs/1'. There are: passnet://guide/{page}"),
            ("file:///etc/passwd", "There is nothing at"),
        ):
            with pytest.raises(MCPError, match=re.escape(said)):
                await client.read_resource(uri)

    agent(alice, of_alice)
    agent(bob, of_bob)


def test_a_person_chooses_a_prompt_for_an_agent(alone: Playground) -> None:
    async def work(client: Client) -> None:
        prompts = {each.name: each for each in (await client.list_prompts()).prompts}
        assert set(prompts) == {"write_passes", "improve_bundle"}
        assert prompts["write_passes"].title == "Write passes for a task"
        assert [each.name for each in prompts["write_passes"].arguments or ()] == ["task"]
        (message,) = (await client.get_prompt("write_passes", {"task": "relu"})).messages
        assert "for the task relu" in getattr(message.content, "text", "")
        await told(client, "write_file", task="relu", name="a.py", code=FASTER)
        await told(client, "evaluate", task="relu")
        bundle = str(alone.service.runs()[0].run.bundle_digest)
        (message,) = (await client.get_prompt("improve_bundle", {"task": "relu", "bundle": bundle})).messages
        # what a prompt names are tools
        tools = {each.name for each in (await client.list_tools()).tools}
        text = getattr(message.content, "text", "")
        assert bundle in text
        assert set(re.findall(r"\b[a-z]+_[a-z_]+\b", text)) <= tools
        for name, arguments, said in (
            ("gone", {}, "There is no prompt 'gone'. There are: write_passes,"),
            ("write_passes", {}, "takes these arguments, and no others: task"),
            ("write_passes", {"task": "gone"}, "List its tasks with: list_tasks"),
            ("improve_bundle", {"task": "relu", "bundle": "gone"}, "There is no bundle"),
        ):
            with pytest.raises(MCPError, match=re.escape(said)):
                await client.get_prompt(name, arguments)

    agent(alone.program(), work)


COMMANDS = re.compile(r"\b(?:python -m passnet_core|passnet) [a-z]")


def test_what_an_agent_is_told_names_tools_and_no_commands(alone: Playground) -> None:
    async def work(client: Client) -> None:
        for tool, arguments, named in (
            ("check", {"task": "gone"}, "list_tasks"),
            ("list_runs", {"task": "gone"}, "list_tasks"),
            ("progress", {"run": "gone"}, "list_runs"),
            ("cancel", {"run": "gone"}, "list_runs"),
            ("explain", {"task": "relu", "subgraph": "float32/1", "run": "gone"}, "list_runs"),
        ):
            said = await refused(client, tool, **arguments)
            assert named in said
            assert not COMMANDS.search(said)
        for page in (await client.list_resources()).resources:
            (content,) = (await client.read_resource(page.uri)).contents
            assert not COMMANDS.search(content.text)  # type: ignore[union-attr]

    agent(alone.program(), work)


def test_every_command_in_a_message_of_what_agents_reach_has_a_tool() -> None:
    """The folders that agents reach by no tool are those of the command line, of persons and of the leaderboard."""
    package, apart = Path(agents.__file__).parents[1], {"cli", "people", "leaderboard", "judge", "training"}
    named = {
        found[1]
        for file in package.rglob("*.py")
        if file.relative_to(package).parts[0] not in apart
        for found in re.finditer(r"(?:python -m passnet_core|: passnet) ([a-z]+ [a-z]+)", file.read_text("utf-8"))
    }
    assert named == set(TOOL_FOR)


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
