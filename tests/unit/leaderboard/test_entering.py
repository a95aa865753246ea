"""Reading what is submitted: folders, run files and links, and the sentence for each that cannot be taken."""

from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.bundles.packing import packed
from passnet_core.bundles.reading import write_bundle
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.leaderboard import entering
from passnet_core.leaderboard.entering import read_folders, read_link, read_run_file, read_submission
from passnet_core.records import Bundle, PassFile
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.contract.made import BUNDLE, job, outcome, run_of

OTHER = Bundle((PassFile("Other.py", "def pattern(x):\n    return x\n"),))


def run_text(bundle: Bundle | None = BUNDLE, task_id: str = "relu") -> str:
    jobs = [job(number, task_id=task_id, bundle=bundle) for number in range(2)]
    made = RunFile(run_of(*jobs), (bundle,) if bundle else (), tuple(map(outcome, jobs)))
    return exchange.written(made)


def nothing_stored(digest: str) -> Bundle:
    raise UnknownItem(f"There is no bundle {digest} here.")


def test_a_folder_is_the_bundle_of_the_named_task_or_has_one_for_each(tmp_path: Path) -> None:
    for name, bundle in (("relu", BUNDLE), ("wide", OTHER)):
        write_bundle(bundle, tmp_path / "all" / name)
    write_bundle(OTHER, tmp_path / "all" / "nested" / "pass_dir")
    (tmp_path / "all" / ".git").mkdir()
    found = read_submission(str(tmp_path / "all"), "", nothing_stored)
    assert {task_id: each.digest for task_id, each in found.items()} == {
        "nested": OTHER.digest, "relu": BUNDLE.digest, "wide": OTHER.digest
    }  # fmt: skip
    assert [*read_submission(str(tmp_path / "all" / "relu"), "other-task", nothing_stored)] == ["other-task"]
    with pytest.raises(BadInput, match="Name the task with --task"):
        read_folders(tmp_path / "all" / "relu")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="has no bundle"):
        read_folders(tmp_path / "empty")


def test_a_run_file_gives_the_bundle_of_each_task(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(run_text() + run_text() + run_text(OTHER, "wide"), encoding="utf-8")
    found = read_submission(str(path), "", nothing_stored)
    assert {task_id: each.digest for task_id, each in found.items()} == {"relu": BUNDLE.digest, "wide": OTHER.digest}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("{}", "not the header of a run"),
        (run_text(None), "has no passes"),
        (run_text() + run_text(OTHER), "two bundles for task 'relu'"),
        (run_text()[:-200], "cut off|not JSON"),
        (run_text(replace(BUNDLE, helpers=(PassFile("../x.py", ""),))), "not a file name"),
    ],
)
def test_a_run_file_that_cannot_be_taken_says_why(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_run_file(text)


def test_a_link_has_the_passes_in_it_or_names_those_of_this_server() -> None:
    text = packed(OTHER)
    for link in (f"https://x.example/workbench?task=wide&code={text}", f"workbench?code={text}&task=wide&tab=results"):
        assert read_link(link, "", nothing_stored) == {"wide": OTHER}
    assert read_link(f"  {text}\n", "wide", nothing_stored) == {"wide": OTHER}
    link = f"http://localhost:8501/workbench?task=relu&bundle={BUNDLE.digest}"
    assert read_link(link, "", {BUNDLE.digest: BUNDLE}.__getitem__) == {"relu": BUNDLE}
    with pytest.raises(UnknownItem):
        read_link(link, "", nothing_stored)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("", "A link has 1 to"),
        ("nothing-like-it", "Name the task too"),
        ("https://x.example/workbench?task=relu", "has no passes"),
        (f"https://x.example/workbench?code={packed(OTHER)}", "names no task"),
        ("https://x.example/workbench?task=relu&code=rubbish", "cannot be read|not complete"),
        (f"https://x.example/workbench?task=relu&code={packed(OTHER)[:-9]}", "not complete|cannot be read"),
        (f"https://x.example/?{'a=1&' * 60}", "cannot be read"),
        ("http://[x?task=relu", "cannot be read"),
    ],
)
def test_a_link_that_cannot_be_taken_says_why(link: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_link(link, "", nothing_stored)


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = Bundle(tuple(PassFile(f"p{number}.py", "") for number in range(entering.MOST_FILES + 1)))
    with pytest.raises(BadInput, match="101 files"):
        read_link(packed(many), "relu", nothing_stored)
    with pytest.raises(BadInput, match="no pass"):
        read_link(packed(Bundle(())), "relu", nothing_stored)
    monkeypatch.setattr(entering, "MOST_TASKS", 1)
    with pytest.raises(BadInput, match="at most 1 tasks, not 2"):
        read_run_file(run_text() + run_text(OTHER, "wide"))
    for name in ("relu", "wide"):
        write_bundle(BUNDLE, tmp_path / "all" / name)
    with pytest.raises(BadInput, match="at most 1 tasks, not 2"):
        read_folders(tmp_path / "all")
    monkeypatch.setattr(entering, "LARGEST_RUN_FILE", 100)
    with pytest.raises(BadInput, match="A run file of a submission"):
        read_run_file(run_text())
    monkeypatch.setattr(entering, "LONGEST_LINK", 10)
    with pytest.raises(BadInput, match="A link has 1 to 10 characters"):
        read_link(packed(OTHER), "relu", nothing_stored)
    monkeypatch.setattr(entering, "MOST_BYTES", 5)
    monkeypatch.setattr(entering, "LONGEST_LINK", 10_000)
    with pytest.raises(BadInput, match="more than 5 characters together"):
        read_link(packed(OTHER), "relu", nothing_stored)
