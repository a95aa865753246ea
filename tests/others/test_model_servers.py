"""Conversations with real servers of models. The model is tiny and writes rubbish, unless it has learned an answer."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Device, EvalSpec, Stage, Verdict
from passnet_core.records.trajectories import Budget, End, Message, Role, ToolCall, Trajectory
from passnet_core.solvers import batch
from passnet_core.solvers.llm.chat import ChatServer, Model, ModelError, Reply, Stopped, Tool, Trouble, described
from passnet_core.solvers.llm.client import ChatModel
from passnet_core.solvers.llm.conversation import LanguageModel
from passnet_core.solvers.llm.tools import TOOLS
from passnet_core.solvers.llm.wire import sent
from passnet_core.solvers.trajectories import read_trajectory
from tests.contract.scripted import a_pass, by_its_text, task
from tests.fake_backend import FakeBackend
from tests.others.environments import python_of
from tests.others.serving_models import (
    LITELLM,
    LLAMA_CPP,
    SERVERS,
    TRANSFORMERS,
    RealServer,
    litellm_proxy,
    llama_cpp_server,
    running,
)
from tests.others.tiny_model import Recipe, Template, make

pytestmark = pytest.mark.slow

KINDS = (TRANSFORMERS, LLAMA_CPP, LITELLM)
"""LiteLLM's proxy stands in front of `transformers serve`."""
SPEC = EvalSpec(Stage.VERIFY, Device.CPU)
SHORT_ANSWER = 24
FEW = Budget(turns=3, reply_tokens=SHORT_ANSWER)
LONG_ANSWER = {TRANSFORMERS: 2000, LLAMA_CPP: 400, LITELLM: 2000}
"""The tokens of an answer that is stopped: many seconds. The time of llama.cpp's Python server grows with the cube of
them."""
ASKED = (Message(Role.SYSTEM, "You write passes."), Message(Role.USER, "Write one."))

WRITE = ToolCall("a", "write_file", json.dumps({"name": "a.py", "code": a_pass(Verdict.VALUES_ONLY)}))
SOLUTION = (
    Message(Role.MODEL, "", (WRITE, ToolCall("b", "evaluate", "{}"))),
    Message(Role.MODEL, "", (ToolCall("c", "finish", "{}"),)),
)
GARBLED = Message(Role.MODEL, '<tool_call>\n{"name": "evaluate", "arguments": {oh no\n</tool_call>')
SMALL_CONTEXT = 1024
"""Fewer tokens than the first messages of a conversation."""


# --- models and servers, each made once ---


class Rehearsal:
    """A model that gives these answers, to learn what a conversation with them is."""

    name = "rehearsal"

    def __init__(self, answers: Sequence[Message]) -> None:
        self.answers = list(answers)
        self.said: tuple[Message, ...] = ()

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], **_: Any) -> Reply:
        answer = self.answers.pop(0)
        self.said = (*messages, answer)
        return Reply(answer, "tool_calls" if answer.calls else "stop")


def lesson(folder: Path, *answers: Message) -> dict[str, Any]:
    """The conversation in which a model gives these answers, as it is sent to a server."""
    model = Rehearsal(answers)
    held(model, folder, Budget(turns=len(answers)))
    return {"messages": sent(model.said), "tools": [described(tool) for tool in TOOLS]}


RECIPES: dict[str, Callable[[Path], Recipe]] = {
    "hermes": lambda folder: Recipe(Template.HERMES, gguf=True),
    "no tools": lambda folder: Recipe(Template.NO_TOOLS, gguf=True),
    "alternating": lambda folder: Recipe(Template.ALTERNATING, gguf=True),
    "taught": lambda folder: Recipe(Template.HERMES, lessons=(lesson(folder, *SOLUTION),), gguf=True),
    "garbling": lambda folder: Recipe(Template.HERMES, lessons=(lesson(folder, GARBLED),)),
    "short": lambda folder: Recipe(Template.HERMES, context=SMALL_CONTEXT, gguf=True),
}
"""The models, by what they know or what their chat template does."""


class Place:
    """Makes each model, and starts each server, where it is first needed."""

    def __init__(self, folder: Path, ending: contextlib.ExitStack) -> None:
        self.folder, self.ending = folder, ending
        self.models: dict[str, Path] = {}
        self.servers: dict[tuple[str, str], RealServer] = {}

    def model(self, name: str) -> Path:
        if name not in self.models:
            where = self.folder / name.replace(" ", "-")
            recipe = RECIPES[name](self.folder / f"rehearsal of {name}")
            self.models[name] = make(python_of(TRANSFORMERS), where, recipe)
        return self.models[name]

    def server(self, kind: str, name: str) -> RealServer:
        if (kind, name) not in self.servers:
            self.servers[kind, name] = self.ending.enter_context(running(self.another(kind, name)))
        return self.servers[kind, name]

    def another(self, kind: str, name: str) -> RealServer:
        """A server that no other test uses, which has yet to be started."""
        folder = self.folder / f"{kind}-{name.replace(' ', '-')}-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        if kind == LITELLM:
            return litellm_proxy(self.server(TRANSFORMERS, name), folder)
        return SERVERS[kind](self.model(name), folder)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with contextlib.ExitStack() as ending:
        yield Place(tmp_path_factory.mktemp("servers"), ending)


def client(server: RealServer, name: str | None = None, patience_s: float = 20.0) -> ChatModel:
    """The playground's own client."""
    return ChatModel(ChatServer(server.base_url), name or server.model, patience_s=patience_s)


def held(model: Model, folder: Path, budget: Budget = FEW) -> Trajectory:
    """The attempt that the batch of one task makes, or goes on with, in this folder."""
    scheduler = Scheduler(FakeBackend(by_its_text))
    try:
        batch.solve(LanguageModel(model, budget), [task()], scheduler, SPEC, folder, cancelled=threading.Event())
    finally:
        scheduler.close()
    return read_trajectory(folder / "add-relu" / "1" / batch.RECORD)


def end_of(found: Trajectory) -> End:
    assert found.ending is not None
    return found.ending.end


# --- what is the same with all of them ---


@pytest.mark.parametrize("template", ["hermes", "no tools", "alternating"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_writes_rubbish_is_asked_three_times_and_no_server_is_blamed(
    place: Place, tmp_path: Path, kind: str, template: str
) -> None:
    found = held(client(place.server(kind, template)), tmp_path)
    assert end_of(found) in (End.SILENT, End.TURNS), found.ending
    assert len(found.turns) == 3
    for turn in found.turns:
        assert turn.answer.text or turn.answer.calls
        # LiteLLM counts with a tokenizer of its own, and llama.cpp's Python server does not tell a count
        assert 0 < turn.reply_tokens <= (1 if kind == TRANSFORMERS else 2) * SHORT_ANSWER
        assert 500 < turn.prompt_tokens < 10_000
        assert turn.restarts == 0
    # whoever calls no tool is told in plain text how to
    assert "### write_file" in found.turns[1].said[0].text


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_stopped_at_once_and_the_server_answers_again(place: Place, kind: str) -> None:
    model = client(place.server(kind, "hermes"))
    cancelled = threading.Event()
    pieces: list[str] = []

    def stop(text: str) -> None:
        pieces.append(text)
        cancelled.set()

    with pytest.raises(Stopped):
        model.complete(ASKED, (), cancelled=cancelled, on_text=stop, most_tokens=LONG_ANSWER[kind])
    assert len(pieces) < LONG_ANSWER[kind] // 2, "it waited for the rest of the answer"
    again = model.complete(ASKED, (), cancelled=threading.Event(), most_tokens=4)
    assert again.finish == "length"


class Interrupted:
    """A model whose second answer is interrupted when it has begun."""

    def __init__(self, model: ChatModel, interrupt: Callable[[], None]) -> None:
        self.model, self.interrupt, self.name = model, interrupt, model.name
        self.answers = 0

    def complete(self, messages: Sequence[Message], tools: Sequence[Tool], **more: Any) -> Reply:
        self.answers += 1
        last = self.answers == 2

        def seen(text: str) -> None:
            nonlocal last
            if last:
                last = False
                self.interrupt()

        return self.model.complete(messages, tools, **{**more, "on_text": seen})


@pytest.mark.parametrize("kind", KINDS)
def test_an_attempt_goes_on_after_its_server_was_killed_in_the_middle_of_an_answer(
    place: Place, tmp_path: Path, kind: str
) -> None:
    budget = Budget(turns=3, reply_tokens=120)
    with running(place.another(kind, "hermes")) as server:
        model = client(server, patience_s=3.0)
        broken = held(Interrupted(model, server.kill), tmp_path, budget)
        assert broken.ending is not None
        assert (end_of(broken), len(broken.turns)) == (End.SERVER, 1)
        assert "cannot be reached, or breaks the connection" in broken.ending.reason
        server.start()
        found = held(model, tmp_path, budget)
    assert end_of(found) in (End.SILENT, End.TURNS)
    assert len(found.turns) == 3
    assert found.turns[0] == broken.turns[0]


# --- where they differ ---


@pytest.mark.parametrize("kind", [TRANSFORMERS, LITELLM])
def test_the_calls_of_a_model_go_through_the_servers_parser_and_solve_the_task(
    place: Place, tmp_path: Path, kind: str
) -> None:
    found = held(client(place.server(kind, "taught")), tmp_path, Budget(turns=4, reply_tokens=300))
    assert found.ending is not None
    assert (end_of(found), found.ending.accepted, len(found.turns)) == (End.FINISHED, 1, 2)
    called = [[(call.name, json.loads(call.arguments)) for call in turn.answer.calls] for turn in found.turns]
    assert called == [
        [("write_file", json.loads(WRITE.arguments)), ("evaluate", {})],
        [("finish", {})],
    ]


def test_calls_that_llama_cpps_python_server_leaves_in_the_text_are_read(place: Place, tmp_path: Path) -> None:
    found = held(client(place.server(LLAMA_CPP, "taught")), tmp_path, Budget(turns=2, reply_tokens=300))
    assert not found.turns[0].answer.text
    assert [call.name for call in found.turns[0].answer.calls] == ["write_file", "evaluate"]
    assert found.turns[0].offered


@pytest.mark.parametrize("kind", [TRANSFORMERS, LITELLM])
def test_a_call_that_the_server_cannot_read_is_the_models_fault(place: Place, tmp_path: Path, kind: str) -> None:
    found = held(client(place.server(kind, "garbling")), tmp_path, Budget(turns=2, reply_tokens=100))
    assert end_of(found) is not End.SERVER, found.ending


@pytest.mark.parametrize("kind", [TRANSFORMERS, LITELLM])
def test_an_unknown_model_is_reported_as_such(place: Place, tmp_path: Path, kind: str) -> None:
    model = client(place.server(kind, "hermes"), "nobody")
    with pytest.raises(ModelError, match="has no model 'nobody'") as failed:
        model.complete(ASKED, TOOLS, cancelled=threading.Event())
    assert failed.value.trouble is Trouble.UNKNOWN_MODEL
    assert end_of(held(model, tmp_path)) is End.SERVER


def test_llama_cpps_python_server_answers_to_every_name(place: Place) -> None:
    model = client(place.server(LLAMA_CPP, "hermes"), "nobody")
    assert model.complete(ASKED, (), cancelled=threading.Event(), most_tokens=8).message.text


@pytest.mark.parametrize("proxied", [False, True], ids=["alone", "behind LiteLLM"])
def test_a_full_context_is_said_to_be_one(place: Place, tmp_path: Path, proxied: bool) -> None:
    with contextlib.ExitStack() as ending:
        server = ending.enter_context(running(llama_cpp_server(place.model("short"), tmp_path, context=SMALL_CONTEXT)))
        if proxied:
            server = ending.enter_context(running(litellm_proxy(server, tmp_path)))
        found = held(client(server, patience_s=3.0), tmp_path / "out")
    # LiteLLM answers with nothing instead of saying so
    assert (end_of(found), len(found.turns)) == (End.CONTEXT, 3 if proxied else 0), found.ending


def test_transformers_serve_does_not_notice_a_full_context(place: Place, tmp_path: Path) -> None:
    found = held(client(place.server(TRANSFORMERS, "short")), tmp_path)
    assert len(found.turns) == 3
    assert min(turn.prompt_tokens for turn in found.turns) > SMALL_CONTEXT
