"""Reading lessons: what a folder must hold, and what is said of one that does not."""

import shutil
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.lessons.course import Course
from passnet_core.lessons.reading import read_lesson, sentences, shortcomings
from passnet_core.lessons.writing import new_lesson
from tests.example_playground import LESSON, LESSONS, TASK_ID, write_data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path, recorded=False)


@pytest.fixture
def corpus(data: Path) -> Corpus:
    return Corpus([data / "tasks"])


def changed(data: Path, corpus: Corpus, old: str, new: str) -> str:
    """What is said of the first lesson after this change of its lesson.toml."""
    folder = data / "lessons" / f"01-{LESSONS[0]}"
    assert old in LESSON
    (folder / "lesson.toml").write_text(LESSON.replace(old, new), encoding="utf-8")
    with pytest.raises(BadInput) as error:
        read_lesson(folder, corpus.task)
    return str(error.value)


def test_a_lessons_task_has_the_sizes_that_it_names_and_is_found_but_not_listed(data: Path, corpus: Corpus) -> None:
    course = Course([data / "lessons"], corpus)
    lesson = course.lesson(LESSONS[0])
    assert course.problems == ()
    assert [[each.shape for each in subgraph.inputs] for subgraph in lesson.task.subgraphs] == [
        [(2, 5), (2, 5)],
        [(4, 96), (4, 96)],
    ]
    assert [each.id for each in lesson.shown] == ["small"]
    assert corpus.task(f"lesson-{LESSONS[0]}") is lesson.task
    assert f"lesson-{LESSONS[0]}" not in [each.id for each in corpus.tasks()]
    with pytest.raises(UnknownItem, match=r"lessons are adding, rectifying"):
        course.lesson("nowhere")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "A title"', "title = 7", "needs a text for 'title'"),
        ('picture = "steps"', 'picture = "film"', "'film' is not one of the picture"),
        ('"steps"', '"steps', "not TOML"),
        ("goal =", "aim =", "a field 'aim'"),
        ('task = "add-relu"', 'task = "nowhere"', "'nowhere' is not in this corpus"),
        ('task = "add-relu"', 'task = "lesson-adding"', "Name a task of the corpus"),
        ("[[2, 5], [2, 5]]", "[[2, 5]]", "must have the form of"),
        ("[[2, 5], [2, 5]]", "[[2, 0], [2, 5]]", "must have the form of"),
        ("[[2, 5], [2, 5]]", "[[2, 5000000], [2, 5]]", "Give it shapes with at most"),
        ('star = "match"', 'star = "fame"', "'fame' is not one of the stars"),
        ('star = "match"', 'says = "("', "not a regular expression"),
        ('name = "values"', 'name = "absent"', "absent"),
        ('["wrong values"]', '["bad values"]', "'bad values' is not one of the verdicts"),
        ('["Look at the graph.", "What is added?", "Write a + b."]', '"Look."', "a list of texts for 'hints'"),
        ("[[variant]]", "[[place]]", "'place'"),
    ],
)
def test_each_error_names_the_file_and_what_to_do(data: Path, corpus: Corpus, old: str, new: str, said: str) -> None:
    assert said in changed(data, corpus, old, new)


def test_a_lesson_that_cannot_be_read_leaves_the_others(data: Path, corpus: Corpus) -> None:
    (data / "lessons" / f"01-{LESSONS[0]}" / "text.md").unlink()
    (data / "lessons" / "unnumbered").mkdir()
    (data / "lessons" / "unnumbered" / "lesson.toml").write_text("", encoding="utf-8")
    course = Course([data / "lessons"], corpus)
    assert [each.id for each in course.lessons] == [LESSONS[1]]
    assert "text.md is missing" in course.problems[0]
    assert "Name its folder like 02-first-pattern" in course.problems[1]


def test_a_mistake_may_hold_only_what_differs_from_the_solution(data: Path, corpus: Corpus) -> None:
    folder = data / "lessons" / f"01-{LESSONS[0]}"
    whole = [each.bundle for each in read_lesson(folder, corpus.task).mistakes]
    for order in folder.glob("mistakes/*/*.json"):
        order.unlink()
    lesson = read_lesson(folder, corpus.task)
    assert [each.bundle for each in lesson.mistakes] == whole
    (folder / "mistakes" / "values" / "add_relu.py").unlink()
    assert read_lesson(folder, corpus.task).mistakes[1].bundle == lesson.solution


def test_what_a_lesson_lacks_is_named(data: Path, corpus: Corpus) -> None:
    folder = data / "lessons" / f"01-{LESSONS[0]}"
    (folder / "lesson.toml").write_text(LESSON.replace('"What is added?", ', "").replace("kept_back = true", ""))
    (folder / "text.md").write_text("Too many words here. " * 80 + "One " * 26 + "end.")
    found = " ".join(shortcomings(read_lesson(folder, corpus.task)))
    for said in ("2 hints", "knows 2 mistakes", "347 words", "A sentence has 27 words", "keeps no variant back"):
        assert said in found


def test_sentences_are_told_apart_without_code() -> None:
    text = "One two.  Three\nfour: five?\n\n```python\nx = 1. if y else 2\n```\n- six\n- seven eight\n"
    assert sentences(text) == ["One two.", "Three four:", "five?", "- six", "- seven eight"]


def test_a_new_lesson_can_be_read_and_lacks_only_what_its_author_has_to_write(data: Path, corpus: Corpus) -> None:
    folder = new_lesson(data / "lessons" / "15-mine", corpus, TASK_ID, None)
    lesson = read_lesson(folder, corpus.task)
    assert lesson.number == 15
    assert any("are the same" in each for each in shortcomings(lesson))
    with pytest.raises(BadInput, match="exists already"):
        new_lesson(folder, corpus, TASK_ID, None)
    with pytest.raises(BadInput, match="Name its folder"):
        new_lesson(data / "mine", corpus, TASK_ID, None)


def test_a_mistake_of_any_lesson_comes_after_the_lessons_own(data: Path, corpus: Corpus) -> None:
    folder = data / "lessons"
    shutil.copytree(folder / f"01-{LESSONS[0]}" / "mistakes" / "values", folder / "mistakes" / "any")
    text = f'lesson = "{LESSONS[1]}"\n[[mistake]]\nname = "any"\nstar = "match"\ncomment = "Whatever."\n'
    (folder / "mistakes.toml").write_text(text, encoding="utf-8")
    course = Course([folder], corpus)
    assert course.general[1] == LESSONS[1]
    assert [each.name for each in course.lesson(LESSONS[0]).general] == ["any"]
    (folder / "mistakes.toml").write_text(text.replace("star", "stars"), encoding="utf-8")
    broken = Course([folder], corpus)
    assert broken.lessons == ()
    assert "'stars'" in broken.problems[0]
