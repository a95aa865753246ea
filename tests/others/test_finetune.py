"""The recipe of examples/finetune, with TRL and PEFT themselves."""

import json
import subprocess
from pathlib import Path

import pytest

from passnet_core.cli.main import main
from passnet_core.records.trajectories import trajectory_lines
from passnet_core.settings import read_settings
from tests.others.environments import python_of
from tests.unit.training.made_conversations import RIGHT, right_at_once
from tests.waiting import seconds
from tests.which import TESTS

pytestmark = pytest.mark.slow

PROJECT = TESTS.parent


def run(*command: str) -> str:
    asked = [str(python_of("finetune")), *command]
    done = subprocess.run(asked, cwd=PROJECT, capture_output=True, text=True, timeout=seconds(300), check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout + done.stderr


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
