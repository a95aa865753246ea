"""The report of attempts before and after training, from folders that solve wrote."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Device, EvalSpec, Job, Outcome, Stage, Verdict
from passnet_core.solvers.batch import solve
from passnet_core.solvers.inductor import Inductor
from passnet_core.solvers.llm.chat import ChatServer
from passnet_core.solvers.llm.client import ChatModel
from passnet_core.solvers.llm.conversation import LanguageModel
from tests.contract.made import outcome
from tests.contract.model_server import Script, serving
from tests.contract.scripted import FINISH, a_pass, by_its_text, task, wrote
from tests.fake_backend import FakeBackend

PROJECT = Path(__file__).resolve().parents[2]
TASKS = [task(f"task-{number}") for number in range(6)]


def judged(job: Job) -> Outcome:
    if job.bundle is not None:
        return by_its_text(job)
    return outcome(job, Verdict.SLOWER if job.spec.stage is Stage.MEASURE else Verdict.VALUES_ONLY, speedup=0.7)


def writing(verdict: Verdict) -> Script:
    """A model that writes a pass with this verdict, and then finishes, at every task."""
    answers = [wrote(a_pass(verdict)), FINISH]
    return lambda request, before: answers[sum(each["role"] == "assistant" for each in request["messages"])]


def made(*folders: Path, out: Path) -> str:
    command = [sys.executable, "examples/finetune/report.py", *map(str, folders), "--out", str(out)]
    done = subprocess.run(command, cwd=PROJECT, env={"PYTHONPATH": "."}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (out / "report.md").read_text()


@pytest.mark.parametrize(("stage", "device"), [(Stage.MEASURE, Device.CUDA), (Stage.VERIFY, Device.CPU)])
def test_the_report_says_what_was_gained_and_beside_whom(tmp_path: Path, stage: Stage, device: Device) -> None:
    right = Verdict.FASTER if stage is Stage.MEASURE else Verdict.VALUES_ONLY
    spec, scheduler = EvalSpec(stage=stage, device=device), Scheduler(FakeBackend(judged, device))
    try:
        with serving({"before": writing(Verdict.WRONG_VALUES), "after": writing(right)}) as server:
            for name in ("before", "after"):
                solver = LanguageModel(ChatModel(ChatServer(server.base_url), name))
                solve(solver, TASKS, scheduler, spec, tmp_path / name, cancelled=threading.Event())
        solve(Inductor(), TASKS, scheduler, spec, tmp_path / "inductor", cancelled=threading.Event())
    finally:
        scheduler.close()
    found = made(tmp_path / "before", tmp_path / "after", tmp_path / "inductor", out=tmp_path / "report")
    assert "| before | 6 | 6 | 0 | 0.000 [0.000, 0.000] |" in found
    assert "| after | 6 | 6 | 6 | 1.000 [1.000, 1.000] |" in found
    assert "- after less before, pass@1 on the tasks of both: 1.000 [1.000, 1.000]: better." in found
    assert "| Claude Sonnet 4.6 | 0.448 |" in found
    if stage is Stage.VERIFY:
        assert "Nothing was timed, so there is no ES(t)" in found
        return
    rows = {line.split(" | ")[0]: line.split(" | ") for line in found.splitlines() if line.count("|") == 8}
    assert [rows[f"| {name}"][1] for name in ("before", "after", "TorchInductor")] == ["6", "6", "6"]
    assert [rows[f"| {name}"][5] for name in ("before", "after", "TorchInductor")] == ["0.0%", "100.0%", "100.0%"]
    assert float(rows["| before"][2]) < float(rows["| TorchInductor"][2]) < 1 < float(rows["| after"][2])
    assert "<svg" in (tmp_path / "report" / "curves.svg").read_text()


def test_a_folder_without_attempts_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "examples/finetune/report.py", str(tmp_path), "--out", str(tmp_path / "report")]
    done = subprocess.run(command, cwd=PROJECT, env={"PYTHONPATH": "."}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (
        1,
        f"There is no attempt in {tmp_path}. Name a folder that solve --out wrote.",
    )
    assert not (tmp_path / "report").exists()
