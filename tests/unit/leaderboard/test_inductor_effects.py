"""What Inductor does to subgraphs, counted: by clock, by kind, and where the time goes."""

import json
from dataclasses import replace

import pytest

from passnet_core.charts.shares import share_chart
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.leaderboard.inductor_effects import (
    Effect,
    Ground,
    Grouping,
    Guards,
    Spent,
    effect,
    grounds,
    guards,
    shares,
    spent,
)
from passnet_core.records import CLOCK_VERSION, Baseline, Capture, Clock, Contender, Family, Speedup
from passnet_core.store.rows import BaselineRow

SLOWER, SAME, FASTER = Effect


def row(
    task: str = "gate",
    speedup: float = 2.0,
    *,
    spread: float = 0.02,
    noise: float = 0.01,
    eager: float = 40.0,
    capture: Capture = Capture.DIRECT,
    dtype: str = "float32",
) -> BaselineRow:
    """Kernels take a tenth of eager's time and a twentieth of Inductor's, on which clock they are twice as fast."""
    return BaselineRow(
        run_id="run-1",
        recorded="",
        task_id=task,
        subgraph_id=f"{dtype}/{speedup}",
        dtype=dtype,
        device="a GPU",
        capture=capture,
        clock_version=CLOCK_VERSION,
        finished_at="2026-01-02T03:04:06+00:00",
        noise=noise,
        speedups=(
            Speedup(Contender.BASELINE, Clock.END_TO_END, speedup, speedup - spread, speedup + spread),
            Speedup(Contender.BASELINE, Clock.KERNEL, 2.0, 1.9, 2.1),
        ),
        times=(
            (Contender.EAGER, Clock.END_TO_END, eager),
            (Contender.EAGER, Clock.KERNEL, eager / 10),
            (Contender.BASELINE, Clock.END_TO_END, eager / speedup),
            (Contender.BASELINE, Clock.KERNEL, eager / 20),
        ),
    )


def on(capture: Capture, device: str = "a GPU") -> Ground:
    return Ground(device, capture, CLOCK_VERSION, Baseline.INDUCTOR)


def summary(name: str, *operators: str) -> TaskSummary:
    return TaskSummary(
        name, Family.FUSIBLE, "eval", 1, ("model",), ("float32",), operators, operators, len(operators), ((2,),)
    )


TASKS = {
    each.id: each for each in (summary("gate", "silu", "mul"), summary("norm", "view", "layer_norm", *["add"] * 6))
}


@pytest.mark.parametrize(
    ("speedup", "spread", "noise", "expected"),
    [
        (2.0, 0.1, 0.05, FASTER),
        (0.8, 0.1, 0.05, SLOWER),
        (1.04, 0.01, 0.05, SAME),
        (0.97, 0.01, 0.05, SAME),
        (1.2, 0.3, 0.05, SAME),
        (0.8, 0.3, 0.05, SAME),
    ],
)
def test_an_effect_is_one_that_interval_and_noise_floor_bear_out(
    speedup: float, spread: float, noise: float, expected: Effect
) -> None:
    assert effect(row(speedup=speedup, spread=spread, noise=noise), Clock.END_TO_END) is expected
    assert effect(row(speedup=speedup), Clock.COLD) is None


def test_groups_are_counted_in_their_natural_order() -> None:
    rows = [
        row("gate", 0.5, eager=20.0),
        row("gate", 2.0, eager=150.0, dtype="float16"),
        row("norm", 3.0, eager=30.0),
        row("unknown", 1.0, eager=2000.0),
    ]
    by_time = shares(rows, Clock.END_TO_END, Grouping.TIME, TASKS)
    assert [(each.group, each.total, each.slower) for each in by_time] == [
        ("below 25 µs", 1, 1.0),
        ("25 to 50 µs", 1, 0.0),
        ("100 µs to 1 ms", 1, 0.0),
        ("1 ms and more", 1, 0.0),
    ]
    groups = {by: [each.group for each in shares(rows, Clock.END_TO_END, by, TASKS)] for by in Grouping}
    assert groups[Grouping.OPERATIONS] == ["1 to 3", "4 to 10"], "those that Explore filters by"
    assert groups[Grouping.OPERATORS] == ["normalisation", "pointwise"]
    assert groups[Grouping.DTYPE] == ["float16", "float32"]
    assert groups[Grouping.FAMILY] == ["fusible"]
    assert groups[Grouping.CLOCK] == ["end to end", "kernel"]
    whole, kernels = shares(rows, Clock.END_TO_END, Grouping.CLOCK, TASKS)
    assert whole.counts == {SLOWER: 1, SAME: 1, FASTER: 2}
    assert (whole.speedup, kernels.counts[FASTER]) == (1.5, 4)


def test_where_the_time_goes_is_a_median_over_subgraphs() -> None:
    rows = [row(eager=100.0), row(eager=200.0), row(eager=400.0)]
    assert spent(rows) == (Spent(Contender.EAGER, 20.0, 180.0), Spent(Contender.BASELINE, 10.0, 90.0))
    assert spent(()) == ()


def test_devices_and_captures_stand_side_by_side() -> None:
    rows = [row(), row(capture=Capture.COMPILED), row("norm", capture=Capture.COMPILED)]
    compiled, direct = map(on, (Capture.COMPILED, Capture.DIRECT))
    assert grounds(rows) == (compiled, direct)
    older = [replace(each, clock_version=1) for each in [*rows, *rows]]
    assert grounds([*older, *rows])[:2] == (compiled, direct), "the newest clock version comes first"
    assert len(grounds([*older, *rows])) == 4
    rounding = [replace(each, baseline=Baseline.EAGER_ROUNDING) for each in [*rows, *rows]]
    assert grounds([*rounding, *rows])[:2] == (compiled, direct), "the default baseline comes first"


def test_the_bars_are_as_long_as_their_shares() -> None:
    chart = share_chart([("small", {"slower": 1, "faster": 3}), ("large", {"slower": 0, "faster": 2})], "size")
    values = json.loads(chart.to_json())["data"]["values"]
    assert [(each["group"], each["part"], each["begin"], each["end"]) for each in values] == [
        ("small (4)", "slower", 0.0, 0.25),
        ("small (4)", "faster", 0.25, 1.0),
        ("large (2)", "slower", 0.0, 0.0),
        ("large (2)", "faster", 0.0, 1.0),
    ]


def test_guards_are_what_compiled_capture_takes_beyond_direct_capture_and_beyond_eager() -> None:
    def taking(eager: float, inductor: float, capture: Capture, name: str = "a") -> BaselineRow:
        times = ((Contender.EAGER, Clock.END_TO_END, eager), (Contender.BASELINE, Clock.END_TO_END, inductor))
        return replace(row(capture=capture), subgraph_id=name, times=times)

    rows = [
        *(taking(100.0, 60.0, Capture.DIRECT), taking(110.0, 100.0, Capture.COMPILED)),  # 30
        *(taking(10.0, 20.0, Capture.DIRECT, "b"), taking(10.0, 70.0, Capture.COMPILED, "b")),  # 50
        *(taking(10.0, 20.0, Capture.DIRECT, "c"), taking(10.0, 110.0, Capture.COMPILED, "c")),  # 90
        taking(10.0, 500.0, Capture.COMPILED, "only here"),
        replace(taking(10.0, 500.0, Capture.DIRECT, "only here"), device="another GPU"),
        replace(taking(10.0, 500.0, Capture.DIRECT, "only here"), clock_version=1),
        replace(taking(10.0, 500.0, Capture.DIRECT, "only here"), baseline=Baseline.EAGER_ROUNDING),
    ]
    ground = on(Capture.DIRECT)
    assert guards(rows, ground) == Guards(50.0, 3)
    assert guards(rows, on(Capture.DIRECT, "another GPU")) is None
    assert guards(rows[:1], ground) is None
