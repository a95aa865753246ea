"""The course: all lessons in their order, and the tasks that belong to them."""

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.lessons.lesson import TASK, Lesson, Mistake
from passnet_core.lessons.reading import ABOUT, read_general, read_lesson
from passnet_core.records import Outcome, Task


class Course:
    """The lessons in some folders, read when they are first asked for. Of two with one id, the first counts. Threads
    may share it."""

    def __init__(self, folders: Sequence[Path], corpus: Corpus) -> None:
        """corpus: has the tasks from which the lessons' subgraphs are. From now on it finds the lessons' tasks too."""
        self.corpus = corpus
        self._folders = folders
        self._lock = threading.Lock()
        corpus.unlisted = self.task

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        return self._read[0]

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each lesson that could not be read."""
        return self._read[1]

    def lesson(self, lesson_id: str) -> Lesson:
        """Return the lesson with this id. Raises UnknownItem."""
        for each in self.lessons:
            if each.id == lesson_id:
                return each
        known = ", ".join(each.id for each in self.lessons)
        raise UnknownItem(f"There is no lesson {lesson_id!r}. The lessons are {known}.")

    def of_task(self, task_id: str) -> Lesson | None:
        """The lesson to which a task belongs; None if it belongs to none."""
        if not task_id.startswith(TASK):
            return None
        return next((each for each in self.lessons if each.task.id == task_id), None)

    def task(self, task_id: str) -> Task | None:
        """The task of a lesson; None if no lesson has it."""
        found = self.of_task(task_id)
        return found.task if found else None

    def explaining(self, outcome: Outcome) -> Lesson | None:
        """The lesson that explains why an outcome is as it is: a rule that was broken, or else what was missed, or else
        the verdict."""
        return next(filter(None, map(self.explaining_word, _to_explain(outcome))), None)

    def explaining_word(self, word: str) -> Lesson | None:
        """The lesson that explains a rule, a kind of miss, or a verdict, by its value."""
        return next((each for each in self.lessons if word in each.explains), None)

    def read(self, folder: Path) -> Lesson:
        """Read the lesson in any folder, with the course's general mistakes. Raises BadInput."""
        return read_lesson(folder, self.corpus.task, self.general[0])

    @cached_property
    def general(self) -> tuple[tuple[Mistake, ...], str]:
        """The mistakes that can be made in any lesson, and the id of the lesson in which they are tried. Raises
        BadInput."""
        return next((found for found in map(read_general, self._folders) if found[0]), ((), ""))

    @property
    def _read(self) -> tuple[tuple[Lesson, ...], tuple[str, ...]]:
        with self._lock:
            return self._all

    @cached_property
    def _all(self) -> tuple[tuple[Lesson, ...], tuple[str, ...]]:
        lessons: dict[str, Lesson] = {}
        problems: list[str] = []
        for place in (each.parent for folder in self._folders for each in sorted(folder.glob(f"*/{ABOUT}"))):
            try:
                found = self.read(place)
                if found.id in lessons:
                    raise BadInput(f"another lesson has the id {found.id!r}. Rename its folder.")
                lessons[found.id] = found
            except BadInput as error:
                problems.append(f"Lesson {place.name!r} is left out: {error}")
        ordered = sorted(lessons.values(), key=lambda each: (each.number, each.checkpoint))
        return tuple(ordered), tuple(problems)


def _to_explain(outcome: Outcome) -> Iterator[str]:
    yield from (each.rule for each in outcome.findings if each.fatal)
    yield from (each.miss.kind for each in (outcome.match.passes if outcome.match else ()) if each.miss)
    yield outcome.verdict
