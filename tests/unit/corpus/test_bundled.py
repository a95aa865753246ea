"""What the project promises of the tasks it brings along."""

from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from passnet_core.corpus.catalogue import Corpus, files_digest, read_index
from passnet_core.corpus.layout import read_task, task_files, write_task
from passnet_core.corpus.summaries import TaskSummary, summary
from passnet_core.graphs.source import emit, parse
from passnet_core.records import Family, Task

BUNDLED = Path(__file__).resolve().parents[3] / "data" / "tasks"
DTYPES = ("bfloat16", "float16", "float32")


@pytest.fixture(scope="module")
def everything() -> tuple[Task, ...]:
    corpus = Corpus([BUNDLED])
    assert corpus.problems == ()
    return tuple(corpus.task(each.id) for each in corpus.tasks())


@pytest.fixture(scope="module")
def tasks(everything: tuple[Task, ...]) -> tuple[Task, ...]:
    """Those that lie in folders."""
    return tuple(task for task in everything if (BUNDLED / task.id).is_dir())


@pytest.fixture(scope="module")
def summaries(everything: tuple[Task, ...]) -> dict[str, TaskSummary]:
    return {task.id: summary(task) for task in everything}


def of_family(everything: tuple[Task, ...], family: Family) -> tuple[Task, ...]:
    return tuple(task for task in everything if task.family is family)


def test_there_is_a_whole_benchmark(everything: tuple[Task, ...]) -> None:
    fusible = of_family(everything, Family.FUSIBLE)
    assert len(fusible) >= 200
    assert sum(len(task.subgraphs) for task in fusible) >= 2000
    assert len(of_family(everything, Family.SINGLE)) >= 60
    assert len(of_family(everything, Family.TYPICAL)) >= 60
    assert len({subgraph.source_model for task in everything for subgraph in task.subgraphs}) >= 60
    assert sum(file.stat().st_size for file in BUNDLED.rglob("*") if file.is_file()) < 15 << 20


def test_the_fusible_ones_are_as_long_as_those_of_passbench(
    everything: tuple[Task, ...], summaries: dict[str, TaskSummary]
) -> None:
    lengths = sorted(summaries[task.id].operations for task in of_family(everything, Family.FUSIBLE))
    assert 3 <= median(lengths) <= 4
    assert lengths[0] == 2
    assert 30 <= lengths[-1] <= 40
    assert {task.split for task in everything} == {"learn", "train", "eval"}


def test_what_is_learned_from_is_not_what_is_judged_by(
    everything: tuple[Task, ...], summaries: dict[str, TaskSummary]
) -> None:
    """No two tasks are of the same operations in the same order: so none is in two splits."""
    sequences = [(task.family, summaries[task.id].operators) for task in everything if not (BUNDLED / task.id).is_dir()]
    folders = {summaries[task.id].operators for task in everything if (BUNDLED / task.id).is_dir()}
    names = Counter(sequences)
    assert folders.isdisjoint(sequence for _, sequence in sequences)
    assert {name: count for name, count in names.items() if count > 1} == {}


def test_sizes_and_dtypes_are_many(everything: tuple[Task, ...]) -> None:
    subgraphs = [subgraph for task in everything for subgraph in task.subgraphs]
    assert {"float32", "float16", "bfloat16"} <= {subgraph.dtype for subgraph in subgraphs}
    batches = {spec.shape[0] for subgraph in subgraphs for spec in subgraph.inputs if len(spec.shape) > 1}
    assert {1, 8, 16, 32, 64, 128, 256, 512} <= batches


def test_every_task_in_a_folder_comes_in_three_dtypes_and_two_sizes_of_each(tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        for dtype in DTYPES:
            members = [each for each in task.subgraphs if each.dtype == dtype]
            sizes = {tuple(spec.shape for spec in each.inputs) for each in members}
            assert len(sizes) >= 2, f"{task.id} has {len(sizes)} sizes in {dtype}"


def test_no_subgraph_is_there_twice(everything: tuple[Task, ...]) -> None:
    for task in everything:
        seen = [(each.code, tuple((spec.shape, spec.dtype) for spec in each.inputs)) for each in task.subgraphs]
        assert len(set(seen)) == len(seen), task.id


def test_the_index_is_that_of_the_tasks(tasks: tuple[Task, ...]) -> None:
    index = read_index(BUNDLED)
    assert set(index) == {task.id for task in tasks}
    for task in tasks:
        assert index[task.id]["files"] == files_digest(BUNDLED / task.id), f"make the index of {task.id} again"


def test_tables_show_what_the_tasks_are(summaries: dict[str, TaskSummary]) -> None:
    shown = {each.id: each for each in Corpus([BUNDLED]).tasks()}
    assert all(made == shown[task_id] for task_id, made in summaries.items())


def test_the_files_are_what_the_program_writes(everything: tuple[Task, ...], tasks: tuple[Task, ...]) -> None:
    for task in tasks:
        for name, text in task_files(task):
            assert (BUNDLED / task.id / name).read_text(encoding="utf-8") == text, f"{task.id}/{name}"
    for task in everything:
        for subgraph in task.subgraphs:
            assert emit(parse(subgraph.code)) == subgraph.code, f"{task.id}/{subgraph.id}"


def test_a_task_keeps_its_digests_through_passnets_layout(everything: tuple[Task, ...], tmp_path: Path) -> None:
    for task in everything[::12]:
        write_task(task, tmp_path / task.id)
        again = read_task(tmp_path / task.id)
        digests = {subgraph.id: subgraph.digest for subgraph in task.subgraphs}
        assert {subgraph.id: subgraph.digest for subgraph in again.subgraphs} == digests, task.id


def test_a_task_reads_alone(tasks: tuple[Task, ...]) -> None:
    assert read_task(BUNDLED / tasks[0].id) == tasks[0]
