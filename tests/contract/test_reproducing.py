"""Outcomes as programs that need torch and Triton only, and come to the judge's verdict by themselves."""

import ast
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.lessons.course import Course
from passnet_core.lessons.grading import lesson_spec
from passnet_core.lessons.lesson import Lesson
from passnet_core.records import Bundle, Outcome, Verdict
from passnet_core.reports.reproducing import reproducer
from tests.contract.interpreted import run_interpreted
from tests.contract.judging import ample_s

OUTCOMES = {
    ("first-kernel", "solution"): Verdict.VALUES_ONLY,
    ("row-reduction", "too_few_programs"): Verdict.WRONG_VALUES,
    ("first-pattern", "half_precision"): Verdict.LOWER_PRECISION,
    ("row-reduction", "other_shape"): Verdict.WRONG_SHAPE,
    ("row-reduction", "solution"): Verdict.VALUES_ONLY,
    ("row-reduction", "read_twice"): Verdict.VALUES_ONLY,
    ("row-reduction", "other_type"): Verdict.WRONG_TYPE,
    ("row-reduction", "block_of_columns"): Verdict.COMPILE_FAILED,
    ("row-reduction", "not_run"): Verdict.COMPILE_FAILED,
    ("row-reduction", "launch_and_parameters"): Verdict.CRASHED,
    ("row-reduction", "no_mean"): Verdict.WRONG_VALUES,
    ("row-reduction", "other_number"): Verdict.WRONG_VALUES,
    ("first-kernel", "no_relu"): Verdict.WRONG_VALUES,
    ("first-kernel", "nothing_stored"): Verdict.WRONG_VALUES,
    ("first-kernel", "blocks_left_out"): Verdict.WRONG_VALUES,
    ("first-kernel", "other_result"): Verdict.WRONG_TYPE,
    ("first-kernel", "launched_twice"): Verdict.VALUES_ONLY,
    ("first-kernel", "other_arguments"): Verdict.CRASHED,
    ("first-pattern", "solution"): Verdict.VALUES_ONLY,
    ("first-pattern", "arguments_reversed"): Verdict.WRONG_VALUES,
}
"""Twenty outcomes of passes in lessons: (lesson, the solution or a mistake), and the verdict."""
DATA = Path(__file__).resolve().parents[2] / "data"
COURSE = Course([DATA / "lessons"], Corpus([DATA / "tasks"]))
STARTS = ("data/lessons", "assets/report")


def passes(lesson: Lesson, name: str) -> Bundle:
    if name == "solution":
        return lesson.solution
    return next(each.bundle for each in lesson.mistakes if each.name == name)


def judged(backend: LocalBackend, lesson: Lesson, bundle: Bundle) -> Outcome:
    (job, *_) = jobs_of(lesson.task, bundle, replace(lesson_spec(), seed=7, deadline_s=ample_s()), None)
    return backend.run(job, lambda event: None, threading.Event())


@pytest.mark.settled
@pytest.mark.parametrize(("lesson_id", "name"), OUTCOMES)
def test_an_outcome_comes_to_the_same_verdict_again(
    backend: LocalBackend, tmp_path: Path, lesson_id: str, name: str
) -> None:
    verdict = OUTCOMES[lesson_id, name]
    lesson = COURSE.lesson(lesson_id)
    bundle = passes(lesson, name)
    outcome = judged(backend, lesson, bundle)
    assert outcome.verdict is verdict, outcome.reason
    text = reproducer(outcome, lesson.task.subgraphs[0], bundle)
    assert text == reproducer(outcome, lesson.task.subgraphs[0], bundle)
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(ast.parse("#" + text.rpartition("# --- what follows")[2]))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported - set(sys.stdlib_module_names) == {"torch"}
    # it exits with another code than 0 if it comes to another verdict
    said = run_interpreted(text.replace("sys.exit(main())", "sys.exit(main(['--here']))"), tmp_path, head="")
    known = {"right"} if verdict is Verdict.VALUES_ONLY else {verdict.value}
    assert any(f"verdict: {each}" in said for each in known), said


def test_a_process_that_ends_is_a_crash(backend: LocalBackend, tmp_path: Path) -> None:
    """A store outside of a tensor is refused by the judge's interpreter only: Triton's own is ended by it."""
    lesson = COURSE.lesson("first-kernel")
    bundle = passes(lesson, "writes_past_the_end")
    astray = [replace(each, code=each.code.replace("out_ptr +", "out_ptr + (1 << 40) +")) for each in bundle.passes]
    far = replace(bundle, passes=tuple(astray))
    outcome = judged(backend, lesson, far)
    assert outcome.verdict is Verdict.CRASHED
    assert "OutsideMemory" in outcome.reason
    file = tmp_path / "outcome.py"
    file.write_text(reproducer(outcome, lesson.task.subgraphs[0], far))
    found = subprocess.run([sys.executable, str(file), "--values-only"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found
    assert "verdict: crashed (the process was ended by SIGSEGV)" in found.stdout


def test_names_from_outside_stay_text(backend: LocalBackend) -> None:
    lesson = COURSE.lesson("first-kernel")
    named = '""" + chr(10) + raise SystemExit\nraise SystemExit("caught")\n"""\\'
    subgraph = replace(
        lesson.task.subgraphs[0], id=named, task_id=named, code=lesson.task.subgraphs[0].code + "# '''\n"
    )
    outcome = replace(judged(backend, lesson, lesson.solution), reason=named)
    text = reproducer(outcome, subgraph, lesson.solution)
    module = ast.parse(text)
    assert not any(isinstance(each, ast.Raise) for each in module.body)
    assigned = [each for each in module.body if isinstance(each, ast.Assign)]
    known = {ast.unparse(each.targets[0]): each.value for each in assigned}
    assert ast.literal_eval(known["SUBGRAPH"]) == subgraph.code
    assert ast.literal_eval(known["REASON"]) == named


def test_without_a_match_there_is_nothing_to_reproduce(backend: LocalBackend) -> None:
    lesson = COURSE.lesson("first-pattern")
    outcome = judged(backend, lesson, lesson.start)
    assert outcome.verdict is Verdict.NO_MATCH
    with pytest.raises(BadInput, match="nothing to reproduce"):
        reproducer(outcome, lesson.task.subgraphs[0], lesson.start)
