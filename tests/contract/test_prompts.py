"""Prompts: what the judge's service tells of tasks, always the same, and answers in the form that each asks for."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passnet_client import JudgeClient, JudgeError
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.shapes import read_shapes, write_shapes
from passnet_core.execution.backends.base import InspectSubgraph
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Device, EvalSpec, Inspection, NodeValue, Subgraph, TensorForm
from passnet_core.server.judge_service import ServiceLimits, judge_service
from passnet_core.server.ledger import Ledger
from passnet_core.settings import BUNDLED_DATA
from passnet_core.solvers.llm.prompting import first_of_sources
from passnet_core.training.prompts import CallProtocol, prompt_row, prompts_for
from tests.contract.judge_served import served
from tests.contract.judging import RIGHT, WRONG
from tests.contract.listening import listening
from tests.contract.scripted import by_its_text, task
from tests.fake_backend import FakeBackend

TASKS, DERIVED = BUNDLED_DATA / "tasks", BUNDLED_DATA / "training" / "tasks"


def unasked(subgraph: Subgraph) -> Inspection:
    raise AssertionError("a prompt asks no judge")


# --- always the same -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus([TASKS, DERIVED])


def test_prompts_of_all_train_tasks_are_the_same_from_every_service_and_wait_for_no_judge(
    corpus: Corpus, tmp_path: Path
) -> None:
    bundled = Corpus([TASKS])
    told = []
    for number in range(2):
        backend, ledger = FakeBackend(by_its_text, inspection=unasked), Ledger(tmp_path / str(number))
        scheduler = Scheduler(backend)
        app = judge_service(bundled, scheduler, ledger, tokens={}, limits=ServiceLimits())
        with listening(app, before_end=scheduler.close) as url:
            judge = JudgeClient(url, patience_s=0)
            told += [judge.prompts("train"), judge.ask("GET", "/prompts?split=train")]
            assert judge.task(told[0][7]["id"], "text") == told[0][7]
        ledger.close()
        assert (backend.inspected, backend.jobs) == ([], [])
    assert len(told[0]) == 191
    assert told[1:] == told[:1] * 3
    assert all("Shapes and dtypes of its nodes" in each["messages"][1]["content"] for each in told[0])


def test_a_conversation_begins_with_the_prompt_of_its_task(tmp_path: Path) -> None:
    value = NodeValue("sum_1", (TensorForm((4, 33), "float32"),))
    backend = FakeBackend(by_its_text, inspection=unasked)
    (tmp_path / "tasks").mkdir()
    write_shapes(tmp_path / "tasks", {task().subgraphs[0].digest: (value,)})
    with served(tmp_path, backend, [task()]) as judge:
        for protocol in CallProtocol:
            detail = judge.task("add-relu", protocol.value)
            assert "- float32 [4, 33]: sum_1" in detail["messages"][1]["content"]
            assert detail["protocol"] == protocol.value
            with judge.session("add-relu", protocol=protocol.value) as session:
                assert (session.messages, session.tools) == (detail["messages"], detail["tools"])
        with pytest.raises(JudgeError, match="no-such-task") as refusal:
            judge.prompts(names=["add-relu", "no-such-task"])
        assert refusal.value.status == 404
    assert backend.inspected == []


def test_the_shapes_of_every_subgraph_that_a_prompt_shows_come_with_the_tasks(corpus: Corpus) -> None:
    shapes = read_shapes(corpus.folders)
    for name in (each.id for each in corpus.tasks()):
        for subgraph in first_of_sources(corpus.task(name).subgraphs):
            assert subgraph.digest in shapes, f"{name}: run python -m tools.shaping data/tasks data/training/tasks"


def test_the_shapes_are_what_a_judge_finds(corpus: Corpus, backend: LocalBackend) -> None:
    shapes = read_shapes(corpus.folders)
    (subgraph, *_) = first_of_sources(corpus.task("attention-softmax").subgraphs)
    inspection = backend.inspect(InspectSubgraph(subgraph, Device.CPU), threading.Event())
    assert inspection.values == shapes[subgraph.digest]


# --- what a prompt asks for, a reward can read -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def judge(backend: LocalBackend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JudgeClient]:
    with served(tmp_path_factory.mktemp("service"), backend, [task()]) as client:
        yield client


def called(code: str) -> dict[str, Any]:
    return {"name": "write_file", "arguments": {"name": "fused.py", "code": code}}


def answers(code: str, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Answers around a pass in the ways for which this prompt asks, as fields of a request."""
    if row["protocol"] == "text":
        heading = row["prompt"][0]["content"].rpartition("### write_file")[1]
        assert heading, "the prompt shows how a file is written"
        text = f"I fuse it.\n\n{heading} fused.py\n```python\n{code}```\n\n### evaluate\n"
        return [{"text": text}, {"messages": [{"role": "assistant", "content": text}]}]
    (tool,) = (each for each in json.loads(row["tools"]) if each["function"]["name"] == "write_file")
    assert sorted(called(code)["arguments"]) == sorted(tool["function"]["parameters"]["required"])
    call = {"id": "a", "type": "function", "function": called(code)}
    as_text = {**called(code), "arguments": json.dumps(called(code)["arguments"])}
    return [
        {"text": f"<tool_call>\n{json.dumps(called(code))}\n</tool_call>"},
        {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]},
        {"messages": [{"role": "assistant", "content": "", "tool_calls": [{**call, "function": as_text}]}]},
    ]


@pytest.mark.parametrize("protocol", CallProtocol)
def test_a_right_pass_in_the_form_for_which_the_prompt_asks_is_worth_1_and_a_wrong_one_0(
    judge: JudgeClient, protocol: CallProtocol
) -> None:
    (prompt,) = prompts_for([task()], EvalSpec(device=Device.CPU), protocol)
    row = prompt_row(prompt, 0)
    assert row["protocol"] == protocol.value
    for code, reward in ((RIGHT, 1.0), (WRONG, 0.0)):
        for answer in answers(code, row):
            assert judge.evaluate("add-relu", stage=row["stage"], **answer)["reward"] == reward
