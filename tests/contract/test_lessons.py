"""The lessons before the real judge: each solution gets all stars, its start does not, each mistake its comment."""

import threading
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.lessons.reading import read_lesson, shortcomings
from passnet_core.lessons.trying import symptoms_seen, trials
from passnet_core.records import Bundle, Outcome
from passnet_core.service import lesson_spec
from tests.adversarial import full_run


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus([full_run.DATA / "tasks"])


@pytest.mark.parametrize("folder", full_run.LESSONS, ids=lambda folder: folder.name)
def test_a_lesson_has_all_that_a_lesson_needs(corpus: Corpus, folder: Path) -> None:
    assert shortcomings(read_lesson(folder, corpus.task)) == []


@pytest.mark.parametrize("judged_lesson", full_run.LESSONS, ids=lambda folder: folder.name)
def test_solution_start_and_mistakes_get_their_grades(
    backend: LocalBackend, corpus: Corpus, judged_lesson: Path
) -> None:
    lesson = read_lesson(judged_lesson, corpus.task)

    def judge(bundle: Bundle) -> list[Outcome]:
        jobs = jobs_of(lesson.task, bundle, lesson_spec(), None)
        return [backend.run(job, lambda event: None, threading.Event()) for job in jobs]

    for trial in trials(lesson, judge):
        seen = "\n".join(symptoms_seen(trial))
        assert not trial.problem, f"{trial.place}: {trial.problem}\n{seen}"
