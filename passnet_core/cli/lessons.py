"""The commands of the course: list, show and grade lessons, and write new ones."""

import argparse
import contextlib
import textwrap
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from passnet_core.bundles.reading import read_bundle, write_bundle
from passnet_core.cli.console import ACCEPTED, INFRASTRUCTURE, NOT_ACCEPTED, Console
from passnet_core.cli.parser import command, group
from passnet_core.cli.runs import read
from passnet_core.errors import BadInput
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.lessons.course import Course
from passnet_core.lessons.grading import Grade, graded, lesson_spec
from passnet_core.lessons.lesson import Lesson
from passnet_core.lessons.progress import handed_in
from passnet_core.lessons.reading import shortcomings
from passnet_core.lessons.trying import MOST_S, Judge, TriedBundle, of_mistakes, symptoms_seen, trials
from passnet_core.lessons.writing import new_lesson
from passnet_core.records import Bundle, Outcome
from passnet_core.service import course_of
from passnet_core.store.rows import RunFile

LESSON = "a lesson's id, such as first-pattern"
WIDTH = 100


def show_lessons(args: argparse.Namespace, console: Console) -> int:
    course = _course(console)
    rows = [(_number(each), each.id, each.title, each.goal) for each in course.lessons]
    console.listing(args.json, list(map(_described, course.lessons)), ("no.", "lesson", "title", "goal"), rows)
    return ACCEPTED


def show(args: argparse.Namespace, console: Console) -> int:
    lesson = _course(console).lesson(args.lesson)
    if args.hint is not None and not 1 <= args.hint <= len(lesson.hints):
        raise BadInput(f"Lesson {lesson.id!r} has the hints 1 to {len(lesson.hints)}; you asked for {args.hint}.")
    chosen = lesson.solution if args.solution else lesson.start
    if args.json:
        told = {**_described(lesson), "text": lesson.text, "further": list(lesson.further)}
        console.show(told | ({"hint": lesson.hints[args.hint - 1]} if args.hint else {}))
    elif args.hint:
        console.say(lesson.hints[args.hint - 1])
    elif not args.out:
        console.say(f"{_number(lesson)}. {lesson.title}\n\n{lesson.goal}\n\n{lesson.text.strip()}\n")
        for each in lesson.shown:
            console.say(textwrap.indent(each.code.strip(), "    "))
    if args.out:
        write_bundle(chosen, Path(args.out))
        console.tell(f"The {'solution' if args.solution else 'start'} is in {args.out}. Grade it with: lessons grade.")
    return ACCEPTED


def grade(args: argparse.Namespace, console: Console) -> int:
    lesson = _course(console).lesson(args.lesson)
    bundle = read_bundle(Path(args.bundle))
    with console.scheduler() as scheduler:
        outcomes = _judge(scheduler, lesson)(bundle)
    found = graded(lesson, outcomes)
    data = {"lesson": lesson.id, "bundle_digest": bundle.digest, **_graded(found), "verdicts": _verdicts(outcomes)}
    console.answer(args.json, data, *told(lesson, found, outcomes))
    if found.ungraded:
        return INFRASTRUCTURE
    return ACCEPTED if found.passed else NOT_ACCEPTED


def told(lesson: Lesson, found: Grade, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Describe a grade to a person in a few lines."""
    if found.ungraded:
        yield f"Not graded: {found.ungraded}"
        return
    for star in lesson.stars:
        yield f"{'★' if star in found.stars else '☆'} {star.value}"
    if found.passed:
        yield "All stars."
        return
    worst = next((each for each in outcomes if not each.verdict.accepted), outcomes[0])
    where = " in a subgraph that the lesson keeps back" if worst.subgraph_id in lesson.kept_back else ""
    yield f"{worst.verdict.value}{where}. {worst.reason}"
    if found.mistake:
        yield textwrap.fill(found.mistake.comment, WIDTH)


def new(args: argparse.Namespace, console: Console) -> int:
    folder = new_lesson(Path(args.folder), _course(console).corpus, args.task, args.subgraph)
    console.say(f"{folder} holds a lesson to fill in. Try it with: lessons test {folder}")
    return ACCEPTED


def try_out(args: argparse.Namespace, console: Console) -> int:
    course = _course(console)
    lessons = [_lesson(course, each) for each in args.lesson] if args.lesson else list(course.lessons)
    problems = 0
    with console.scheduler() as scheduler:
        for lesson in lessons:
            console.say(f"{_number(lesson)} {lesson.id}")
            for each in shortcomings(lesson):
                problems += 1
                console.say(f"  problem: {each}")
            problems += _tried(lesson, trials(lesson, _judge(scheduler, lesson)), console, verbose=args.verbose)
        mistakes, place = course.general
        if mistakes and not args.lesson:
            lesson = course.lesson(place)
            console.say(f"mistakes of any lesson, in {lesson.id}")
            found = of_mistakes(lesson, mistakes, _judge(scheduler, lesson))
            problems += _tried(lesson, found, console, verbose=args.verbose)
    console.say(f"{problems} {'problem' if problems == 1 else 'problems'} in {len(lessons)} of the lessons.")
    return NOT_ACCEPTED if problems else ACCEPTED


def _tried(lesson: Lesson, found: Iterable[TriedBundle], console: Console, *, verbose: bool) -> int:
    """Print the grade of each bundle, and return how many are not as they should be."""
    problems = 0
    for each in found:
        stars = "".join("★" if star in each.grade.stars else "☆" for star in lesson.stars)
        slow = f" Longer than {MOST_S:g} s." if each.wall_s > MOST_S else ""
        comment = each.grade.mistake.name if each.grade.mistake else "no comment"
        console.say(f"  {stars} {each.place}: {comment}, {each.wall_s:.1f} s.{slow}")
        if each.problem:
            problems += 1
            console.say(f"    problem: {each.problem}")
        if each.problem or verbose:
            for line in symptoms_seen(each):
                console.say(f"      {line}")
    return problems


def collect(args: argparse.Namespace, console: Console) -> int:
    course = _course(console)
    handed_in = {path: _handed_in(Path(path), course) for path in args.file}
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        scheduler = stack.enter_context(console.scheduler()) if args.again else None
        for path, files in handed_in.items():
            for lesson, file in files:
                outcomes = _judge(scheduler, lesson)(file.bundles[0]) if scheduler else file.outcomes
                found = graded(lesson, outcomes)
                row = {"file": Path(path).name, "lesson": lesson.id, "bundle_digest": file.run.bundle_digest}
                rows.append({**row, **_graded(found)})
    if args.json:
        console.show(rows)
    else:
        cells = [
            (each["file"], each["lesson"], f"{len(each['stars'])} of {len(each['stars']) + len(each['missing'])}",
             "passed" if each["passed"] else each["mistake"] or "", each["bundle_digest"])
            for each in rows
        ]  # fmt: skip
        console.table(("file", "lesson", "stars", "", "passes"), cells)
        console.say("Judged again here." if args.again else "As the files say. Judge the passes again with --again.")
    return ACCEPTED if rows else NOT_ACCEPTED


def _handed_in(path: Path, course: Course) -> list[tuple[Lesson, RunFile]]:
    """The runs of lessons in a file that was exported from Learn. Raises BadInput."""
    text = read(path, "a file that was exported from Learn")
    try:
        return handed_in(course, text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def _course(console: Console) -> Course:
    course = course_of(console.settings)
    for each in course.problems:
        console.tell(each)
    return course


def _lesson(course: Course, named: str) -> Lesson:
    """The lesson with this id, or in this folder."""
    if Path(named).is_dir():
        return course.read(Path(named).resolve())
    return course.lesson(named)


def _judge(scheduler: Scheduler, lesson: Lesson) -> Judge:
    cancelled = threading.Event()

    def judged(bundle: Bundle) -> list[Outcome]:
        jobs = jobs_of(lesson.task, bundle, lesson_spec(), None)
        return [scheduler.judge(job, lambda event: None, cancelled) for job in jobs]

    return judged


def _number(lesson: Lesson) -> str:
    return f"{lesson.number}{' check' if lesson.checkpoint else ''}"


def _described(lesson: Lesson) -> dict[str, Any]:
    return {
        "lesson": lesson.id,
        "number": lesson.number,
        "checkpoint": lesson.checkpoint,
        "title": lesson.title,
        "goal": lesson.goal,
        "task": lesson.task.id,
        "subgraphs": [each.id for each in lesson.shown],
        "stars": [star.value for star in lesson.stars],
        "hints": len(lesson.hints),
        "start_digest": lesson.start.digest,
    }


def _graded(found: Grade) -> dict[str, Any]:
    return {
        "passed": found.passed,
        "stars": [star.value for star in found.stars],
        "missing": [star.value for star in found.missing],
        "mistake": found.mistake.name if found.mistake else None,
        "comment": found.mistake.comment if found.mistake else None,
        "ungraded": found.ungraded,
    }


def _verdicts(outcomes: Sequence[Outcome]) -> list[dict[str, str]]:
    return [{"subgraph": each.subgraph_id, "verdict": each.verdict.value, "reason": each.reason} for each in outcomes]


def add_commands(commands: Any) -> None:
    """Declare the group lessons."""
    made = group(commands, "lessons", "learn to write passes: show lessons, grade passes, and write lessons")
    command(made, "list", show_lessons, "list the lessons")

    showing = command(made, "show", show, "show a lesson's text, a hint, or write the passes to start from to a folder")
    showing.add_argument("lesson", metavar="LESSON", help=LESSON)
    showing.add_argument("--hint", type=int, metavar="N", help="show only this hint, from 1")
    showing.add_argument("--out", metavar="DIR", help="write the passes to start from into this folder")
    showing.add_argument("--solution", action="store_true", help="with --out: write the solution instead")

    grading = command(made, "grade", grade, "grade passes by what the judge finds, and say what to do about it")
    grading.add_argument("lesson", metavar="LESSON", help=LESSON)
    grading.add_argument("--bundle", required=True, metavar="DIR", help="the folder with the passes")

    collecting = command(made, "collect", collect, "list what the people of a class have handed in")
    collecting.add_argument("file", nargs="+", metavar="FILE", help="progress that was downloaded from Learn")
    collecting.add_argument(
        "--again", action="store_true", help="judge the passes again, instead of believing the files"
    )

    writing = command(made, "new", new, "write a lesson to fill in", as_json=False)
    writing.add_argument("folder", metavar="DIR", help="the lesson's folder, such as lessons/15-my-lesson")
    writing.add_argument("--task", required=True, metavar="TASK", help="the task from which its subgraph is")
    writing.add_argument("--subgraph", metavar="ID", help="the subgraph (default: the task's first)")

    trying = command(
        made, "test", try_out,
        "test that solutions get all stars, and that each mistake of a lesson gets its comment", as_json=False,
    )  # fmt: skip
    trying.add_argument("lesson", nargs="*", metavar="LESSON", help="a lesson's id or folder (default: all lessons)")
    trying.add_argument("--verbose", action="store_true", help="print what the judge finds, for writing symptoms")
