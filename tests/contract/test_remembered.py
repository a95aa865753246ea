"""What the judge remembers survives its processes, stays within bounds, and never fails a job."""

from pathlib import Path

import pytest

from passnet_core.judge.stages import remembered
from passnet_core.judge.stages.remembered import Remembered


def test_an_answer_is_found_by_whoever_opens_the_file(tmp_path: Path) -> None:
    file = tmp_path / "not" / "there" / "judge.sqlite"
    Remembered(file).keep("question", "answer")
    assert Remembered(file).find("question") == "answer"
    assert Remembered(file).find("another") is None
    Remembered(file).keep("question", "better")
    assert Remembered(file).find("question") == "better"


def test_the_oldest_answers_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST", 3)
    kept = Remembered(tmp_path / "judge.sqlite")
    for turn in range(5):
        kept.keep(str(turn), "answer")
    assert [turn for turn in range(5) if kept.find(str(turn))] == [2, 3, 4]


def test_without_a_usable_file_nothing_is_remembered_and_nothing_fails(tmp_path: Path) -> None:
    broken = tmp_path / "judge.sqlite"
    broken.write_text("this is no database, and long enough to be taken for a broken one" * 40)
    for kept in (Remembered(), Remembered(broken), Remembered(tmp_path)):
        kept.keep("question", "answer")
        assert kept.find("question") is None
