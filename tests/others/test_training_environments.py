"""The adapters of the judge's service, as they are installed, in the frameworks for which they are made."""

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from passnet_core.execution.backends.base import outcome_without_judge
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Job, Outcome, Verdict
from passnet_core.server.judge_service import ServiceLimits
from passnet_core.solvers.llm.tools import TOOLS
from tests.contract.judge_served import served
from tests.contract.judging import RIGHT, WRONG
from tests.contract.model_server import ModelServer, Said, saying, serving
from tests.contract.scripted import FINISH, task, wrote
from tests.documents import commands_in, document, shell_blocks
from tests.others.environments import KEPT, python_of
from tests.waiting import seconds

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = PROJECT / "tests" / "others" / "programs"
FAULT = RIGHT + "\n# the machine fails while it judges this\n"
NAMES = [each.name for each in TOOLS]

Run = Callable[..., dict[str, Any]]


class OnAFailingMachine:
    """The real judge, on a machine that fails while it judges one bundle."""

    def __init__(self, backend: LocalBackend) -> None:
        self._backend = backend
        self.capacity, self.inspect = backend.capacity, backend.inspect

    def run(self, job: Job, *given: Any, **more: Any) -> Outcome:
        if job.bundle is not None and FAULT in job.bundle.passes[0].code:
            return outcome_without_judge(job, Verdict.INFRASTRUCTURE, "The machine failed.")
        return self._backend.run(job, *given, **more)

    def close(self) -> None:
        """Other tests use it."""


@pytest.fixture(scope="module")
def url(backend: LocalBackend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the judge's service is, with one task."""
    folder = tmp_path_factory.mktemp("service")
    with served(folder, OnAFailingMachine(backend), [task()], limits=ServiceLimits(most=64)) as client:
        yield client.url


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run one of the programs with the interpreter of an environment, and return what it saw."""

    def run(environment: str, program: str, **order: Any) -> dict[str, Any]:
        done = command(tmp_path, str(python_of(environment)), str(PROGRAMS / program), json.dumps(order))
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    return run


def command(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command of an environment in this folder, without a hub, a GPU or a time limit shorter than a test's."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub"), "TOKENIZERS_PARALLELISM": "false"}
    small = {"OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        words, cwd=folder, env={**os.environ, **offline, **small, **settings}, capture_output=True, text=True,
        timeout=seconds(300), check=False,
    )  # fmt: skip


def answer(code: str) -> str:
    return f"Here it is.\n```python\n{code}```\n"


def by_headings(code: str) -> str:
    """An answer to a prompt in text."""
    return f"Here it is.\n\n### write_file a.py\n```python\n{code}```\n\n### evaluate\n\n### finish\n"


def by_json(code: str) -> str:
    """The same as a chat template writes tool calls."""
    calls = [{"name": "write_file", "arguments": {"name": "a.py", "code": code}}, {"name": "evaluate"}]
    return "\n".join(f"<tool_call>\n{json.dumps(each)}\n</tool_call>" for each in (*calls, {"name": "finish"}))


# --- OpenEnv ---------------------------------------------------------------------------------------------------------


def test_an_openenv_client_plays_episodes(run: Run, url: str) -> None:
    codes = {"right": RIGHT, "wrong": WRONG, "fault": FAULT, "nothing": None}
    texts = {"headings": by_headings(RIGHT), "JSON": by_json(RIGHT), "wrong": by_headings(WRONG)}
    found = run("openenv", "steps_with_openenv.py", url=url, codes=codes, texts=texts)
    assert found["in text"] == {
        name: [[], reward, True, reward] for name, reward in (("headings", 1.0), ("JSON", 1.0), ("wrong", 0.0))
    }
    for name, reward in {"right": 1.0, "wrong": 0.0, "fault": None, "nothing": 0.0}.items():
        episode = found["episodes"][name]
        assert (episode["roles"], episode["tools"]) == (["system", "user"], NAMES)
        assert episode["begun"] == [None, False]
        *before, last = episode["steps"]
        assert [(each["reward"], each["done"]) for each in before] == [(None, False)] * len(before)
        assert (last["tool"], last["reward"], last["observed"], last["done"]) == ("finish", reward, reward, True)
        if before:
            assert [each["tool"] for each in before] == ["write_file", "evaluate"]
            assert "Wrote a.py" in before[0]["said"]
            assert before[1]["evaluated"] == reward
        state = episode["state"]
        assert (state["task"], state["finished"], state["reward_if_ended"]) == ("add-relu", True, reward)
        assert state["step_count"] == len(episode["steps"])
    assert found["generic"] == [1.0, True, 1.0]
    assert "The episode has ended" in found["too late"]
    assert "reset(task=" in found["no task"]
    assert "no-such-task" in found["unknown task"]
    assert "does not answer" in found["unreachable"]
    assert found["status"] == 0


# --- verl ------------------------------------------------------------------------------------------------------------


def test_verls_reward_managers_score_answers(run: Run, url: str) -> None:
    answers = {
        "right": by_headings(RIGHT),
        "wrong": by_json(WRONG),
        "fault": answer(FAULT),
        "nothing": "I do not know.",
    }
    found = run("verl", "scores_with_verl.py", url=url, answers=answers, path="pkg://passnet_client.verl")
    for name in ("NaiveRewardManager", "DAPORewardManager"):
        told = found[name]
        assert told["sums"] == told["at the end"] == told["extra"]["score"] == [1.0, 0.0, 0.0]
        assert told["extra"]["acc"] == told["extra"]["right_draws"] == [1.0, 0.0, 0.0]
        assert told["extra"]["matches"] == [1.0, 1.0, 0.0]
        assert "NoReward: No reward on task 'add-relu'" in told["fault"]
        assert told["unreachable"].startswith("JudgeError")
    assert found["timed out"].startswith("NoReward"), "verl does not make a 0 of it"
    for name in ("loop naive", "loop dapo"):
        assert (found[name]["scores"], found[name]["acc"]) == ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
        assert "NoReward" in found[name]["fault"]


# --- verifiers -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where verifiers keeps what it installs for the programs that hold its conversations."""
    return tmp_path_factory.mktemp("home")


def evaluated(
    folder: Path, home: Path, judge: str, models: ModelServer, model: str
) -> tuple[str, list[dict[str, Any]]]:
    """Have verifiers evaluate a model, and return what it printed, if it failed, and the traces."""
    program = python_of("verifiers").with_name("vf-eval")
    (block,) = [block for block in shell_blocks(document("docs/training.md")) if block.startswith("vf-eval ")]
    ours = {"MODEL": model, "http://127.0.0.1:8000/v1": models.base_url, "KEY": "NO_KEY"}
    _, *words = [ours.get(word, word) for word in commands_in(block)[0].split()]
    done = command(
        folder, str(program), *words, "--env.taskset.task.tools.patience-s", "0", "--no-rich",
        "-o", str(folder / "out"), "--run.dir", model,
        HOME=str(home), UV_CACHE_DIR=str(KEPT / "uv-cache"), PASSNET_JUDGE_URL=judge,
        PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}", PYTHONPATH="",
    )  # fmt: skip
    traces = folder / "out" / model / "traces.jsonl"
    found = traces.read_text().splitlines() if traces.exists() else []
    said = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}" if done.returncode else ""
    return said, [trace for line in found for trace in json.loads(line)["traces"]]


def test_verifiers_evaluates_a_model(tmp_path: Path, home: Path, url: str) -> None:
    scripts = {
        name: saying(wrote(code), FINISH) for name, code in (("right", RIGHT), ("wrong", WRONG), ("fault", FAULT))
    }
    scripts["silent"] = saying(Said("I do not know."))
    scripts |= {"in text": saying(Said(by_headings(RIGHT))), "as JSON": saying(Said(by_json(RIGHT)))}
    scripts["wrong in text"] = saying(Said(by_headings(WRONG)))
    parts = {"accepted": 1.0, "loads": 1.0, "matches": 1.0, "right_draws": 1.0, "cheats": 0.0, "evaluations": 1.0}
    with serving(scripts) as models:
        found = {name: evaluated(tmp_path, home, url, models, name) for name in scripts}
        asked = [request for _, request in models.asked if request["model"] == "right"]
    assert [said for said, _ in found.values()] == [""] * len(scripts)
    rewards = {}
    for name, (_, (trace,)) in found.items():
        rewards[name] = trace["rewards"]["judged"] and trace["rewards"]["judged"]["score"]
        assert trace["ok"] == (rewards[name] is not None)
    assert {name: rewards.pop(name) for name in ("in text", "as JSON")} == {"in text": 1.0, "as JSON": 1.0}
    assert rewards == {"right": 1.0, "wrong": 0.0, "fault": None, "silent": 0.0, "wrong in text": 0.0}
    assert found["right"][1][0]["metrics"] == found["in text"][1][0]["metrics"] == parts
    assert found["wrong"][1][0]["metrics"] == {**parts, "accepted": 0.0, "right_draws": 0.0}
    (error,) = found["fault"][1][0]["errors"]
    assert error["type"] == "TaskError"
    assert "could not be judged" in error["message"]
    assert len(asked) == 2, "finish ends the rollout"
    offered = {each["function"]["name"]: each["function"] for each in asked[0]["tools"]}
    assert list(offered) == NAMES
    for tool in TOOLS:
        assert offered[tool.name]["description"] == tool.description
        properties = offered[tool.name]["parameters"]["properties"]
        assert {name: each["description"] for name, each in properties.items()} == {
            name: each["description"] for name, each in tool.parameters["properties"].items()
        }
    assert [each["role"] for each in asked[0]["messages"]] == ["system", "user"]
    assert [each["role"] for each in asked[1]["messages"][2:]] == ["assistant", "tool", "tool"]
    assert "right" in asked[1]["messages"][-1]["content"]


def test_verifiers_marks_a_rollout_whose_judge_went_away(home: Path, backend: LocalBackend, tmp_path: Path) -> None:
    with contextlib.ExitStack() as service:
        client = service.enter_context(served(tmp_path / "service", OnAFailingMachine(backend), [task()]))

        def script(request: dict[str, Any], before: int) -> Said:
            if before == 1:
                service.close()
            return Said("", [("write_file", json.dumps({"name": "a.py", "code": RIGHT}))])

        with serving({"interrupted": script}) as models:
            said, (trace,) = evaluated(tmp_path, home, client.url, models, "interrupted")
            assert not said
            assert (trace["ok"], trace["rewards"]) == (False, {"judged": None})
            assert "does not answer" in trace["errors"][0]["message"]
            assert len(models.asked) == 2, "nothing more is asked then"
            said, traces = evaluated(tmp_path, home, client.url, models, "never")
            assert "does not answer" in said
            assert traces == []


# --- TRL -------------------------------------------------------------------------------------------------------------


def test_trl_trains_with_the_reward_function_and_the_environment(run: Run, url: str) -> None:
    answers = {"right": answer(RIGHT), "wrong": answer(WRONG), "fault": answer(FAULT), "nothing": "I do not know."}
    found = run("trl", "trains_with_trl.py", url=url, answers=answers, codes=[RIGHT, WRONG, FAULT])

    by_function = found["function"]
    assert (by_function["name"], by_function["rewards"]) == ("judge_reward", [1.0, 0.0, None, 0.0])
    right, wrong, fault, nothing = by_function["advantages"]
    assert right > 0 > wrong == nothing
    assert fault == 0, "no reward is neither good nor bad"
    assert right == pytest.approx(-wrong * 2), "nor does it count in the mean of the group"
    assert by_function["moved"] > 0
    assert by_function["logged"]["judge/no_reward"] == 0.25
    assert by_function["judged"][:3] == [Verdict.VALUES_ONLY, Verdict.WRONG_VALUES, Verdict.INFRASTRUCTURE]
    assert "no pass" in by_function["judged"][3]

    assert found["plain"] == found["in blocks"] == [1.0, 0.0, None, 0.0]
    assert found["tool calls"] == [1.0, 0.0]
    assert found["no content"] == [0.0]
    assert "no-such-task" in found["unknown task"]

    by_environment = found["environment"]
    assert (by_environment["name"], by_environment["rewards"]) == ("JudgedConversation", [1.0, 0.0, None, 0.0, 0.0])
    assert by_environment["advantages"][2] == 0 < by_environment["advantages"][0]
    with_tools = ["assistant", "tool", "tool", "assistant"]
    assert by_environment["roles"] == [with_tools] * 3 + [["assistant"], ["assistant", "tool", "assistant"]]
    assert "right, not timed" in by_environment["said"][0]
    assert "wrong values" in by_environment["said"][1]
    assert by_environment["logged"]["tools/failure_frequency"] == 0
    assert found["sessions"] == 0, "a conversation ends with its rollout"

    for without in (found["function, no judge"], found["environment, no judge"]):
        assert set(without["rewards"]) == {None}
        assert set(without["advantages"]) == {0.0}
        assert without["moved"] == 0, "no reward moves no weight"

    assert found["prompts"] == [1, "add-relu", True]
    assert "column task" in found["no task"]
    assert {each["function"]["name"]: schema_of(each) for each in found["tools"]} == {
        tool.name: (tool.description, tool.parameters["properties"], tool.parameters["required"]) for tool in TOOLS
    }


def schema_of(tool: dict[str, Any]) -> tuple[str, dict[str, Any], list[str]]:
    """The description of a tool, its parameters, and which of them it needs."""
    function = tool["function"]
    parameters = function["parameters"]
    return " ".join(function["description"].split()), parameters["properties"], parameters.get("required", [])
