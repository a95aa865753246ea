"""The commands of the course, over the small playground and a fake judge."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from passnet_core.cli.main import main
from passnet_core.service import OWN_SLOT, open_service
from passnet_core.settings import Settings
from tests.example_playground import LESSONS, PASS, answer, write_data
from tests.fake_backend import FakeBackend

FIRST = LESSONS[0]


class Commands:
    def __init__(self, folder: Path) -> None:
        data = write_data(folder / "data", recorded=False)
        self.settings = Settings(home=folder / "home", data=data, python=Path(sys.executable))
        self.lessons = data / "lessons"
        self.out = self.err = ""

    def __call__(self, *argv: str) -> int:
        out, err = io.StringIO(), io.StringIO()
        try:
            return main(["lessons", *argv], out=out, err=err, backend=FakeBackend(answer), settings=self.settings)
        finally:
            self.out, self.err = out.getvalue(), err.getvalue()

    def json(self, *argv: str, code: int = 0) -> Any:
        assert self(*argv, "--json") == code, self.err
        return json.loads(self.out)


@pytest.fixture
def lessons(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def test_lessons_are_listed_and_shown_without_what_they_keep_back(lessons: Commands) -> None:
    listed = lessons.json("list")
    assert [each["lesson"] for each in listed] == list(LESSONS)
    assert listed[0]["subgraphs"] == ["small"]
    assert lessons.json("show", FIRST, "--hint", "3")["hint"] == "Write a + b."
    assert lessons("show", FIRST) == 0
    assert "What a *pattern* is." in lessons.out
    assert "torch.nn.functional.relu(tmp_0)" in lessons.out
    assert lessons("show", FIRST, "--hint", "4") == 2
    assert "has the hints 1 to 3" in lessons.err
    assert lessons("show", "nowhere") == 2
    assert "The lessons are adding, rectifying" in lessons.err


def test_passes_are_written_out_and_graded_with_the_comment_that_fits(lessons: Commands, tmp_path: Path) -> None:
    start, solution = tmp_path / "start", tmp_path / "solution"
    assert lessons("show", FIRST, "--out", str(start)) == 0
    assert lessons("show", FIRST, "--out", str(solution), "--solution") == 0
    found = lessons.json("grade", FIRST, "--bundle", str(start), code=1)
    assert (found["stars"], found["mistake"]) == (["rules"], "no_match")
    assert lessons("grade", FIRST, "--bundle", str(start)) == 1
    assert "☆ match" in lessons.out
    assert "The pattern has to add." in lessons.out
    assert lessons.json("grade", FIRST, "--bundle", str(solution))["passed"]


def test_a_lesson_is_tried_out_and_what_is_wrong_with_it_is_said(lessons: Commands) -> None:
    assert lessons("test", FIRST) == 1, "it has only two mistakes, and a lesson needs five"
    assert lessons.out.count("problem:") == 1
    toml = lessons.lessons / f"01-{FIRST}" / "lesson.toml"
    toml.write_text(toml.read_text().replace('"wrong values"', '"wrong shape"'))
    assert lessons("test", str(toml.parent)) == 1
    assert "gets the comment of 'none'" in lessons.out
    assert "verdict 'wrong values'" in lessons.out


def test_a_new_lesson_is_listed_once_its_folder_is_in_place(lessons: Commands) -> None:
    assert lessons("new", str(lessons.lessons / "03-mine"), "--task", "add-relu") == 0
    assert [each["lesson"] for each in lessons.json("list")] == [*LESSONS, "mine"]
    assert lessons("new", str(lessons.lessons / "mine"), "--task", "add-relu") == 2
    assert lessons("new", str(lessons.lessons / "04-other"), "--task", "nowhere") == 2


def test_what_a_class_hands_in_is_listed_and_can_be_judged_again(lessons: Commands, tmp_path: Path) -> None:
    service = open_service(lessons.settings, backend=FakeBackend(answer))
    lesson = service.course.lesson(FIRST)
    service.wait(service.judge_lesson(lesson, lesson.solution, owner="ada"))
    file = tmp_path / "ada.jsonl"
    file.write_text(service.export_course("ada"), encoding="utf-8")
    assert service.import_course("bob", file.read_text()) == 1
    for each in service.runs(visitor="bob"):
        service.wait(each.run.id)
    draft = service.draft("bob", lesson.task.id, OWN_SLOT)
    assert draft is not None
    assert draft.bundle.passes[0].code == PASS
    assert service.attempts("bob")[FIRST].grade.passed
    service.close()

    (row,) = lessons.json("collect", str(file))
    assert (row["file"], row["lesson"], row["passed"]) == ("ada.jsonl", FIRST, True)
    (again,) = lessons.json("collect", str(file), "--again")
    assert again["stars"] == row["stars"]
    file.write_text("rubbish\n", encoding="utf-8")
    assert lessons("collect", str(file)) == 2
    assert "Line 1 is not JSON" in lessons.err
    assert lessons("collect", str(tmp_path / "absent")) == 2
