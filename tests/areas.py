"""Areas of tests that cost minutes, with the code on which they depend foremost, and their last recorded runs.

While an area's code and tests are as they were when all of its tests passed, the lane 'test' runs each of them on one
of tests.lanes.DAYS. Other code can break them too: that shows within these days, or at once in make test-all."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from passnet_core.judge.supervisor.machine import code_only
from passnet_core.records import digest_of

TESTS = Path(__file__).resolve().parent
PROJECT = TESTS.parent
RECORD = TESTS / "recorded_areas.json"
JUDGING = tuple(f"passnet_core/{part}" for part in ("judge", "fx", "bundles", "graphs", "records", "scoring"))

PAGES = ("app.py", "pages", "assets", ".streamlit", "passnet_core/access")


@dataclass(frozen=True)
class Area:
    """code: files and folders of the project. tests: places, as in tests/lanes.py. together: all of them run on the
    same day, as they share what takes longest."""

    code: tuple[str, ...]
    tests: tuple[str, ...]
    together: bool = False


AREAS: Mapping[str, Area] = {
    "rules": Area(
        (*JUDGING, "passnet_core/solvers/rules", "tests/contract/rules_cases.py"),
        ("contract/test_rules_kernels.py",),
        together=True,
    ),
    "machine": Area(
        (*JUDGING, "passnet_core/execution", "tests/real_judge.py"),
        (
            "adversarial/test_hostile.py",
            *(
                f"contract/test_{name}.py"
                for name in ("backend", "checking", "inspections", "processes", "reproducing", "spares")
            ),
        ),
    ),
    "models": Area(
        (*(f"passnet_core/{part}" for part in ("fx", "integrate", "corpus", "whole_models", "solvers/rules")),
         "tools", "data/tasks"),
        (
            "contract/test_cutting_models.py",
            "contract/test_integrate.py",
            "contract/test_whole_models.py",
            "tools/test_extraction.py",
            "tools/test_harvesting.py",
            "tools/test_operations.py",
            "tools/test_solving.py",
            "unit/solvers/test_rules_corpus.py",
        ),
    ),
    "training": Area(
        ("passnet_core/training", "passnet_core/server", "passnet_core/solvers"),
        (
            "contract/test_batch.py",
            "contract/test_judge_service.py",
            "contract/test_rewards_judged.py",
            "contract/test_small_decoder.py",
            "contract/test_training_data.py",
            "contract/test_training_report.py",
        ),
    ),
    "pages": Area(PAGES, ("pages",)),
    "browser": Area(PAGES, ("browser", "contract/test_sign_ins.py", "contract/test_wheel.py")),
}  # fmt: skip


def digest(area: Area, project: Path = PROJECT) -> str:
    """A digest of an area's code and tests. Comments and docstrings of Python files do not count."""
    places = [project / each for each in (*area.code, *(f"{TESTS.name}/{each}" for each in area.tests))]
    files = sorted({file for place in places for file in _files(place)})
    return digest_of([[file.relative_to(project).as_posix(), _content(file)] for file in files])


def digests() -> dict[str, str]:
    return {name: digest(area) for name, area in AREAS.items()}


def recorded(path: Path = RECORD) -> dict[str, str]:
    """The digests with which all tests of an area passed, by its name."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def changed() -> frozenset[str]:
    """The areas that are not as they were recorded."""
    known = recorded()
    return frozenset(name for name, found in digests().items() if known.get(name) != found)


def record(passed: Mapping[str, str], path: Path = RECORD) -> None:
    """Record that all tests of these areas passed. passed: their digests by name."""
    path.write_text(json.dumps(recorded(path) | dict(passed), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _files(place: Path) -> Iterable[Path]:
    if place.is_file():
        return [place]
    assert place.is_dir(), f"{place} does not exist"
    return (each for each in place.rglob("*") if each.is_file() and "__pycache__" not in each.parts)


def _content(file: Path) -> str:
    if file.suffix == ".py":
        return digest_of(code_only(file.read_text(encoding="utf-8")))
    return hashlib.sha256(file.read_bytes()).hexdigest()
