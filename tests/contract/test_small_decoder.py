"""The small decoder of examples/finetune: what it reads and writes, and that it learns."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.finetune.small.conversations import encoded, parts_of, train_tokenizer
from examples.finetune.small.decoder import Schedule, Shape, SmallModel, new_decoder, train
from examples.finetune.small.rounds import accepted_rows, prepared
from passnet_core.execution.backends.fake import FakeBackend
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import EvalSpec, Stage, Verdict
from passnet_core.records.trajectories import Budget, End, Message, Role
from passnet_core.solvers.batch import solve
from passnet_core.solvers.llm.chat import ChatServer, ModelError, Trouble
from passnet_core.solvers.llm.client import ChatModel
from passnet_core.solvers.llm.conversation import LanguageModel
from passnet_core.solvers.trajectories import trajectories
from tests.contract.model_server import serving
from tests.contract.scripted import FINISH, a_pass, by_its_text, task, wrote

SHAPE = Shape(width=64, layers=2, heads=2, inner=128, context=2048, vocabulary=600)
SPEC = EvalSpec(stage=Stage.VERIFY)


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    made = Scheduler(FakeBackend(by_its_text))
    yield made
    made.close()


def attempted(model: Any, scheduler: Scheduler, folder: Path) -> Any:
    """One attempt at the task, as a trajectory."""
    solve(LanguageModel(model, Budget(turns=4)), [task()], scheduler, SPEC, folder, cancelled=threading.Event())
    ((_, found),) = trajectories(folder)
    return found


def test_a_decoder_that_learnt_an_accepted_conversation_holds_it_and_not_its_mistakes(
    tmp_path: Path, scheduler: Scheduler
) -> None:
    answers = [wrote(a_pass(Verdict.WRONG_VALUES)), wrote(a_pass(Verdict.VALUES_ONLY)), FINISH]
    with serving({"teacher": lambda request, asked: answers[asked]}) as server:
        taught = attempted(ChatModel(ChatServer(server.base_url), "teacher"), scheduler, tmp_path / "taught")
    assert taught.ending.solved
    rows = accepted_rows(tmp_path / "taught")
    texts = (text for row in rows for text, _ in parts_of(row["messages"]))
    tokenizer = train_tokenizer(texts, 600, tmp_path / "t.json")
    (tokens, own), _ = prepared(rows, tokenizer, SHAPE.context)
    learnt = tokenizer.decode([each for each, is_own in zip(tokens, own) if is_own], skip_special_tokens=False)
    assert learnt == (
        f"<|call|>write_file<|argument|>a.py<|argument|>{a_pass(Verdict.VALUES_ONLY)}<|call|>evaluate<|end|>"
        "<|call|>finish<|end|>"
    )
    model = new_decoder(SHAPE, seed=0)
    # it begins as the teacher should have: the mistake and what was said of it are left out
    first = [rows[0]["messages"][0], rows[0]["messages"][1], *rows[0]["messages"][5:]]
    data = [encoded(first, tokenizer)]
    curve = train(model, data, Schedule(steps=70, tokens=4096, rate=5e-3), tmp_path / "trained", seed=0)
    assert curve[-1]["loss"] < 0.1 < curve[0]["loss"]
    small = SmallModel(model, tokenizer, "small", context=SHAPE.context, most_new=200, temperature=0.0)
    try:
        held = attempted(small, scheduler, tmp_path / "held")
    finally:
        small.close()
    assert held.ending.solved
    assert held.ending.end is End.FINISHED
    assert [[call.name for call in turn.answer.calls] for turn in held.turns] == [
        ["write_file", "evaluate"],
        ["finish"],
    ]


def test_training_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "### finish"}]}
    tokenizer = train_tokenizer(["Go.<|call|>finish<|end|>"], 300, tmp_path / "t.json")
    data = prepared([row], tokenizer, 64)
    first = train(new_decoder(SHAPE, 0), data, Schedule(steps=3, tokens=64), tmp_path, seed=0)
    again = train(new_decoder(SHAPE, 1), data, Schedule(steps=5, tokens=64), tmp_path, seed=0)
    assert again[: len(first)] == first
    assert [each["step"] for each in again] == list(range(len(again)))
    assert (len(first), len(again)) == (3, 5)
    assert train(new_decoder(SHAPE, 2), data, Schedule(steps=5, tokens=64), tmp_path, seed=0) == again
    with pytest.raises(ValueError, match="nothing to train on"):
        train(new_decoder(SHAPE, 0), [], Schedule(steps=1), tmp_path, seed=0)


def test_a_conversation_that_fills_the_context_is_refused_as_such(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(["some words"], 300, tmp_path / "t.json")
    small = SmallModel(new_decoder(SHAPE, 0), tokenizer, "small", context=128)
    try:
        with pytest.raises(ModelError) as refusal:
            small.complete([Message(Role.USER, "some words " * 100)], (), cancelled=threading.Event())
    finally:
        small.close()
    assert refusal.value.trouble is Trouble.TOO_LONG
