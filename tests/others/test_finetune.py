"""The recipes of examples/finetune, with TRL and PEFT themselves."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest

from passnet_core.cli.main import main
from passnet_core.corpus.layout import write_task
from passnet_core.records import EvalSpec
from passnet_core.records.trajectories import trajectory_lines
from passnet_core.settings import read_settings
from passnet_core.training.prompts import prompt_row, prompts_for
from tests.contract import judging
from tests.contract.scripted import task
from tests.others.environments import python_of
from tests.unit.training.made_conversations import RIGHT, right_at_once
from tests.waiting import seconds
from tests.which import TESTS

pytestmark = pytest.mark.slow

PROJECT = TESTS.parent


def run(*command: str, folder: Path = PROJECT) -> str:
    asked = [str(python_of("finetune")), *command]
    there = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        asked, cwd=folder, env=there, capture_output=True, text=True, timeout=seconds(300), check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stderr + done.stdout


def test_a_model_is_fine_tuned_goes_on_after_an_interruption_and_can_be_served(tmp_path: Path) -> None:
    attempts, data = tmp_path / "attempts", tmp_path / "train.jsonl"
    for number in range(4):
        each = right_at_once(f"right-{number}", f"{RIGHT}# {number}\nFOUND = {number}\n")
        place = attempts / each.opening.task_id / str(number)
        place.mkdir(parents=True)
        (place / "trajectory.jsonl").write_text("".join(trajectory_lines(each)), encoding="utf-8")
    settings = read_settings({"PASSNET_HOME": str(tmp_path / "home")})
    assert (
        main(["trajectories", "export", str(attempts), "--format", "trl", "--out", str(data)], settings=settings) == 0
    )
    run("-m", "tests.others.loading.makes_tiny", str(data), str(tmp_path / "base"))
    sft = ["examples/finetune/sft.py", "--model", str(tmp_path / "base"), "--data", str(data)]
    sft += ["--out", str(tmp_path / "tuned"), "--context", "8192", "--accumulate", "1", "--log-every", "1"]
    run(*sft, "--save-every", "1", "--steps", "2")
    run(*sft, "--save-every", "1", "--steps", "3", "--merge")
    curve = json.loads((tmp_path / "tuned" / "curve.json").read_text())
    assert [step for step, _ in curve["training"]] == [1, 2, 3]
    assert all(loss > 0 for _, loss in curve["training"])
    assert (tmp_path / "tuned" / "curve.svg").read_text().startswith("<?xml")
    assert (tmp_path / "tuned" / "adapter_model.safetensors").exists()
    asked = f"""
from transformers import AutoModelForCausalLM, AutoTokenizer
folder = {str(tmp_path / "tuned" / "merged")!r}
model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
said = [{{"role": "user", "content": "Go."}}]
ids = tokenizer.apply_chat_template(said, return_tensors="pt", return_dict=True, add_generation_prompt=True)
print("made", model.generate(**ids, max_new_tokens=3).shape)
"""
    assert "made" in run("-c", asked)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve the judge with the tasks in a folder, and yield the service's address and process."""
    command = [sys.executable, "-m", "passnet_core", "serve-judge", "--port", "0", "--tasks", str(folder / "tasks")]
    there = {**os.environ, "PASSNET_HOME": str(folder / "home")}
    with subprocess.Popen(command, cwd=PROJECT, env=there, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().partition(" at ")[2].partition(",")[0], process.pid
        finally:
            process.terminate()


def test_rewards_of_a_model_that_improves_rise_and_none_is_lost_with_a_judge_that_is_killed(tmp_path: Path) -> None:
    data, out = tmp_path / "prompts.jsonl", tmp_path / "rewarded"
    (prompt,) = prompts_for([task()], EvalSpec())
    row = prompt_row(prompt, 0)
    row["prompt"] = row["prompt"][1:]  # without the contract, of which the script reads nothing
    data.write_text(json.dumps(row) + "\n")
    write_task(task(), tmp_path / "tasks" / "add-relu")
    with serving(tmp_path) as (url, service):
        asked = {"url": url, "service": service, "data": str(data), "out": str(out)}
        asked |= {"right": judging.RIGHT, "wrong": judging.WRONG}
        program = str(PROJECT / "tests" / "others" / "programs" / "improves_with_grpo.py")
        told = json.loads(run(program, json.dumps(asked), folder=tmp_path).splitlines()[-1])
    assert told["killed"] == 1
    steps = json.loads((out / "rewards.json").read_text())
    assert [each["step"] for each in steps] == list(range(1, 21))
    assert [each["no_reward"] for each in steps] == [0.0] * 20
    fifths = [mean(each["reward"] for each in steps[first : first + 5]) for first in range(0, 20, 5)]
    assert fifths == [0.25, 0.5, 0.75, 1.0]
    assert (out / "adapter_model.safetensors").exists()
