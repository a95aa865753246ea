"""The helpers of the pages, tested without a page."""

from typing import Any

import pytest

from pages.ui.drafting import edited
from pages.ui.filters import INDUCTOR_SLOWER, MEASURED, TRIED, UNSOLVED, Listing, Search
from pages.ui.plots import picked_point
from pages.ui.text import code_span, is_before, plain, recorded, seconds, shape, when
from pages.ui.words import PHASES
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.gains import TaskStanding
from passnet_core.records import Capture, Family, PassFile, Phase, Profile
from passnet_core.store.rows import Standing
from tests.example_playground import REFERENCE


def summary(task_id: str, *operators: str, dtype: str = "float32", subgraphs: int = 2) -> TaskSummary:
    return TaskSummary(
        task_id,
        Family.FUSIBLE,
        "develop",
        subgraphs,
        (f"model-{task_id}",),
        (dtype,),
        operators,
        operators,
        3,
        ((2, 3),),
    )


TASKS = (summary("norm", "pow", "mean", "rsqrt"), summary("gate", "silu", "mul", dtype="bfloat16"))
TIMED = Standing(
    "norm",
    "a",
    3,
    1,
    20.0,
    0.8,
    "run-1",
    device="a GPU",
    capture=Capture.DIRECT,
    profile=Profile.STRICT,
    clock_version=1,
)
STANDINGS = {"norm": TaskStanding(3, 2, 20.0, 0.8, 1.5, "rules", (TIMED,))}


@pytest.mark.parametrize(
    ("search", "names"),
    [
        (Search(), ["norm", "gate"]),
        (Search(order="Name"), ["gate", "norm"]),
        (Search(order="Most operations"), ["norm", "gate"]),
        (Search(order="Slowest with Inductor"), ["norm", "gate"]),
        (Search(text="RSQRT"), ["norm"]),
        (Search(text="model-gate silu"), ["gate"]),
        (Search(text="pow -> mean"), ["norm"]),
        (Search(text="POW→rsqrt"), []),
        (Search(text="po* → … → rsqrt"), ["norm"]),
        (Search(text="2×3 silu -> *"), ["gate"]),
        (Search(text="(silu ->"), []),
        (Search(text="silu ->"), ["gate"]),
        (Search(text="3x2"), []),
        (Search(operators=["silu", "mul"]), ["gate"]),
        (Search(operators=["silu", "mean"]), []),
        (Search(dtypes=["bfloat16", "float16"]), ["gate"]),
        (Search(sizes=["4 to 10"]), []),
        (Search(states=[UNSOLVED]), ["gate"]),
        (Search(states=[INDUCTOR_SLOWER, TRIED]), ["norm"]),
        (Search(states=[MEASURED]), ["norm"]),
        (Search(families=["typical"]), []),
    ],
)
def test_a_search_finds_what_fits_all_its_fields(search: Search, names: list[str]) -> None:
    listing = Listing(TASKS)
    found = listing.found(search, STANDINGS)
    assert [TASKS[place].id for place in found] == names
    assert listing.table(found, STANDINGS)["task"].to_pylist() == names


def test_tasks_are_alike_by_the_operations_that_follow_one_another() -> None:
    tasks = (
        summary("norm", "pow", "mean", "add", "rsqrt", "mul"),
        summary("scaled", "pow", "mean", "add", "rsqrt", "mul", "to"),
        summary("shuffled", "mul", "rsqrt", "add", "mean", "pow"),
        summary("gate", "silu", "glu"),
    )
    listing = Listing(tasks)
    found = listing.alike("norm")
    assert [task.id for task, _ in found] == ["scaled", "shuffled"]
    assert 1 > found[0][1] > found[1][1] > 0
    assert listing.alike("norm", most=1) == found[:1]
    assert listing.alike("gate") == []
    assert listing.alike("no such task") == []


def test_the_table_says_how_a_task_stands() -> None:
    rows = Listing(TASKS).table([1, 0], STANDINGS).to_pylist()
    shown = ("task", "eager µs", "Inductor ×", "best ×", "by", "status", "measured")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("gate", None, None, None, None, "not tried", None),
        ("norm", 20.0, 0.8, 1.5, "rules", "2 of 2 accepted", "1 of 2 on a GPU, direct capture, clock version 1"),
    ]
    assert rows[0]["operators"] == "silu mul"
    assert Listing([]).table([], {}).num_rows == 0


def test_tasks_are_listed_by_gain_and_again_when_results_come() -> None:
    listing = Listing(TASKS)
    assert [TASKS[place].id for place in listing.found(Search(), {})] == ["gate", "norm"]
    found = listing.found(Search(), STANDINGS)
    assert [TASKS[place].id for place in found] == ["norm", "gate"]
    slowed = listing.slowed(found, STANDINGS)
    assert slowed is not None
    assert (slowed.tasks, slowed.worst) == (1, 0.8)
    assert listing.slowed(found, {}) is None


@pytest.mark.parametrize(
    "text", ["**a**", "[x](y)", ":red[x]", "<script>", "$x$", "`x`", "# x", "1. x", "a\n\nb", "~~x~~"]
)
def test_strangers_text_keeps_no_markup(text: str) -> None:
    shown = plain(text)
    assert "\n" not in shown
    for mark in "*[]<>:$`#~(":
        assert all(shown[at - 1] == "\\" for at, each in enumerate(shown) if each == mark)


def test_small_texts() -> None:
    assert code_span("a `b` c") == "``a `b` c``"
    assert (shape((2, 3)), shape(())) == ("2×3", "scalar")
    assert (seconds(0.42), seconds(12.3), seconds(185)) == ("0.4 s", "12 s", "3 min 5 s")
    assert when("2026-02-03T04:05:06+00:00") == "2026-02-03 04:05 UTC"
    assert when("soon") == "soon"


def test_what_finished_within_the_second_of_a_start_may_be_of_that_run() -> None:
    started = "2026-02-03T04:05:06.789+00:00"
    assert is_before("2026-02-03T04:05:05+00:00", started)
    assert not is_before("2026-02-03T04:05:06+00:00", started), "cut to the second, it may be 06.9"
    assert not is_before("2026-02-03T04:05:07+00:00", started)
    assert not is_before("soon", started)
    assert not is_before("", started)


@pytest.mark.parametrize(
    ("selection", "point"),
    [
        ({"point": [{"solver": "TorchInductor", "t": -5}]}, ("TorchInductor", -5)),
        ({"point": []}, None),
        ({"point": [{"solver": "TorchInductor", "t": 7}]}, None),
        ({"point": [{"t": -5}]}, None),
        ({}, None),
    ],
)
def test_a_click_in_the_chart_names_a_solver_and_a_level_or_nothing(
    selection: dict[str, Any], point: tuple[str, int] | None
) -> None:
    assert picked_point(selection, range(-10, 5)) == point


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], ""),
        (["NVIDIA H200, 2026-03-04"], "recorded: NVIDIA H200, 2026-03-04"),
        (["a lab, one", "", "a lab, one", "by hand"], "recorded: a lab, one; by hand"),
        (
            ["NVIDIA H200, 2026-03-06", "CPU, 2 cores, 2026-03-01", "NVIDIA H200, 2026-03-04", "NVIDIA H200"],
            "recorded: CPU, 2 cores, 2026-03-01; NVIDIA H200, 2026-03-04 to 2026-03-06",
        ),
    ],
)
def test_the_days_of_one_device_are_named_together(labels: list[str], said: str) -> None:
    assert recorded(labels) == said


def test_every_phase_of_a_job_has_words() -> None:
    """LOG needs no words: the text of the log is shown as it is."""
    assert PHASES.keys() == set(Phase) - {Phase.LOG}
    assert all(" " in words or words == "matching" for words in PHASES.values())


def test_passes_that_were_edited_no_longer_name_the_author_of_the_original() -> None:
    changed = edited(REFERENCE, passes=(PassFile("other.py", ""),))
    assert (changed.author, changed.helpers) == ("", REFERENCE.helpers)
    assert edited(REFERENCE, passes=REFERENCE.passes) is REFERENCE, "the same text is no edit"
