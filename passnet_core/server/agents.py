"""The tools of coding agents: those of a conversation, with the task named in each call, and those that find tasks,
runs and scores. What an agent has judged are runs like any other, which a person can watch on a page."""

import contextlib
import json
import re
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from passnet_core.access.personal import PersonalService
from passnet_core.corpus import searching
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.outside import quoted
from passnet_core.records import Bundle, Device, EvalSpec, Outcome, Stage, Task
from passnet_core.records.text import is_valid
from passnet_core.records.trajectories import ToolCall
from passnet_core.server import agent_resources
from passnet_core.server.at_once import AtOnce
from passnet_core.solvers.llm.chat import Tool
from passnet_core.solvers.llm.conversation import INSPECT_WITHIN_S, guide
from passnet_core.solvers.llm.feedback import explained, summary
from passnet_core.solvers.llm.files import ToolProblem
from passnet_core.solvers.llm.prompting import first_of_sources
from passnet_core.solvers.llm.tools import NOT_DONE, TOOLS, Workplace

CALLS_OF_PERSON = 16
"""How many calls of one person are executed at once."""
PLACES_OF_PERSON = 20
"""For how many tasks the files of one person's agents are held."""
MOST_PLACES = 2000
"""For how many tasks those of all agents are held."""
FILES_OF_PERSON_BYTES, MOST_FILES_BYTES = 16 << 20, 256 << 20
"""How much memory these files may take."""
IDLE_S = 1800.0
"""How long the files of an agent that does nothing are held, in seconds."""
MOST_REMEMBERED = 10_000
"""Of how many tasks it is remembered that files were given up, to say so."""
LOOK_EVERY_S = 0.1
LISTED, MOST_LISTED = 20, 200
MOST_WAIT_S = 60
MOST_BOARDS, MOST_STANDINGS = 10, 50
LABEL = "agent"
GONE = "Your files for this task are gone: {}. list_runs names the bundles that were judged, and open_bundle opens one."
"""What an agent is told whose files were given up."""
INSTRUCTIONS = """Write a compiler pass for a real PyTorch subgraph, and have it judged. Find a task with list_tasks, \
read it with read_task, write files with write_file, then check and evaluate them. Only what evaluate reports counts. \
Where an answer must not take long, submit instead of evaluate, and ask with progress. \
Each task has files of its own, which stay from call to call; after half an hour without one, they are given up."""

_TASK = {"type": "string", "description": "the task's name, as list_tasks gives it"}
_RUN = {"type": "string", "description": "the run's id, as submit or list_runs gives it"}
_STAGE = {
    "type": "string",
    "enum": [Stage.VERIFY.value, Stage.MEASURE.value],
    "description": "verify: values only; measure: times too, on a GPU (default: measure where there is a GPU)",
}


def _for_agents(tool: Tool) -> Tool:
    """A tool of a conversation, with the task as its first argument where it works on one."""
    properties = dict(tool.parameters["properties"])
    if tool.name != "read_guide":
        properties = {"task": _TASK, **properties}
    required = list(properties)
    if tool.name == "evaluate":
        properties["stage"] = _STAGE
    if tool.name == "explain":
        properties["run"] = {**_RUN, "description": "a run on the task (default: the last check or evaluation)"}
    return _tool(tool.name, tool.description, properties, required)


def _tool(name: str, description: str, properties: Mapping[str, Any], required: list[str]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Tool(name, description, schema)


_CONVERSATION = tuple(_for_agents(each) for each in TOOLS if each.name != "finish")
AGENT_TOOLS = (
    _tool(
        "list_tasks",
        "Finds tasks. A query has words of a task's name or its operations, shapes such as 128x768, and sequences of"
        " operations such as layer_norm->linear.",
        {
            "query": {"type": "string", "description": "what to find (default: all)"},
            "split": {"type": "string", "description": "only this part of the benchmark, such as train or eval"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "description": f"default: {LISTED}"},
        },
        [],
    ),
    _tool(
        "read_task",
        "Shows a task: its subgraphs with their sources and inputs, the machine that judges, and what a pass must do."
        " Also shows the files that you have written for it.",
        {"task": _TASK},
        ["task"],
    ),
    _tool(
        "open_bundle",
        "Replaces your files for a task by those of a stored bundle, to repair or improve it.",
        {"task": _TASK, "bundle": {"type": "string", "description": "its digest, or the name of a reference bundle"}},
        ["task", "bundle"],
    ),
    *_CONVERSATION,
    _tool(
        "submit",
        "Does what evaluate does, and answers at once with the run's id. The run goes on if you leave.",
        {"task": _TASK, "stage": _STAGE},
        ["task"],
    ),
    _tool(
        "progress",
        "Tells how far a run is, and what was found once it has finished.",
        {
            "run": _RUN,
            "wait_s": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_WAIT_S,
                "description": "for how many seconds to wait until it has finished (default: not at all)",
            },
        },
        ["run"],
    ),
    _tool("cancel", "Ends a run of yours. What was judged of it stays.", {"run": _RUN}, ["run"]),
    _tool(
        "list_runs",
        "Lists the latest runs on a task, with what was accepted, how fast it was, and the digests of their bundles.",
        {"task": _TASK},
        ["task"],
    ),
    _tool(
        "scores",
        "Shows how solvers rank on a task, or on all tasks: the aggregate score of each on a device.",
        {"task": {"type": "string", "description": "the task's name (default: all tasks)"}},
        [],
    ),
)
"""All tools, in the order in which an agent reads about them."""


@dataclass(frozen=True)
class ToolEffect:
    """What a tool changes. destroys: something that was there may be gone. idempotent: an equal call once more changes
    nothing."""

    destroys: bool = False
    idempotent: bool = False


EFFECTS: Mapping[str, ToolEffect] = {
    "write_file": ToolEffect(destroys=True, idempotent=True),
    "patch_file": ToolEffect(destroys=True),
    "delete_file": ToolEffect(destroys=True, idempotent=True),
    "open_bundle": ToolEffect(destroys=True, idempotent=True),
    "check": ToolEffect(),
    "evaluate": ToolEffect(),
    "submit": ToolEffect(),
    "cancel": ToolEffect(destroys=True, idempotent=True),
}
"""The tools that change files, or start or end runs. All others only read."""
TOOL_FOR: Mapping[str, str] = {"corpus list": "list_tasks", "runs list": "list_runs"}
"""The tools that do what a command does."""
COMMAND = re.compile(r"\b(?:python -m passnet_core|passnet) (corpus list|runs list)")

Told = Callable[[int, int, str], None]
"""Hears how far judging has come: subgraphs done, of how many, and what is done at present."""


@dataclass(frozen=True)
class AgentAnswer:
    """What a tool answers. data: the same for programs, or None. failed: whether the call could not be executed."""

    text: str
    data: dict[str, Any] | None = None
    failed: bool = False


@dataclass
class _AgentPlace:
    """Where an agent works on one task. One call works in it at a time. access: as the agent has it in this call.
    run_id: of what was judged in it."""

    workplace: Workplace
    access: PersonalService
    stage: Stage
    told: Told = lambda done, total, text: None
    run_id: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def file_bytes(self) -> int:
        return sum(map(sys.getsizeof, self.workplace.files.codes.values()))


@dataclass
class _Held:
    """A place that is held from call to call. file_bytes: the memory that its files took after the last call."""

    place: _AgentPlace
    used_at: float
    file_bytes: int = 0


class _AgentPlaces:
    """Where agents work, by person and task: so many places and so much memory for each person, and for all. Where
    there is no room, the place that was idle longest gives way, and its person is told. Safe to share between
    threads."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        """The one that was idle longest comes first."""
        self._given_up: OrderedDict[tuple[str, str], str] = OrderedDict()

    @contextlib.contextmanager
    def at_work(
        self, owner: str, task_id: str, make: Callable[[], _AgentPlace], *, changing: bool
    ) -> Iterator[tuple[_AgentPlace, str]]:
        """Work alone in somebody's place on a task. Yields it, and why files that were there are gone, or "".

        make: makes the place if there is none; it is held only if changing. Raises BadInput while another call works
        in it."""
        key = (owner, task_id)
        with self._lock:
            self._forget_idle()
            gone = self._given_up.get(key, "")
            if key not in self._held and changing:
                self._held[key] = _Held(make(), self._now())
                self._given_up.pop(key, None)
            held = self._held.get(key)
            place = make() if held is None else held.place
            if not place.lock.acquire(blocking=False):
                raise BadInput(f"Another call still works on task {quoted(task_id)}. Wait for its answer.")
            self._make_room(owner)
        try:
            yield place, gone
        finally:
            with self._lock:
                if held is not None:
                    held.used_at, held.file_bytes = self._now(), place.file_bytes
                    self._held.move_to_end(key)
                    self._make_room(owner)
                place.lock.release()

    def _make_room(self, owner: str) -> None:
        while self._is_too_much((own := self._of(owner)), PLACES_OF_PERSON, FILES_OF_PERSON_BYTES):
            if not self._give_up_one(own, "you have worked on other tasks since"):
                break
        while self._is_too_much(self._held, MOST_PLACES, MOST_FILES_BYTES):
            if not self._give_up_one(self._held, "many others have worked here since"):
                break

    def _of(self, owner: str) -> dict[tuple[str, str], _Held]:
        return {key: held for key, held in self._held.items() if key[0] == owner}

    def _is_too_much(self, held: Mapping[tuple[str, str], _Held], most: int, most_bytes: int) -> bool:
        return len(held) > most or sum(each.file_bytes for each in held.values()) > most_bytes

    def _forget_idle(self) -> None:
        until = self._now() - IDLE_S
        idle = {key: held for key, held in self._held.items() if held.used_at < until}
        while self._give_up_one(idle, f"nothing was done with them for {IDLE_S / 60:.0f} minutes"):
            pass

    def _give_up_one(self, held: Mapping[tuple[str, str], _Held], why: str) -> bool:
        """Give up the one of these that was idle longest; False if a call works in each of them."""
        key = next((key for key in held if key in self._held and not held[key].place.lock.locked()), None)
        if key is None:
            return False
        del self._held[key]
        self._given_up[key] = why
        if len(self._given_up) > MOST_REMEMBERED:
            self._given_up.popitem(last=False)
        return True


class AgentDesk:
    """Executes the calls of agents. Holds each agent's files by task, in memory. Safe to share between threads.

    page_of: tells the address at which a person can watch a run; empty if there is none."""

    def __init__(self, page_of: Callable[[str], str], *, now: Callable[[], float] = time.monotonic) -> None:
        self._page_of = page_of
        self._places = _AgentPlaces(now)
        self._calls = AtOnce()
        """How many calls of whom are executed."""
        self._closing = threading.Event()

    def call(
        self, access: PersonalService, name: str, arguments: Mapping[str, Any], cancelled: threading.Event, told: Told
    ) -> AgentAnswer:
        """Execute a call, and say so if that is not possible. When cancelled, its run is cancelled too."""
        try:
            with self._share(access.owner):
                return self._answer(access, name, _checked(name, arguments), cancelled, told)
        except PlaygroundError as error:
            return AgentAnswer(f"{NOT_DONE}{for_agents(error)}", failed=True)

    def read(self, access: PersonalService, uri: str) -> agent_resources.Resource:
        """What is at an address. Raises UnknownItem, and BadInput while too many calls are under way."""
        with self._share(access.owner):
            return agent_resources.read(access, uri)

    def prompt(self, access: PersonalService, name: str, given: Mapping[str, str]) -> str:
        """The text of a prompt. Raises UnknownItem, and BadInput for what cannot be asked for."""
        with self._share(access.owner):
            return agent_resources.prompt_text(access, name, given)

    def close(self) -> None:
        """Give up what is being judged."""
        self._closing.set()

    @contextlib.contextmanager
    def _share(self, owner: str) -> Iterator[None]:
        """Raises BadInput if a person has as many calls under way as may be."""
        with self._calls.one_more(owner, CALLS_OF_PERSON) as room:
            if not room:
                raise BadInput(
                    f"{CALLS_OF_PERSON} of your calls are under way, and no more can be. Wait for an answer."
                )
            yield

    def _answer(
        self,
        access: PersonalService,
        name: str,
        given: dict[str, Any],
        cancelled: threading.Event,
        told: Told,
    ) -> AgentAnswer:
        match name:
            case "list_tasks":
                return _tasks(access, given)
            case "list_runs":
                return _runs(access, given["task"])
            case "scores":
                return _scores(access, given.get("task"))
            case "read_guide":
                return AgentAnswer(agent_resources.guide_page(given["page"]))
            case "progress":
                return self._progress(access, given["run"], given.get("wait_s", 0), cancelled)
            case "cancel":
                access.cancel(given["run"])
                return self._progress(access, given["run"], 0, cancelled)
        task = access.shared.corpus.task(given.pop("task"))
        with self._places.at_work(
            access.owner, task.id, lambda: self._made(access, task), changing=name in EFFECTS
        ) as (place, gone):
            answer = self._worked(place, access, task, name, given, cancelled, told)
        return replace(answer, text=f"{GONE.format(gone)}\n\n{answer.text}") if gone else answer

    def _worked(
        self,
        place: _AgentPlace,
        access: PersonalService,
        task: Task,
        name: str,
        given: dict[str, Any],
        cancelled: threading.Event,
        told: Told,
    ) -> AgentAnswer:
        # the person's role may have changed since the last call
        place.access, place.told, place.run_id = access, told, ""
        workplace = place.workplace
        if name == "read_task":
            first = first_of_sources(task.subgraphs)
            surroundings = workplace.bench.surroundings(first, INSPECT_WITHIN_S, cancelled)
            opening = workplace.opening(task, surroundings, in_text=False)
            return AgentAnswer("\n\n".join(each.text for each in opening))
        if name == "open_bundle":
            bundle = access.bundle(given["bundle"])
            workplace.files.take(bundle)
            return AgentAnswer(f"Your files are now: {', '.join(workplace.files.codes)}.")
        if name == "explain" and "run" in given:
            return _explained(access, task, given["run"], given["subgraph"])
        if name == "submit":
            return self._submitted(place, access, task, Stage(given.get("stage", _usual_stage(access))))
        if name == "evaluate":
            place.stage = Stage(given.pop("stage", _usual_stage(access)))
        done = workplace.do(ToolCall("", name, json.dumps(given)), cancelled)
        if not place.run_id:
            return AgentAnswer(done.text, failed=done.text.startswith(NOT_DONE))
        return self._judged(access.outcomes(place.run_id), place.run_id, done.text)

    def _submitted(self, place: _AgentPlace, access: PersonalService, task: Task, stage: Stage) -> AgentAnswer:
        try:
            bundle = place.workplace.files.bundle(place.workplace.author)
        except ToolProblem as problem:
            raise BadInput(str(problem)) from problem
        run_id = access.submit(task, bundle, EvalSpec(stage=stage, device=access.device), label=LABEL)
        return self._standing(access.progress(run_id), "It was submitted. Ask how far it is with progress.")

    def _progress(self, access: PersonalService, run_id: str, wait_s: float, cancelled: threading.Event) -> AgentAnswer:
        until = time.monotonic() + wait_s
        while not (found := access.progress(run_id)).finished and time.monotonic() < until:
            if cancelled.wait(LOOK_EVERY_S) or self._closing.is_set():
                break
        if found.finished:
            return self._standing(found, found.problem or summary(found.outcomes))
        waits = found.queue_position
        doing = found.detail or found.phase.value if waits is None else f"{waits} runs are ahead of it"
        return self._standing(found, f"{found.done} of {found.total} subgraphs: {doing}")

    def _standing(self, found: Progress, text: str) -> AgentAnswer:
        answer = self._judged(found.outcomes, found.run.id, text)
        standing = {"finished": found.finished, "done": found.done, "total": found.total}
        return replace(answer, data={**(answer.data or {}), **standing})

    def _judged(self, outcomes: Sequence[Outcome], run_id: str, text: str) -> AgentAnswer:
        page = self._page_of(run_id)
        data = {
            "run": run_id,
            "page": page,
            "accepted": sum(each.verdict.accepted for each in outcomes),
            "total": len(outcomes),
            "verdicts": dict(Counter(each.verdict.value for each in outcomes)),
        }
        return AgentAnswer(f"{text}\n\nRun {run_id}" + (f": {page}" if page else "."), data)

    def _made(self, access: PersonalService, task: Task) -> _AgentPlace:
        stage = _usual_stage(access)

        def judged(bundle: Bundle | None, spec: EvalSpec, cancelled: threading.Event) -> tuple[Outcome, ...]:
            asked = spec if spec.stage is Stage.CHECK else replace(spec, stage=place.stage)
            # a run of the agent's own, so that nobody need ask whether it is seen
            run_id = place.run_id = place.access.submit(task, bundle, asked, label=LABEL)
            try:
                while not (found := access.progress(run_id)).finished:
                    place.told(found.done, found.total, found.detail or found.phase.value)
                    if cancelled.wait(LOOK_EVERY_S) or self._closing.is_set():
                        break
            finally:
                # also if whoever hears of the progress has gone
                if not access.progress(run_id).finished:
                    place.access.cancel(run_id)
            return access.wait(run_id)

        bench = access.bench(task, EvalSpec(stage=stage, device=access.device), judged)
        author = "agent" if access.person is None else access.person.name
        place = _AgentPlace(Workplace(bench, guide(), author), access, stage)
        return place


def _usual_stage(access: PersonalService) -> Stage:
    """measure where there is a GPU that this person may use, else verify."""
    return Stage.MEASURE if access.device is Device.CUDA else Stage.VERIFY


def _checked(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call. Raises BadInput if there is no such tool, or if it does not take them."""
    tool = next((each for each in AGENT_TOOLS if each.name == name), None)
    if tool is None:
        raise BadInput(f"There is no tool {quoted(name)}. There are: {', '.join(each.name for each in AGENT_TOOLS)}.")
    properties, required = tool.parameters["properties"], tool.parameters["required"]
    if missing := [each for each in required if each not in arguments]:
        raise BadInput(f"{name} lacks the argument {missing[0]}.")
    if unknown := [each for each in arguments if each not in properties]:
        raise BadInput(f"{name} has no argument {quoted(unknown[0])}. It has: {', '.join(properties) or 'none'}.")
    for each, value in arguments.items():
        wanted = properties[each]
        if wanted["type"] == "integer":
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= wanted["maximum"]:
                raise BadInput(f"The argument {each} of {name} must be a number from 1 to {wanted['maximum']}.")
        elif not isinstance(value, str) or not is_valid(value):
            raise BadInput(f"The argument {each} of {name} must be text in valid Unicode.")
        elif value not in wanted.get("enum", [value]):
            raise BadInput(f"The argument {each} of {name} must be one of {', '.join(wanted['enum'])}.")
    return dict(arguments)


def for_agents(error: PlaygroundError) -> str:
    """The message of an error, with the tools that do what the commands in it do."""
    return COMMAND.sub(lambda command: TOOL_FOR[command[1]], str(error))


def _explained(access: PersonalService, task: Task, run_id: str, subgraph_id: str) -> AgentAnswer:
    if task.id not in access.run(run_id).task_ids:
        raise BadInput(f"Run {run_id} is not on task {quoted(task.id)}. list_runs names those that are.")
    outcomes = {each.subgraph_id: each for each in access.outcomes(run_id)}
    if subgraph_id not in outcomes:
        known = f"It has: {', '.join(outcomes)}." if outcomes else "It has none yet: ask how far it is with progress."
        raise BadInput(f"Run {run_id} has no outcome on subgraph {quoted(subgraph_id)}. {known}")
    return AgentAnswer(explained(outcomes[subgraph_id]))


def _tasks(access: PersonalService, given: Mapping[str, Any]) -> AgentAnswer:
    split = given.get("split")
    every = searching.found(given.get("query", ""), access.shared.corpus.tasks())
    found = [each for each in every if split in (None, each.split)]
    shown = found[: given.get("limit", LISTED)]
    lines = [
        f"{each.id} ({each.split}, {each.subgraphs} subgraphs, {', '.join(each.dtypes)}): {' → '.join(each.operators)}"
        for each in shown
    ]
    return AgentAnswer(
        "\n".join([f"{len(found)} tasks" + (f", of which {len(shown)}:" if shown else "."), *lines]),
        {"total": len(found), "tasks": [each.id for each in shown]},
    )


def _runs(access: PersonalService, task_id: str) -> AgentAnswer:
    access.shared.corpus.task(task_id)
    lines = []
    for each in access.runs(LISTED, task_id):
        speed = "" if each.median_speedup is None else f", {each.median_speedup:.3f} times eager"
        what = f"bundle {each.run.bundle_digest}" if each.run.bundle_digest else "TorchInductor"
        lines.append(
            f"{each.run.id} {each.run.started_at[:10]} {what}, {each.run.spec.stage.value} on"
            f" {each.device or 'no device'}: {each.accepted} of {each.total} accepted{speed}"
        )
    return AgentAnswer("\n".join(lines) or "There is no run on this task.")


def _scores(access: PersonalService, task_id: str | None) -> AgentAnswer:
    from passnet_core.leaderboard.boards import standings_of  # numpy loads only where scores are asked for

    if task_id is not None:
        access.shared.corpus.task(task_id)
    parts = []
    for board in access.boards(task_id)[:MOST_BOARDS]:
        lines = [
            f"- {name}: " + ("no score" if report.aggregate is None else f"aggregate score {report.aggregate:.4f}")
            for name, report in standings_of(board)[:MOST_STANDINGS]
        ]
        conditions = f"capture {board.capture.value}, profile {board.profile.value}, clock {board.clock_version}"
        parts.append(
            "\n".join([f"{board.title} on {board.device} ({conditions}), {len(board.places)} subgraphs:", *lines])
        )
    return AgentAnswer("\n\n".join(parts) or "Nothing was timed on a GPU yet.")
