"""What each test needs, and which tests each lane runs. tests/conftest.py applies these tables at collection.

A place is a file, a folder or a single test below this folder.
"""

import zlib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from tests.areas import AREAS

TESTS = Path(__file__).resolve().parent


class Lane(StrEnum):
    """smoke: takes a minute. test: all tests, but if the judge has not changed, a sample of the adversarial corpus and
    of the tests of the judge alone. all: all tests and the whole corpus, whose run is recorded if nothing fails."""

    SMOKE = "smoke"
    TEST = "test"
    ALL = "all"


JUDGE, TORCH, BROWSER, GPU, SANDBOX, SLOW = "judge", "torch", "browser", "gpu", "sandbox", "slow"

MARKED: dict[str, tuple[str, ...]] = {
    SLOW: (
        "others",
        "contract/test_making_conversations.py",
        "contract/test_ray_backend.py",
        "contract/test_killed_server.py::test_what_a_server_reported_is_there_when_it_was_killed_fifty_times",
        "contract/test_sign_ins.py::test_five_hundred_sign_ins_are_never_mixed_up",
        "contract/test_program_interface.py::test_nothing_is_served_that_should_not_be_in_ten_thousand_calls",
        "tools/test_extraction.py::test_a_tiny_model_becomes_tasks",
        "tools/test_harvesting.py::test_a_tiny_model_is_cut_into_tasks_of_three_families",
        "unit/training/test_alterations.py::test_plans_have_the_stated_shares",
        "unit/training/test_alterations.py::test_styles_give_different_bundles_with_the_same_kernels",
    ),
    BROWSER: ("browser",),
    GPU: ("gpu",),
    SANDBOX: (
        "contract/test_backend.py::test_a_fork_bomb_is_killed_and_the_next_job_runs",
        "browser/test_served.py",
        "contract/test_sandbox.py",
        "contract/test_sign_ins.py",
        "contract/test_store.py::test_a_full_disk_is_reported_and_loses_no_outcome",
        "contract/test_zygote.py",
    ),
    TORCH: (
        "contract/checks",
        "contract/test_bench.py",
        "contract/test_bias.py",
        "contract/test_building.py",
        "contract/test_clocks.py",
        "contract/test_comparing.py",
        "contract/test_compile_problems.py",
        "contract/test_controls.py",
        "contract/test_dispatching.py",
        "contract/test_error_map.py",
        "contract/test_error_places.py",
        "contract/test_guarded_memory.py",
        "contract/test_inputs.py",
        "contract/test_inspections.py",
        "contract/test_integrate.py",
        "contract/test_interpreter.py",
        "contract/test_kernel_language.py",
        "contract/test_kernel_syntax.py",
        "contract/test_large_outputs.py",
        "contract/test_launching.py",
        "contract/test_list_of_checks.py",
        "contract/test_measuring.py",
        "contract/test_needs_gpu.py",
        "contract/test_passnet_profile.py",
        "contract/test_pretended_device.py",
        "contract/test_processes.py",
        "contract/test_recorded_sizes.py",
        "contract/test_repeating.py",
        "contract/test_rules_kernels.py",
        "contract/test_schedule.py",
        "contract/test_sizes.py",
        "contract/test_small_decoder.py",
        "contract/test_staging.py",
        "contract/test_strict_memory.py",
        "contract/test_telling_draws.py",
        "contract/test_tracing.py",
        "contract/test_verify.py",
        "contract/test_watching_launches.py",
        "contract/test_zygote.py",
        "contract/test_whole_models.py",
        "gpu/test_passes_in_a_model.py",
        "gpu/test_reference_bench.py",
        "tools/test_operations.py",
        "tools/test_telling.py",
    ),
    JUDGE: (
        "browser",
        "gpu",
        "adversarial/test_hostile.py",
        "contract/test_backend.py",
        "contract/test_command_line.py::test_check_with_an_outcomes_file_needs_only_the_judges_packages",
        "contract/test_checking.py",
        "contract/test_cutting_models.py",
        "contract/test_making_conversations.py",
        "contract/test_ray_backend.py",
        "contract/test_reproducing.py",
        "contract/test_rewards_judged.py",
        "contract/test_processes.py::test_the_scratch_folder_of_process_isolation_is_limited_and_removed",
        "contract/test_spares.py",
        "contract/test_service.py::test_the_service_gets_verdicts_from_the_real_judge",
        "contract/test_batch.py::test_a_model_that_repairs_mistakes_the_real_judge_found_is_accepted",
        "contract/test_batch.py::test_the_real_judge_accepts_what_the_rules_write",
        "contract/test_whole_models.py",
        "contract/test_wheel.py",
        "pages/test_own_model_page.py::test_a_file_becomes_a_bundle_and_a_report",
        "pages/test_own_model_page.py::test_one_search_runs_at_a_time_and_each_can_be_stopped",
    ),
}
"""The places that carry each marker."""

JUDGING_FIXTURES = frozenset({"backend", "own_backend", "backends", "pool", "witness"})
"""A test that uses one of these fixtures starts judges."""

CHECK = "contract/test_backend.py::test_check_reports_the_match_and_shows_the_rewritten_graph"
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
"""The places that the smoke lane runs."""

OF_THE_JUDGE = (
    "contract/checks",
    *(
        f"contract/test_{name}.py"
        for name in (
            "bench", "bias", "building", "census", "comparing", "compile_problems", "error_places", "interpreter",
            "large_outputs", "launching", "measuring", "needs_gpu", "passnet_profile", "pretended_device",
            "recorded_sizes", "reference_launches", "repeating", "sizes", "strict_memory", "telling_draws", "tracing",
            "verify",
        )
    ),
)  # fmt: skip
"""Places that test nothing but what the judge's digest and the reference bundles cover."""
DAYS = 7
"""While the judge is unchanged since the recorded run, the lane 'test' runs each of these tests on one of so many days;
and each test of an area (tests/areas.py) while that is unchanged."""

LONGEST_FIRST = (
    "contract/test_backend.py::test_a_silent_referee_is_killed",
    "tools/test_harvesting.py",
    *("browser", "adversarial/test_hostile.py", "adversarial", "tools", "contract", "pages", "unit", "gpu"),
)
"""The order in which tests start: a long test that starts last would leave the other workers idle."""


def place_of(path: Path) -> str:
    """The name of a file in the tables above."""
    return path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else path.as_posix()


def lies_in(test: str, place: str) -> bool:
    """Whether a test is this place, lies in it, or is one of its parametrized cases."""
    return test == place or test.startswith((f"{place}/", f"{place}::", f"{place}["))


def markers_of(test: str, fixtures: Iterable[str] = ()) -> frozenset[str]:
    """The markers of a test, or of all tests of a file: those of its place, and those of the fixtures that it uses."""
    by_place = {marker for marker, places in MARKED.items() if any(lies_in(test, place) for place in places)}
    by_fixture = {JUDGE} if not JUDGING_FIXTURES.isdisjoint(fixtures) else set()
    return frozenset(by_place | by_fixture)


def in_smoke(test: str) -> bool:
    """Whether the smoke lane runs this test, or a test in this file."""
    return any(lies_in(test, place) or lies_in(place, test) for place in SMOKE)


def is_of_the_judge(test: str) -> bool:
    """Whether nothing but a change of the judge, or of a reference bundle, can make this test fail."""
    return any(lies_in(test, place) for place in OF_THE_JUDGE)


def area_of(test: str) -> str | None:
    """The name of the area of a test; None for one of no area."""
    return next((name for name, area in AREAS.items() if any(lies_in(test, place) for place in area.tests)), None)


def has_its_day(test: str, day: int) -> bool:
    """Whether this is the day of a test that runs on one of DAYS."""
    return (zlib.crc32(test.encode()) - day) % DAYS == 0


def turn(test: str) -> int:
    """The rank of a test in the starting order; smaller numbers start earlier."""
    return next(number for number, place in enumerate((*LONGEST_FIRST, test)) if lies_in(test, place))
