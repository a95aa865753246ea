"""Which tests a run may leave out, and what a change of a file makes run. Both follow from the files alone: never from
the date, the machine or chance.

A test that carries `pytest.mark.settled` can fail only through a change of its file's evidence: the judge, the pinned
versions of PACKAGES, the bundled tasks, and what tests/needs.py finds that the file needs. When all settled tests of a
file have passed, the digest of this evidence is written to recorded.json. While the evidence has that digest, of these
tests run only one in SAMPLE, always the same ones, and those whose subject has changed: the pass, the bundle or the
lesson that a test judges.

python -m tests.which FILE...       # say what a change of these files makes run
"""

import hashlib
import importlib.metadata
import json
import re
import sys
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from passnet_core.corpus.shapes import FILE as SHAPES
from passnet_core.judge.supervisor.machine import JUDGING, code_only, digest_of_judge
from passnet_core.judge.supervisor.sandbox import PACKAGE
from passnet_core.records import digest_of
from tests.needs import PROJECT, TEST_FILES, TESTS, files_in, is_data, needed, needed_directly, place_of

RECORD = TESTS / "recorded.json"
TASKS = PROJECT / "data" / "tasks"
PINNED = PROJECT / "constraints.txt"
PACKAGES = ("torch", "triton", "numpy")
JUDGE = frozenset(file for part in JUDGING for file in (PROJECT / "passnet_core" / part).rglob("*.py"))
STARTS_JUDGES = PROJECT / "passnet_core" / "execution" / "backends" / "local.py"
SAMPLE = 12


@cache
def settled_files() -> frozenset[Path]:
    """The files that have settled tests."""
    marked = re.compile(r"^(pytestmark = .*|@)pytest\.mark\.settled", re.MULTILINE)
    return frozenset(file for file in TEST_FILES if marked.search(file.read_text(encoding="utf-8")))


def evidence() -> dict[str, str]:
    """The present digest of the evidence of each file that has settled tests, by the place of the file in the project.

    All is read anew: a run asks before and after it whether files have changed meanwhile."""
    for read in (_content, needed, needed_directly):
        read.cache_clear()
    common = [digest_of_judge(PACKAGE), *_pins(), _digest(each for each in files_in(TASKS) if each.name != SHAPES)]
    return {place_of(file): _digest(needed(file) - JUDGE, *common) for file in settled_files()}


def subject_digest(subject: Path) -> str:
    """The present digest of what a test judges: a file or a folder of the project."""
    # also what is not Python's grammar is judged
    return digest_of([[place_of(file), hashlib.sha256(file.read_bytes()).hexdigest()] for file in files_in(subject)])


def recorded() -> dict[str, str]:
    """The digests with which everything passed, by the place of a test file or of a subject."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.is_file() else {}


def record(new: Mapping[str, str]) -> bool:
    """Record these digests, and forget what is no longer there. Return whether that changed the record."""
    known = recorded()
    now = {place: digest for place, digest in (known | dict(new)).items() if (PROJECT / place).exists()}
    if now != known:
        RECORD.write_text(json.dumps(now, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    return now != known


def versions_not_pinned() -> str:
    """Which packages of this environment are not as pinned, or empty."""
    pins = dict(line.split("==") for line in _pins())
    here = {name: importlib.metadata.version(name).partition("+")[0] for name in pins}
    return ", ".join(f"{name} is {here[name]}, not {pins[name]}" for name in pins if here[name] != pins[name])


def is_sampled(test: str) -> bool:
    """Whether a test belongs to the fixed sample."""
    return zlib.crc32(test.encode()) % SAMPLE == 0


def may_be_left_out(test: str, subject: Path | None, known: Mapping[str, str], unchanged: frozenset[str]) -> bool:
    """Whether a run needs no verdict on a settled test.

    test: its name, from the project's root. known: what is recorded. unchanged: the files whose evidence is."""
    if test.partition("::")[0] not in unchanged or is_sampled(test):
        return False
    return subject is None or known.get(place_of(subject)) == subject_digest(subject)


def _pins() -> list[str]:
    return [line for line in PINNED.read_text(encoding="utf-8").splitlines() if line.split("==")[0] in PACKAGES]


@cache
def _content(file: Path) -> str:
    # comments, docstrings and layout are free
    if file.suffix == ".py" and not is_data(file):
        return _code(file.read_text(encoding="utf-8"))
    return hashlib.sha256(file.read_bytes()).hexdigest()


_code = cache(code_only)


def _digest(files: Iterable[Path], *more: str) -> str:
    return digest_of([*more, *([place_of(file), _content(file)] for file in sorted(files))])


def consequences(file: Path) -> Iterable[str]:
    """Say in lines what a change of a file makes run."""
    starting = {test for test in TEST_FILES if file in JUDGE and STARTS_JUDGES in needed(test)}
    needing = starting.union(test for test in TEST_FILES if file in needed(test))
    naming = {test for test in TEST_FILES if file.name in test.read_text(encoding="utf-8")}
    common = file in JUDGE or file == PINNED or file.is_relative_to(TASKS)
    whole = settled_files() if common else settled_files() & needing
    subjects = [place for place in recorded() if file.is_relative_to(PROJECT / place) and file not in TEST_FILES]
    yield f"{place_of(file)}: make test runs all tests that are not settled. Of the settled ones it runs a sample, and"
    yield from (f"  all of {place_of(test)}" for test in sorted(whole))
    yield from (f"  all that judge {place}" for place in subjects)
    yield "Among those that always run, these need the file or name it:"
    yield from (f"  {place_of(test)}" for test in sorted((needing | naming) - whole))


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print("\n".join(consequences(Path(given).resolve())))
