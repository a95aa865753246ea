"""The small decoder of examples/finetune: what it reads and writes, and that it learns."""

import json
import random
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer

from examples.finetune.small.conversations import (
    Conversations,
    named_as_in_tasks,
    parts_of,
    straightened,
    train_tokenizer,
)
from examples.finetune.small.decoder import BEFORE, Decoder, Schedule, Shape, SmallModel, new_decoder, train
from examples.finetune.small.rounds import accepted_rows
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
from tests.fake_backend import FakeBackend

SHAPE = Shape(width=64, layers=2, heads=2, inner=128, context=2048, vocabulary=800)
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
    tokenizer = train_tokenizer(texts, 800, tmp_path / "t.json")
    tokens, own = Conversations(rows, tokenizer, SHAPE.context).read(0, random.Random(0))
    learnt = tokenizer.decode(tokens[own].tolist(), skip_special_tokens=False)
    assert learnt == (
        f"<|call|>write_file<|argument|>a.py<|argument|>{a_pass(Verdict.VALUES_ONLY)}<|call|>evaluate<|end|>"
        "<|call|>finish<|end|>"
    )
    model = new_decoder(SHAPE, seed=0)
    # it begins as the teacher should have: the mistake and what was said of it are left out
    first = [rows[0]["messages"][0], rows[0]["messages"][1], *rows[0]["messages"][5:]]
    data = Conversations([{"messages": first}], tokenizer, SHAPE.context)
    schedule = Schedule(steps=40, tokens=4096, rate=1e-2, dropout=0.0)
    curve = train(model, data, schedule, tmp_path / "trained", seed=0)
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
    tokenizer = train_tokenizer(["Go.<|call|>finish<|end|>"], 450, tmp_path / "t.json")
    data = Conversations([row], tokenizer, 64)

    def trained(seed: int, steps: int) -> list[dict[str, float]]:
        return train(
            new_decoder(SHAPE, seed),
            data,
            Schedule(steps=steps, tokens=64, copied=2),
            tmp_path / "made",
            seed=0,
        )

    first = trained(0, 3)
    again = trained(1, 5)
    assert again[: len(first)] == first
    assert [each["step"] for each in again] == list(range(len(again)))
    assert (len(first), len(again)) == (3, 5)
    assert trained(2, 5) == again
    empty = Conversations([], tokenizer, 64)
    with pytest.raises(ValueError, match="nothing to train on"):
        train(new_decoder(SHAPE, 0), empty, Schedule(steps=1), tmp_path / "none", seed=0)


CODE = """def pattern({arguments}):
    {value}0 = {argument}0 * 0.044715
    return {value}0

def kernel({argument}0_ptr, {upper}0: tl.constexpr, within_0):
    {value}0 = {argument}0 * 0.044715 + 1.0
"""
TASK = """The task is cut-mul.

```python
    def forward(self, in_0):
        tmp_0 = in_0 * 0.044715
        return (tmp_0,)
```
"""


def conversation_with(argument: str, value: str) -> list[dict[str, Any]]:
    code = CODE.format(arguments=f"{argument}0", argument=argument, value=value, upper=argument.upper())
    calls = [
        {"id": "1", "function": {"name": "write_file", "arguments": json.dumps({"name": "a.py", "code": code})}},
        {"id": "2", "function": {"name": "evaluate", "arguments": "{}"}},
    ]
    return [
        {"role": "system", "content": "You write passes."},
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "Wrote a.py: a pass.", "tool_call_id": "1"},
        {"role": "tool", "content": "Right.", "tool_call_id": "2"},
    ]


@pytest.mark.parametrize(("argument", "value"), [("in_", "tmp_"), ("operand_", "node_"), ("x_", "mid_")])
def test_the_pattern_that_is_learnt_is_a_passage_of_the_task(argument: str, value: str) -> None:
    (task_text, _), (answer, own), *_ = named_as_in_tasks(parts_of(conversation_with(argument, value)))
    assert own
    assert "def pattern(in_0):\n    tmp_0 = in_0 * 0.044715\n" in answer
    assert "kernel(in_0_ptr, IN_0: tl.constexpr, within_0)" in answer
    assert "tmp_0 = in_0 * 0.044715" in task_text


def test_each_reading_draws_numbers_and_constants_that_agree_everywhere(tmp_path: Path) -> None:
    row = {"messages": conversation_with("x_", "mid_")}
    tokenizer = train_tokenizer([TASK], 450, tmp_path / "t.json")
    data = Conversations([row] * 20, tokenizer, 1024)
    seen = set()
    for number in range(len(data)):
        assert torch.equal(data.read(number, random.Random(1))[0], data.read(number, random.Random(1))[0])
        text = tokenizer.decode(data.read(number, random.Random(number))[0].tolist(), skip_special_tokens=False)
        ((value, of, constant),) = set(re.findall(r"(\w+) = (\w+) \* ([\d.]+)", text))
        assert f"{value} = {of} * {constant} + 1.0" in text
        assert f"kernel({of}_ptr, {of.upper()}: tl.constexpr, " in text
        assert len(constant) == len("0.044715")
        seen.add((value, of, constant))
    assert len(seen) > 20
    for place, usual in enumerate(("tmp_0", "in_0", "0.044715")):
        assert 5 < sum(each[place] == usual for each in seen) < len(seen)


def test_sizes_of_the_task_are_drawn_and_the_numbers_of_launches_stay(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "values [768, 1024] from a1_768: view(1, 12, 64)"},
        {"role": "assistant", "content": "### write_file a.py\n```python\nview(1, 12, 64)  # 1024, 2**31 - 1, 99\n```"},
    ]
    tokenizer = train_tokenizer(["values from"], 450, tmp_path / "t.json")
    data = Conversations([{"messages": messages}], tokenizer, 1024)
    seen = set()
    for seed in range(20):
        text = tokenizer.decode(data.read(0, random.Random(seed))[0].tolist(), skip_special_tokens=False)
        view = re.search(r"view\(1, \d\d, \d\d\)", text)
        assert view is not None
        size = text[text.index("[") :][1:4]
        assert text == (
            f"<|user|>values [{size}, 1024] from a1_768: {view[0]}"
            f"<|call|>write_file<|argument|>a.py<|argument|>{view[0]}  # 1024, 2**31 - 1, 99\n<|end|>"
        )
        seen.add((size, view[0]))
    assert len(seen) > 10


def test_a_conversation_that_is_longer_than_the_context_is_cut_off_and_learnt_up_to_there(tmp_path: Path) -> None:
    messages = conversation_with("in_", "tmp_")
    tokenizer = train_tokenizer(["some words"], 450, tmp_path / "t.json")
    before, answer = (len(tokenizer.encode(text).ids) for text, _ in list(parts_of(messages))[:2])
    data = Conversations([{"messages": messages}], tokenizer, before + 20)
    assert data.lengths == [before + 20] * 2
    tokens, own = data.read(0, random.Random(0))
    assert (len(tokens), int(own.sum())) == (before + 20, 20)
    assert answer > 20
    assert len(Conversations([{"messages": messages}], tokenizer, before)) == 0


def test_a_conversation_that_began_with_a_bundle_has_no_straight_form() -> None:
    messages = conversation_with("in_", "tmp_")
    assert straightened(messages) is not None
    given = {"role": "user", "content": "There is a bundle already. Repair or improve it."}
    assert straightened([*messages[:2], given, *messages[2:]]) is None


def test_answers_that_are_sampled_together_are_those_that_are_sampled_alone(tmp_path: Path) -> None:
    asked = [f"word {number} " * (number + 1) for number in range(5)]
    tokenizer = train_tokenizer(asked, 450, tmp_path / "t.json")
    model = new_decoder(SHAPE, 3)

    def answers(at_once: int) -> list[str]:
        small = SmallModel(
            model, tokenizer, "small", context=256, most_new=100, at_once=at_once, temperature=0.0
        )  # fmt: skip
        try:
            with ThreadPoolExecutor(len(asked)) as threads:
                return list(threads.map(lambda text: written_by(small, text), asked))
        finally:
            small.close()

    together = answers(3)
    assert together == answers(1)
    assert together == [by_hand(model, tokenizer, text, 100) for text in asked]


def written_by(small: SmallModel, text: str) -> str:
    said: list[str] = []
    small.complete([Message(Role.USER, text)], (), cancelled=threading.Event(), on_text=said.append)
    return said[0]


def by_hand(model: Decoder, tokenizer: Tokenizer, text: str, most: int) -> str:
    """The likeliest tokens after a user's words, with the whole text read anew for each of them."""
    tokens = tokenizer.encode(f"<|user|>{text}").ids
    made: list[int] = []
    end = tokenizer.token_to_id("<|end|>")
    with torch.no_grad():
        while len(made) < most and end not in made:
            read = torch.tensor([[0] * BEFORE + tokens + made])
            hidden = model.hidden(read, torch.arange(len(tokens) + len(made))[None])
            made.append(int(model.logits(hidden[0, -1]).argmax()))
    answer: str = tokenizer.decode(made, skip_special_tokens=False)
    return answer


def test_a_conversation_that_fills_the_context_is_refused_as_such(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(["some words"], 450, tmp_path / "t.json")
    small = SmallModel(new_decoder(SHAPE, 0), tokenizer, "small", context=128)
    try:
        with pytest.raises(ModelError) as refusal:
            small.complete([Message(Role.USER, "some words " * 100)], (), cancelled=threading.Event())
    finally:
        small.close()
    assert refusal.value.trouble is Trouble.TOO_LONG
