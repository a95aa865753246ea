"""The last recorded run of the corpus, the reference bundles and the lessons, and which have to be judged again."""

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from passnet_core.bundles.reading import read_bundle
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.layout import read_task
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.lessons.course import Course
from passnet_core.lessons.lesson import Lesson, Mistake
from passnet_core.records import Device, digest_of
from tests.adversarial.corpus import FOLDER, Entry, entries

RECORD = FOLDER / "full_run.json"
DATA = FOLDER.parents[1] / "data"
REFERENCES = tuple(sorted(path.parent for path in (DATA / "bundles").glob("*/about.json")))
SAMPLE = 8
"""How many unchanged files, of those that need a judge, are judged while the judge is unchanged."""
COURSE = Course([DATA / "lessons"], Corpus([DATA / "tasks"]))
LESSONS = tuple(sorted(path.parent for path in (DATA / "lessons").glob("*/lesson.toml")))
GENERAL = DATA / "lessons" / "mistakes"
"""The mistakes that can be made in any lesson."""
SAMPLES = {"reference": 1, "lesson": 0}
"""How many unchanged reference bundles and lessons are judged beside them. A lesson has about twenty bundles."""


@dataclass(frozen=True)
class State:
    """What the verdicts depend on. judge: its digest. files: a digest of what is judged, without what needs a GPU."""

    judge: str
    versions: Mapping[str, str]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Plan:
    """Which files and reference bundles are judged, and why. files: None stands for all. day: of the sample. areas:
    those of tests.areas that changed."""

    files: frozenset[str] | None
    why: str
    day: int = 0
    areas: frozenset[str] = frozenset()


def file_of(entry: Entry) -> str:
    """The name of a file in plans and in the record."""
    return f"{entry.family}/{entry.name}"


def reference_of(folder: Path) -> str:
    """The name of a reference bundle in plans and in the record."""
    return f"reference/{folder.name}"


def lesson_of(folder: Path) -> str:
    """The name of a lesson in plans and in the record."""
    return f"lesson/{folder.name}"


def tasks_of(folder: Path) -> list[str]:
    """The ids of the tasks that a reference bundle is for."""
    named: list[str] = json.loads((folder / "about.json").read_text(encoding="utf-8"))["tasks"]
    return named


def on_cpu() -> list[Entry]:
    """The files that are judged without a GPU."""
    return [each for each in entries() if not each.needs_gpu]


def today() -> int:
    """The number of this day in UTC. Each day judges the next sample of the corpus."""
    return datetime.now(UTC).toordinal()


def state() -> State:
    """The present state, with the versions that the judge on this machine reports. Loads no torch."""
    with tempfile.TemporaryDirectory() as home:
        environment = LocalBackend(sys.executable, "auto", Path(home)).info().environment
    files = {file_of(each): each.job(Device.CPU).digest for each in on_cpu()}
    files |= {reference_of(each): _reference_digest(each) for each in REFERENCES}
    files |= {lesson_of(each): _lesson_digest(COURSE.read(each)) for each in LESSONS}
    mistakes, place = COURSE.general
    files[lesson_of(GENERAL)] = digest_of([_mistakes_digest(mistakes), _lesson_digest(COURSE.lesson(place))])
    if environment is None:
        return State("none", {}, files)
    named = {name: str(getattr(environment, name)) for name in ("python", "torch", "triton", "isolation", "platform")}
    return State(environment.judge_digest, named, files)


def planned(now: State, recorded: State | None, by_rule: frozenset[str], turn: int) -> Plan:
    """Plan all files if the judge has changed since the recorded run, otherwise a sample and the files that changed.

    by_rule: files that a static rule must reject. Other tests check that without a judge, so a sample has only one of
    them. The samples of successive turns cover all of them.
    """
    if recorded is None:
        return Plan(None, "no full run is recorded")
    differing = [name for name in sorted({*now.versions, *recorded.versions}) if _differ(name, now, recorded)]
    if now.judge != recorded.judge:
        differing.insert(0, "the judge")
    if differing:
        return Plan(None, f"changed since the recorded full run: {', '.join(differing)}")
    changed = {name for name, digest in now.files.items() if recorded.files.get(name) != digest}
    unchanged = now.files.keys() - changed
    apart = {kind: {name for name in unchanged if name.startswith(f"{kind}/")} for kind in SAMPLES}
    rest = unchanged.difference(by_rule, *apart.values())
    sample = {*_window(rest, turn, SAMPLE), *_window(unchanged & by_rule, turn, 1)}
    for kind, names in apart.items():
        sample |= {*_window(names, turn, SAMPLES[kind])}
    why = f"sample {turn}, and {len(changed)} that changed since the recorded full run"
    return Plan(frozenset(changed | sample), why, turn)


def read(path: Path = RECORD) -> State | None:
    """The recorded run, or None."""
    return State(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def write(ran: State, path: Path = RECORD) -> None:
    path.write_text(json.dumps(asdict(ran), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _reference_digest(folder: Path) -> str:
    tasks = [read_task(DATA / "tasks" / task_id) for task_id in tasks_of(folder)]
    return digest_of([read_bundle(folder).digest, [each.digest for task in tasks for each in task.subgraphs]])


def _lesson_digest(lesson: Lesson) -> str:
    """A digest of all of which grades depend: subgraphs, passes, and the symptoms of mistakes in their order."""
    bundles = [each.digest for each in (lesson.start, lesson.solution)]
    subgraphs = [each.digest for each in lesson.task.subgraphs]
    mistakes = [_mistakes_digest(each) for each in (lesson.mistakes, lesson.general)]
    return digest_of([bundles, mistakes, subgraphs, lesson.kept_back, lesson.without])


def _mistakes_digest(mistakes: Iterable[Mistake]) -> str:
    return digest_of([[each.bundle.digest, repr(each.symptoms)] for each in mistakes])


def _differ(name: str, now: State, recorded: State) -> bool:
    return now.versions.get(name) != recorded.versions.get(name)


def _window(files: set[str] | frozenset[str], turn: int, size: int) -> list[str]:
    """The files of this turn. Successive turns go round the files, in an order that mixes the families."""
    mixed = sorted(files, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    start = turn * size
    return [mixed[at % len(mixed)] for at in range(start, start + min(size, len(mixed)))]
