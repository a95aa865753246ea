"""The corpus can be read: every file has a complete header and lies in the folder of its family."""

from pathlib import Path

import pytest

from passnet_core.records import Verdict
from tests.adversarial.corpus import BadHeader, entries, read

HEADER = """# Tries: nothing,
#   for long.
# Family: values
# Needs: cpu
# Verdict: wrong values | cheat
# Subgraph: add-relu
"""


def written(folder: Path, header: str, name: str = "a.py") -> Path:
    path = folder / "values" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(header + "import torch\n")
    return path


def test_the_header_of_a_file_becomes_an_entry(tmp_path: Path) -> None:
    entry = read(written(tmp_path, HEADER))
    assert entry.tries == "nothing, for long."
    assert entry.verdicts == (Verdict.WRONG_VALUES, Verdict.CHEAT)
    assert (entry.name, entry.family, entry.honest, entry.needs_gpu) == ("a", "values", False, False)
    assert entry.subgraph.task_id == "add-relu"
    assert [file.name for file in entry.bundle.passes] == ["a.py"]


def test_the_header_of_a_folder_lists_its_passes_and_the_other_files_are_helpers(tmp_path: Path) -> None:
    written(tmp_path, HEADER + "# Passes: first.py\n", "several/first.py")
    written(tmp_path, "", "several/kernels.py")
    entry = read(tmp_path / "values" / "several")
    assert [file.name for file in entry.bundle.passes] == ["first.py"]
    assert [file.name for file in entry.bundle.helpers] == ["kernels.py"]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("# Needs: cpu\n", "", "lacks Needs"),
        ("Needs: cpu", "Needs: tpu", "tpu"),
        ("wrong values |", "wrong value |", "wrong value"),
        ("add-relu", "add-rely", "add-rely"),
        ("Family: values", "Family: clock", "clock"),
        ("wrong values | cheat", "accepted", "honest"),
        ("# Family", "# Famly", "Famly"),
        ("# Tries", "# Does", "0 of its files"),
    ],
)
def test_an_incomplete_or_wrong_header_is_refused(tmp_path: Path, old: str, new: str, word: str) -> None:
    with pytest.raises(BadHeader, match=word):
        read(written(tmp_path, HEADER.replace(old, new)))


def test_every_file_of_the_corpus_has_a_header_and_no_two_files_are_equal() -> None:
    found = entries()
    assert {each.family for each in found} >= {"values", "rules"}
    assert len({each.bundle.digest for each in found}) == len(found)
