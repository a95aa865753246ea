"""The conversations and the prompts of data/training."""

import json
import lzma
import random
import tarfile
import threading
from pathlib import Path

import pytest

from passnet_core.cli.main import main
from passnet_core.corpus.packs import Pack
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import EvalSpec
from passnet_core.records.trajectories import End, Trajectory
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from passnet_core.solvers.trajectories import trajectories
from passnet_core.training.choosing import fingerprints
from passnet_core.training.repairing.making import MADE, TASKS
from tests.contract.judging import ample_s
from tests.contract.scripted import assert_only_calls
from tests.which import TESTS

PROMPTS = TESTS.parent / "data/training/prompts.jsonl.xz"
DERIVED = TESTS.parent / "data/training/tasks"
ARCHIVE = TESTS.parent / "data/training/repairs.tar.xz"
JUDGED_AGAIN = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    unpacked = tmp_path_factory.mktemp("training")
    with tarfile.open(ARCHIVE) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(unpacked, filter="data")
        else:  # Python 3.11 before 3.11.4
            archive.extractall(unpacked)
    return unpacked


@pytest.fixture(scope="module")
def conversations(folder: Path) -> list[Trajectory]:
    return [each for _, each in trajectories(folder)]


def test_4000_conversations_at_300_tasks_were_accepted(folder: Path, conversations: list[Trajectory]) -> None:
    assert ARCHIVE.stat().st_size <= 12_000_000
    assert len(conversations) >= 4000
    pack = Pack(folder / TASKS)
    held_at = {each.opening.task_id for each in conversations}
    assert len(held_at) >= 300
    assert held_at <= set(pack.entries)
    for each in conversations:
        assert each.ending is not None
        assert (each.ending.solved, each.ending.end) == (True, End.FINISHED)
        assert each.opening.split == "train"
        assert each.opening.recorded.startswith("a script plays the model; judged on")
        assert_only_calls(each)
    told = json.loads((folder / MADE).read_text())
    assert (told["conversations"], told["tasks"]) == (len(conversations), len(held_at))


def test_no_conversation_is_at_a_task_related_to_one_of_eval(folder: Path) -> None:
    corpus, pack = corpus_of(read_settings()), Pack(folder / TASKS)
    tasks = [corpus.task(each.id) for each in corpus.tasks() if each.split == "eval"]
    held_back = frozenset().union(*map(fingerprints, tasks))
    for name in pack.entries:
        assert not fingerprints(pack.task(name)) & held_back


def test_a_fresh_judge_accepts_bundles_of_the_conversations(
    folder: Path, conversations: list[Trajectory], backend: LocalBackend
) -> None:
    scheduler, pack = Scheduler(backend), Pack(folder / TASKS)
    for each in random.Random(0).sample(conversations, JUDGED_AGAIN):
        task, best = pack.task(each.opening.task_id), each.best
        assert best is not None
        for job in jobs_of(task, best.bundle, EvalSpec(seed=2, deadline_s=ample_s())):
            assert scheduler.judge(job, lambda event: None, threading.Event()).verdict.accepted


def test_the_prompts_are_what_the_command_makes_of_todays_tasks_and_words(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    command = ["trajectories", "export", "--format", "prompts", "--every-task", "cpu", "--tasks", str(DERIVED)]
    assert main([*command, "--out", str(file)], settings=read_settings({"PASSNET_HOME": str(tmp_path / "home")})) == 0
    assert lzma.decompress(PROMPTS.read_bytes()) == file.read_bytes(), "data/training/README.md says how to make it"


def test_a_service_that_is_given_the_derived_tasks_has_every_task_that_prompts_name(folder: Path) -> None:
    rows = [json.loads(line) for line in lzma.decompress(PROMPTS.read_bytes()).splitlines()]
    names = {row["task"] for row in rows}
    derived = Pack(DERIVED / TASKS.name)
    corpus = corpus_of(read_settings(), [DERIVED])
    assert {each.id for each in corpus.tasks() if each.split == "train"} >= names >= set(derived.entries)
    assert {row["protocol"] for row in rows} == {"text"}
    assert all("Shapes and dtypes of its nodes" in row["prompt"][1]["content"] for row in rows)
    archived = Pack(folder / TASKS)
    assert list(derived.entries) == list(archived.entries)
    assert all(derived.task(name) == archived.task(name) for name in derived.entries)
