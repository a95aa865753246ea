"""A task for Harbor is judged by its own script, with the judge of the command line; the containers alone are missing.

tests/unit/training/test_harbor_task.py reads its files."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passnet_core.bundles.reading import ORDER_FILE, write_bundle
from passnet_core.records import Bundle, Family, PassFile, Task, Verdict
from passnet_core.training.harbor import write_harbor_task
from passnet_core.training.rewards import FasterBy, RewardParts, parts_of, reward_numbers, reward_of
from tests.contract.judging import RIGHT, WRONG, subgraph
from tests.contract.made import job, outcome
from tests.waiting import seconds

REFERENCE = Bundle((PassFile("add_relu.py", RIGHT),))
NO_REWARD = {"reward": 0.0, "right": 0.0}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    members = tuple(replace(subgraph(dtype=dtype), task_id="it's odd") for dtype in ("float32", "float16"))
    task = Task("it's odd", Family.FUSIBLE, "train", members)
    return write_harbor_task(task, tmp_path_factory.mktemp("harbor"), REFERENCE, {})


def script(exported: Path, name: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run a script of the task as in its image, where passnet is a program and the data is that of the task."""
    programs = exported.parent / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "passnet").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m passnet_core "$@"\n')
    (programs / "passnet").chmod(0o755)
    own = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PASSNET_DATA": str(exported / "environment" / "data"),
        "PASSNET_HOME": str(exported.parent / "home"),
    }
    return subprocess.run(
        ["sh", str(exported / name), *map(str, arguments)], env=os.environ | own,
        capture_output=True, text=True, timeout=seconds(300), check=False,
    )  # fmt: skip


def judged(exported: Path, bundle: Path, logs: Path) -> tuple[Any, str]:
    """What the verifier writes as the reward of a bundle, and what it says."""
    logs.mkdir()
    done = script(exported, "tests/test.sh", logs, bundle)
    reward = logs / "reward.json"
    said = f"{done.stdout}{done.stderr}"
    return (json.loads(reward.read_text()) if reward.exists() else None), said


@pytest.mark.slow
def test_the_reference_has_the_reward_1(exported: Path, tmp_path: Path) -> None:
    handed_in = tmp_path / "pass_dir"
    handed_in.mkdir()
    assert script(exported, "solution/solve.sh", handed_in).returncode == 0
    reward, said = judged(exported, handed_in, tmp_path / "logs")
    assert reward == {"reward": 1.0, "right": 1.0}, said
    assert len((tmp_path / "logs" / "outcomes.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_wrong_results_have_no_part_in_the_reward(exported: Path, tmp_path: Path) -> None:
    write_bundle(Bundle((PassFile("add_relu.py", WRONG),)), tmp_path / "pass_dir")
    reward, said = judged(exported, tmp_path / "pass_dir", tmp_path / "logs")
    assert reward == NO_REWARD
    assert "0 of 2 accepted" in said


def damaged(name: str, content: bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        write_bundle(REFERENCE, folder)
        (folder / name).write_bytes(content)

    return damage


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (lambda folder: None, "does not exist"),
    "an empty folder": (Path.mkdir, f"lacks {ORDER_FILE}"),
    "no list": (damaged(ORDER_FILE, b"{"), ORDER_FILE),
    "a pass that is not there": (damaged(ORDER_FILE, b'["gone"]'), "gone"),
    "no text": (damaged("add_relu.py", b"\xff\xfe\x00"), "add_relu.py"),
    "no Python": (damaged("add_relu.py", b"def pattern(:\n"), "add_relu.py"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKEN)
def test_a_bundle_that_is_missing_or_broken_has_the_reward_0(what: str, exported: Path, tmp_path: Path) -> None:
    make, reason = BROKEN[what]
    make(tmp_path / "pass_dir")
    reward, said = judged(exported, tmp_path / "pass_dir", tmp_path / "logs")
    assert reward == NO_REWARD
    assert reason in said


# --- the numbers -----------------------------------------------------------------------------------------------------


def part(verdict: Verdict, ratio: float | None = None) -> RewardParts:
    faster = None if ratio is None else FasterBy(ratio, ratio, ratio)
    return replace(parts_of(outcome(job(), verdict)), faster=faster)


def test_the_numbers_have_the_reward_of_training_and_a_speedup_only_if_all_was_timed() -> None:
    timed = [part(Verdict.FASTER, 2.0), part(Verdict.FASTER, 8.0)]
    numbers = reward_numbers(timed)
    assert numbers is not None
    assert numbers["reward"] == reward_of(timed)
    assert numbers["right"] == 1.0
    assert math.isclose(numbers["speedup"], 4.0)
    mixed = reward_numbers([timed[0], part(Verdict.WRONG_VALUES)])
    assert mixed is not None
    assert mixed["right"] == 0.5
    assert "speedup" not in mixed


def test_a_fault_of_the_machine_is_no_reward() -> None:
    assert reward_numbers([part(Verdict.FASTER, 2.0), part(Verdict.INFRASTRUCTURE)]) is None
