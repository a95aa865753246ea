"""What tests need and which of them each lane runs, said in one place; tests/conftest.py applies it at collection.

Places are files, folders or single tests below this folder, fixtures are known by their names.
"""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

TESTS = Path(__file__).resolve().parent


class Lane(StrEnum):
    """smoke: in a minute. test: all, with a sample of an unchanged corpus. all: all, and the corpus recorded."""

    SMOKE = "smoke"
    TEST = "test"
    ALL = "all"


JUDGE, TORCH, BROWSER, GPU, SANDBOX = "judge", "torch", "browser", "gpu", "sandbox"

MARKED: dict[str, tuple[str, ...]] = {
    BROWSER: ("browser",),
    GPU: ("gpu",),
    SANDBOX: (
        "contract/test_backend.py::test_a_fork_bomb_is_ended",
        "contract/test_sandbox.py",
        "contract/test_store.py::test_a_full_disk_is_said_and_nothing_reported_is_lost",
    ),
    TORCH: (
        "contract/checks",
        "contract/test_bench.py",
        "contract/test_building.py",
        "contract/test_clocks.py",
        "contract/test_comparing.py",
        "contract/test_controls.py",
        "contract/test_error_map.py",
        "contract/test_inputs.py",
        "contract/test_inspections.py",
        "contract/test_interpreter.py",
        "contract/test_large_outputs.py",
        "contract/test_measuring.py",
        "contract/test_processes.py",
        "contract/test_sizes.py",
        "contract/test_tracing.py",
        "contract/test_verify.py",
        "gpu/test_bench_there.py",
    ),
    JUDGE: (
        "browser",
        "gpu",
        "adversarial/test_hostile.py",
        "contract/test_backend.py",
        "contract/test_command_line.py::test_only_the_judges_packages_are_needed_with_outcomes",
        "contract/test_cutting_models.py",
        "contract/test_processes.py::test_scratch_of_process_isolation_is_watched_and_removed",
        "contract/test_service.py::test_the_real_judge_answers_through_the_service",
        "contract/test_batch.py::test_a_model_that_repairs_what_the_real_judge_found_is_accepted",
        "contract/test_wheel.py",
    ),
}
"""Which places carry which marker."""

JUDGING_FIXTURES = frozenset({"backend", "own_backend", "backends", "pool", "witness"})
"""Who asks for one of these starts judges."""

CHECK = "contract/test_backend.py::test_check_says_that_it_matches_and_shows_the_graph_afterwards"
"""The one test of the smoke lane that starts a judge: a real CHECK job."""

SMOKE = (
    "unit",
    "pages/test_pieces.py",
    "adversarial/test_headers.py",
    "adversarial/test_sampling.py",
    "adversarial/test_stated_rules.py",
    "adversarial/test_table.py",
    CHECK,
)
"""What the smoke lane runs."""

LONGEST_FIRST = ("browser", "adversarial/test_hostile.py", "adversarial", "tools", "contract", "pages", "unit", "gpu")
"""In which order tests are handed out: a long test begun last would leave the other workers idle."""


def place_of(path: Path) -> str:
    """What a file is called here."""
    return path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else path.as_posix()


def lies_in(test: str, place: str) -> bool:
    """Whether a test is this place, lies in it, or is one of its cases."""
    return test == place or test.startswith((f"{place}/", f"{place}::", f"{place}["))


def markers_of(test: str, fixtures: Iterable[str] = ()) -> frozenset[str]:
    """What a test needs, or all tests of a file: by the table and by the fixtures that it asks for."""
    by_place = {marker for marker, places in MARKED.items() if any(lies_in(test, place) for place in places)}
    by_fixture = {JUDGE} if not JUDGING_FIXTURES.isdisjoint(fixtures) else set()
    return frozenset(by_place | by_fixture)


def in_smoke(test: str) -> bool:
    """Whether the smoke lane runs a test, or reads a file."""
    return any(lies_in(test, place) or lies_in(place, test) for place in SMOKE)


def turn(test: str) -> int:
    """When a test is handed out: a smaller number is earlier."""
    return next(number for number, place in enumerate((*LONGEST_FIRST, test)) if lies_in(test, place))
