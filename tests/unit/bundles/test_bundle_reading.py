"""A bundle is read back from its folder as it was written; a broken one is refused with a remedy."""

import io
import json
import os
from pathlib import Path
from zipfile import ZipFile

import pytest

from passnet_core.bundles.reading import (
    ORDER_FILE,
    folder_files,
    judged_of,
    read_bundle,
    read_judged,
    write_bundle,
    zipped,
)
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import Bundle, Device, EvalSpec, Job, JudgedSubgraph, PassFile, Verdict
from tests.example_playground import outcome
from tests.example_playground import task as add_relu_task

BUNDLE = Bundle(
    passes=(PassFile("Second.py", "# ünïcode\r\nx = 1"), PassFile("First.py", "")),
    helpers=(PassFile("shared_kernel.py", "y = 2\n"),),
)


def folder(tmp_path: Path, order: str | None = '["A"]', **files: str | bytes) -> Path:
    place = tmp_path / "bundle"
    place.mkdir()
    for name, content in {"A": "a = 1\n", **files}.items():
        (place / f"{name}.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    if order is not None:
        (place / ORDER_FILE).write_text(order)
    return place


def test_a_bundle_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_bundle(BUNDLE, tmp_path / "new" / "place")
    assert read_bundle(tmp_path / "new" / "place") == BUNDLE


def test_on_what_a_bundle_was_accepted_stands_beside_it_as_long_as_it_stays_as_it_is(tmp_path: Path) -> None:
    task = add_relu_task()
    accepted = Job(task.subgraphs[0], BUNDLE, EvalSpec(device=Device.CPU))
    outcomes = [outcome(accepted, Verdict.VALUES_ONLY), outcome(accepted, Verdict.WRONG_VALUES)]
    judged = judged_of(task, outcomes)
    assert judged == (JudgedSubgraph(task.subgraphs[0], (Device.CPU,)),)
    place = tmp_path / "task" / "pass_dir"
    write_bundle(BUNDLE, place, judged)
    for named in (place, place.parent):
        assert read_judged(read_bundle(named), named) == judged
    with ZipFile(io.BytesIO(zipped(folder_files(BUNDLE, judged)))) as archive:
        archive.extractall(tmp_path / "unpacked")
    assert read_judged(read_bundle(tmp_path / "unpacked"), tmp_path / "unpacked") == judged
    (place / "First.py").write_text("z = 3")
    assert read_judged(read_bundle(place), place) == ()
    for text in ("{", "[]", '{"bundle": "", "judged": [3]}'):
        (place / "judged.json").write_text(text)
        with pytest.raises(BadInput, match="cannot be read"):
            read_judged(BUNDLE, place)
    write_bundle(BUNDLE, tmp_path / "plain")
    assert read_judged(BUNDLE, tmp_path / "plain") == ()


def test_the_list_gives_the_order_and_other_python_files_are_helpers(tmp_path: Path) -> None:
    place = folder(tmp_path, '["B.py", "A"]', B="b", shared="s")
    (place / "notes.txt").write_text("not part of it")
    (place / "__pycache__").mkdir()
    bundle = read_bundle(place, author="me")
    assert [file.name for file in bundle.passes] == ["B.py", "A.py"]
    assert [file.name for file in bundle.helpers] == ["shared.py"]
    assert bundle.author == "me"


def test_a_task_folder_stands_for_its_pass_dir(tmp_path: Path) -> None:
    write_bundle(BUNDLE, tmp_path / "task" / "pass_dir")
    assert read_bundle(tmp_path / "task") == BUNDLE


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (
            None,
            f'lacks {ORDER_FILE}. It holds A.py. Add that file with the names of the passes in order, such as ["A"]',
        ),
        ("[", 'cannot be read as JSON: Expecting value: line 1 column 2 (char 1). It must be a list of names: ["A"].'),
        ('{"A": 1}', 'must be a JSON list of pass names, such as ["A"].'),
        ("[1]", "must be a JSON list of pass names"),
        ("[]", "names no pass"),
        ('["A", "Gone"]', "names 'Gone', but there is no Gone.py beside it (found: A.py)."),
        ('["A", "A.py"]', "twice"),
        ('["../A"]', "not a plain file name"),
    ],
)
def test_a_broken_list_is_reported_with_its_remedy(tmp_path: Path, order: str | None, said: str) -> None:
    with pytest.raises(BadInput) as error:
        read_bundle(folder(tmp_path, order))
    assert said in str(error.value)


def test_a_path_without_a_bundle_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        read_bundle(tmp_path / "gone")
    (tmp_path / "file.py").write_text("")
    with pytest.raises(BadInput, match="is a file, not a folder"):
        read_bundle(tmp_path / "file.py")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="holds no Python file either"):
        read_bundle(tmp_path / "empty")


def test_files_that_are_too_large_or_not_text_are_named(tmp_path: Path) -> None:
    place = folder(tmp_path, bad=b"\xff\xfe")
    with pytest.raises(BadInput, match=r"bad\.py' is not UTF-8 text"):
        read_bundle(place)
    (place / "bad.py").write_bytes(b"#" * 1_000_001)
    with pytest.raises(BadInput, match=r"bad\.py' is larger than 1,000,000 bytes"):
        read_bundle(place)


def test_a_link_must_not_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("key = 1")
    place = folder(tmp_path)
    os.symlink(tmp_path / "secret.py", place / "linked.py")
    with pytest.raises(BadInput, match=r"linked\.py' is a link that leaves the bundle folder"):
        read_bundle(place)


@pytest.mark.parametrize("name", ["../escape.py", "a/b.py", "plain.txt", ".py", "..py", "a\\b.py"])
def test_no_file_is_written_outside_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="is not a file name for a bundle"):
        write_bundle(Bundle((PassFile(name, "x"),)), tmp_path / "out")
    assert not list(tmp_path.rglob("*"))


def test_two_files_with_the_same_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"Two files of the bundle are named 'A\.py'"):
        write_bundle(Bundle((PassFile("A.py", "x"),), (PassFile("A.py", "y"),)), tmp_path)


def test_a_folder_with_other_python_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("")
    with pytest.raises(BadInput, match=r"already holds other\.py"):
        write_bundle(BUNDLE, tmp_path)


def test_a_bundle_can_overwrite_itself(tmp_path: Path) -> None:
    write_bundle(BUNDLE, tmp_path)
    write_bundle(Bundle(BUNDLE.passes[::-1], BUNDLE.helpers), tmp_path)
    assert json.loads((tmp_path / ORDER_FILE).read_text()) == ["First", "Second"]


def test_a_failed_write_is_an_infrastructure_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="could not be written"):
        write_bundle(BUNDLE, tmp_path / "file" / "below")
