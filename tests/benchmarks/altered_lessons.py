"""python -m tests.benchmarks.altered_lessons alters one place of lessons' solutions, has the judge grade what comes
out, and prints how many alterations get a comment. Exits with 1 if fewer than 90 % do.

Alterations that earn all stars are listed: each has to be read by a person, and must be equivalent."""

import argparse
import random
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.lessons.grading import Grade, graded, lesson_spec
from passnet_core.lessons.lesson import Lesson
from passnet_core.records import Outcome
from passnet_core.service import course_of
from passnet_core.settings import read_settings
from tests.redteam.learners import Altered, altered

COUNT, SEED, ENOUGH = 200, 7, 0.9


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="how many alterations, of all lessons together")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--lesson", action="append", help="only this lesson; may be repeated")
    parser.add_argument("--judges", type=int, default=1)
    args = parser.parse_args(argv)
    lessons = [each for each in course_of(read_settings()).lessons if not args.lesson or each.id in args.lesson]
    each_lesson = -(-args.count // len(lessons))
    asked = [
        (lesson, each)
        for lesson in lessons
        for each in altered(lesson.solution, each_lesson, random.Random(f"{args.seed} {lesson.id}"))
    ]
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as home:
        backend = LocalBackend(sys.executable, "auto", Path(home), judges=args.judges, checkers=0)
        with closing(Scheduler(backend)) as scheduler, ThreadPoolExecutor(args.judges) as threads:

            def judged(one: tuple[Lesson, Altered]) -> tuple[Lesson, Altered, Grade, list[Outcome]]:
                lesson, each = one
                jobs = jobs_of(lesson.task, each.bundle, lesson_spec(), None)
                outcomes = [scheduler.judge(job, lambda event: None, threading.Event()) for job in jobs]
                return lesson, each, graded(lesson, outcomes), outcomes

            for lesson, each, grade, outcomes in threads.map(judged, asked):
                kind = _kind(grade)
                counts[kind] += 1
                verdicts = ", ".join(outcome.verdict.value for outcome in outcomes)
                comment = grade.mistake.name if grade.mistake else "-"
                print(f"{kind:10} {lesson.id}: {each.words}: {verdicts}; {comment}", flush=True)
    lacking = counts["commented"] + counts["no comment"]
    print(f"\n{sum(counts.values())} alterations: {dict(counts)}")
    share = counts["commented"] / max(lacking, 1)
    print(f"{counts['commented']} of the {lacking} that lack a star get a comment ({share:.0%}).")
    return int(counts["commented"] < ENOUGH * lacking)


def _kind(grade: Grade) -> str:
    if grade.ungraded:
        return "ungraded"
    if grade.passed:
        return "all stars"
    return "commented" if grade.mistake else "no comment"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
