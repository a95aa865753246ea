"""What the project promises of the tasks it brings along."""

from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus, files_digest, read_index
from passnet_core.corpus.layout import read_task, task_files
from passnet_core.corpus.summaries import summary
from passnet_core.graphs.source import emit, parse
from passnet_core.records import Task

BUNDLED = Path(__file__).resolve().parents[3] / "data" / "tasks"
DTYPES = ("bfloat16", "float16", "float32")


@pytest.fixture(scope="module")
def tasks() -> tuple[Task, ...]:
    corpus = Corpus([BUNDLED])
    assert corpus.problems == ()
    return tuple(corpus.task(each.id) for each in corpus.tasks())


def test_there_is_enough_to_choose_from(tasks: tuple[Task, ...]) -> None:
    subgraphs = [subgraph for task in tasks for subgraph in task.subgraphs]
    assert len(tasks) >= 30
    assert len(subgraphs) >= 200
    assert len({subgraph.source_model for subgraph in subgraphs}) >= 15
    assert {task.split for task in tasks} == {"learn", "eval"}


def test_every_task_comes_in_three_dtypes_and_two_sizes_of_each(tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        for dtype in DTYPES:
            members = [each for each in task.subgraphs if each.dtype == dtype]
            sizes = {tuple(spec.shape for spec in each.inputs) for each in members}
            assert len(sizes) >= 2, f"{task.id} has {len(sizes)} sizes in {dtype}"


def test_no_subgraph_is_there_twice(tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        seen = [(each.code, tuple((spec.shape, spec.dtype) for spec in each.inputs)) for each in task.subgraphs]
        assert len(set(seen)) == len(seen), task.id


def test_the_index_is_that_of_the_tasks(tasks: tuple[Task, ...]) -> None:
    index = read_index(BUNDLED)
    assert set(index) == {task.id for task in tasks}
    for task in tasks:
        assert index[task.id]["files"] == files_digest(BUNDLED / task.id), f"make the index of {task.id} again"
    shown = {each.id: each for each in Corpus([BUNDLED]).tasks()}
    assert all(summary(task) == shown[task.id] for task in tasks)


def test_the_files_are_what_the_program_writes(tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        for name, text in task_files(task):
            assert (BUNDLED / task.id / name).read_text(encoding="utf-8") == text, f"{task.id}/{name}"
        for subgraph in task.subgraphs:
            assert emit(parse(subgraph.code)) == subgraph.code, f"{task.id}/{subgraph.id}"


def test_a_task_reads_alone(tasks: tuple[Task, ...]) -> None:
    assert read_task(BUNDLED / tasks[0].id) == tasks[0]
