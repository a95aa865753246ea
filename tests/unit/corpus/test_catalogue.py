"""Browsing, finding, importing and exporting tasks."""

from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus, read_index, read_list, write_index
from passnet_core.corpus.layout import read_task, write_task
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.records import Family
from tests.unit.corpus.samples import sample_folder, sample_task

REAL_TASKS = Path(__file__).resolve().parents[3] / ".." / "shared" / "passbench-dev"


def test_a_summary_says_what_is_in_a_task(tmp_path: Path) -> None:
    sample_folder(tmp_path, "b-task", count=3)
    sample_folder(tmp_path, "a-task")
    corpus = Corpus([tmp_path])
    first, second = corpus.tasks()
    assert (first.id, second.id) == ("a-task", "b-task")
    assert (second.family, second.split, second.subgraphs) == (Family.FUSIBLE, "develop", 3)
    assert second.source_models == ("model",)
    assert second.dtypes == ("bfloat16", "float32")
    assert second.operators == ("add", "relu")
    assert second.operations == 2
    assert second.shapes == ((1, 8), (2, 8), (3, 8))
    assert corpus.problems == ()


def test_a_task_is_found_by_name_and_by_folder(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path / "corpus")
    elsewhere = sample_folder(tmp_path / "elsewhere", "other")
    corpus = Corpus([tmp_path / "corpus"])
    assert corpus.resolve("add-relu") == corpus.resolve(str(folder)) == sample_task()
    assert corpus.resolve(str(elsewhere)).id == "other"
    assert corpus.subgraph("add-relu", "float32/0/model_op0").dtype == "float32"


def test_what_does_not_exist_is_named_with_what_to_do(tmp_path: Path) -> None:
    sample_folder(tmp_path)
    corpus = Corpus([tmp_path])
    for ask in (corpus.task, corpus.resolve):
        with pytest.raises(UnknownItem, match=r"'bert-17'.*corpus list"):
            ask("bert-17")
    with pytest.raises(UnknownItem, match="neither a task"):
        corpus.resolve("x" * 5000)
    with pytest.raises(UnknownItem, match=r"'x'. It has float32/0/model_op0"):
        corpus.task("add-relu").subgraph("x")


def test_a_broken_task_leaves_the_others_in_place(tmp_path: Path) -> None:
    sample_folder(tmp_path, "good")
    bad = sample_folder(tmp_path, "bad")
    (bad / "graphs/float32/0/model_op0/model.py").unlink()
    corpus = Corpus([tmp_path])
    assert [each.id for each in corpus.tasks()] == ["good"]
    (problem,) = corpus.problems
    assert "'bad' is left out" in problem
    assert "model.py" in problem


def test_a_missing_folder_is_an_empty_corpus(tmp_path: Path) -> None:
    assert Corpus([tmp_path / "nowhere"]).tasks() == ()


def test_of_two_tasks_with_one_name_the_first_folder_counts(tmp_path: Path) -> None:
    sample_folder(tmp_path / "one", count=1)
    sample_folder(tmp_path / "two", count=2)
    corpus = Corpus([tmp_path / "one", tmp_path / "two"])
    assert len(corpus.task("add-relu").subgraphs) == 1
    assert "hidden" in corpus.problems[0]


def test_the_index_never_hides_a_change(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path, count=1)
    write_index(tmp_path)
    assert set(read_index(tmp_path)) == {"add-relu"}
    indexed = Corpus([tmp_path]).tasks()
    model = folder / "graphs/float32/0/model_op0/model.py"
    model.write_text(model.read_text().replace("in_0 + in_1", "in_0 * in_1"))
    (changed,) = Corpus([tmp_path]).tasks()
    assert indexed[0].operators == ("add", "relu")
    assert changed.operators == ("mul", "relu")


@pytest.mark.parametrize("text", ["", "[]", '{"format": 99}', '{"format": 1, "tasks": {"add-relu": 3}}'])
def test_a_broken_index_is_done_without(tmp_path: Path, text: str) -> None:
    sample_folder(tmp_path)
    (tmp_path / "index.json").write_text(text)
    assert [each.id for each in Corpus([tmp_path]).tasks()] == ["add-relu"]


def test_importing_copies_what_can_be_read_and_names_the_rest(tmp_path: Path) -> None:
    sample_folder(tmp_path / "from/deep", "good")
    (sample_folder(tmp_path / "from", "bad") / "graphs/float32/0/model_op0/model.py").write_text("import os\n")
    corpus = Corpus([tmp_path / "bundled"])
    report = corpus.import_folder(tmp_path / "from", tmp_path / "mine")
    assert (report.tasks, report.subgraphs) == (("good",), 2)
    assert report.problems[0].startswith("bad: ")
    assert corpus.task("good") == sample_task("good")
    assert Corpus([tmp_path / "mine"]).task("good") == sample_task("good")


def test_importing_twice_changes_nothing_but_another_task_of_that_name_is_refused(tmp_path: Path) -> None:
    sample_folder(tmp_path / "from")
    corpus = Corpus([tmp_path / "mine"])
    assert corpus.import_folder(tmp_path / "from", tmp_path / "mine").problems == ()
    assert corpus.import_folder(tmp_path / "from/add-relu", tmp_path / "mine").tasks == ("add-relu",)
    sample_folder(tmp_path / "other", count=1)
    report = corpus.import_folder(tmp_path / "other", tmp_path / "mine")
    assert report.tasks == ()
    assert "different content" in report.problems[0]


def test_an_import_never_hides_behind_a_bundled_task(tmp_path: Path) -> None:
    sample_folder(tmp_path / "bundled")
    corpus = Corpus([tmp_path / "bundled"])
    sample_folder(tmp_path / "same")
    sample_folder(tmp_path / "other", count=1)
    assert corpus.import_folder(tmp_path / "same", tmp_path / "mine").tasks == ("add-relu",)
    assert "different content" in corpus.import_folder(tmp_path / "other", tmp_path / "mine").problems[0]
    assert corpus.problems == ()
    assert len(corpus.tasks()) == 1


def test_code_that_is_not_straight_line_is_not_imported(tmp_path: Path) -> None:
    task = sample_task(count=1)
    loop = task.subgraphs[0].code.replace("tmp_0 = in_0 + in_1", "while True: pass")
    folder = tmp_path / "from/loop"
    write_task(task, folder)
    (folder / "graphs/float32/0/model_op0/model.py").write_text(loop)
    report = Corpus([]).import_folder(tmp_path / "from", tmp_path / "mine")
    assert report.tasks == ()
    assert "model.py" in report.problems[0]


def test_what_no_machine_could_hold_is_refused_by_its_description(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path / "from", "huge", count=1)
    metadata = folder / "graphs/float32/0/model_op0/weight_meta.py"
    metadata.write_text(metadata.read_text().replace("[1, 8]", "[4294967296, 4294967296]"))
    report = Corpus([]).import_folder(tmp_path / "from", tmp_path / "mine")
    assert report.tasks == ()
    (problem,) = report.problems
    assert "input in_0 has the shape [4294967296, 4294967296]; at most 4,294,967,296 elements" in problem


def test_importing_nothing_says_so(tmp_path: Path) -> None:
    corpus = Corpus([])
    with pytest.raises(UnknownItem, match="no folder"):
        corpus.import_folder(tmp_path / "nowhere", tmp_path / "mine")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="contains no task"):
        corpus.import_folder(tmp_path / "empty", tmp_path / "mine")


def test_an_export_reads_the_same(tmp_path: Path) -> None:
    sample_folder(tmp_path / "corpus")
    corpus = Corpus([tmp_path / "corpus"])
    folder = corpus.export("add-relu", tmp_path / "out")
    assert read_task(folder) == corpus.task("add-relu")
    with pytest.raises(BadInput, match="exists already"):
        corpus.export("add-relu", tmp_path / "out")


def test_every_real_task_is_imported_and_written_back_the_same(tmp_path: Path) -> None:
    if not REAL_TASKS.is_dir():
        pytest.skip("no folder of real PassBench tasks beside the project")
    corpus = Corpus([])
    report = corpus.import_folder(REAL_TASKS, tmp_path / "mine")
    assert report.problems == ()
    assert (len(report.tasks), report.subgraphs) == (24, 99)
    for summary in corpus.tasks():
        original = read_task(REAL_TASKS / summary.id)
        assert replace(corpus.task(summary.id), split="") == replace(original, split="")
    assert corpus.task("1f7548aa16b3").subgraphs[0].inputs
    assert max(summary.operations for summary in corpus.tasks()) > 30


def test_only_what_a_list_names_is_imported(tmp_path: Path) -> None:
    source = tmp_path / "from"
    for name in ("one", "two", "deep/three", "deep/four"):
        sample_folder((source / name).parent, Path(name).name)
    sample_folder(tmp_path, "secret")
    listing = tmp_path / "list.txt"
    listing.write_text("# the eval split\n\none\ndeep\none\nmissing\n../secret\n", encoding="utf-8")
    corpus = Corpus([])
    report = corpus.import_folder(source, tmp_path / "mine", listed=read_list(listing))
    assert set(report.tasks) == {"one", "three", "four"}
    assert report.problems == ("missing: it contains no task", "../secret: it is outside the source folder")
    with pytest.raises(BadInput, match="contains no task: nothing: it contains no task"):
        corpus.import_folder(source, tmp_path / "mine", listed=("nothing",))
    with pytest.raises(BadInput, match="cannot be read"):
        read_list(tmp_path / "no list")
