"""The conversations of data/training."""

import json
import random
import tarfile
import threading
from pathlib import Path

import pytest

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
