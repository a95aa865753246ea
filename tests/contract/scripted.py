"""Answers of scripted models, a task for them, a fake judge that takes its verdict from the code, and what holds of the
conversations that a script wrote for training."""

import json
import re

from passnet_core.records import Family, Job, Outcome, Stage, Subgraph, Task, TensorSpec, Verdict
from passnet_core.records.trajectories import Trajectory
from tests.contract.judging import ADD_RELU
from tests.contract.made import outcome
from tests.contract.model_server import Said

FINISH = Said("That is all.", [("finish", "{}")])


def task(name: str = "add-relu") -> Task:
    inputs = tuple(TensorSpec(each, (4, 33), "float32", mean=0.0, std=1.0) for each in ("in_0", "in_1"))
    return Task(name, Family.FUSIBLE, "train", (Subgraph("float32/0", name, "model", ADD_RELU, inputs),))


def by_its_text(job: Job) -> Outcome:
    """The answer of a fake judge: the verdict that the code names after the word VERDICT."""
    assert job.bundle is not None
    code = job.bundle.passes[0].code
    verdict = next((each for each in Verdict if f"VERDICT {each.value}" in code), Verdict.NO_MATCH)
    if job.spec.stage is Stage.CHECK:
        verdict = Verdict.MATCHED
    return outcome(job, verdict)


def a_pass(verdict: Verdict, more: str = "") -> str:
    return f"def pattern(x):\n    return x\n\n# VERDICT {verdict.value}\n{more}"


def wrote(code: str) -> Said:
    """An answer that writes a file and evaluates it."""
    return Said("Let me see.", [("write_file", json.dumps({"name": "a.py", "code": code})), ("evaluate", "{}")])


def assert_only_calls(conversation: Trajectory) -> None:
    """The model's answers are tool calls, or code blocks that stand for them, and no words."""
    for turn in conversation.turns:
        if turn.answer.calls:
            assert not turn.answer.text
        else:
            outside = re.sub(r"^```.*?^```$", "", turn.answer.text, flags=re.MULTILINE | re.DOTALL)
            assert all(line.startswith("### ") for line in outside.splitlines() if line.strip())
