"""S(t), ES(t) and AS: equal to the published tables and to their definitions."""

import gc
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passnet_core.errors import BadInput, EmptyScore
from passnet_core.records import ErrorClass
from passnet_core.scoring.intervals import Interval, median_interval, percentile
from passnet_core.scoring.scores import (
    LEVELS,
    PENALTY_SLOW,
    THRESHOLDS,
    WEIGHTS,
    Interpretation,
    Parameters,
    Sample,
    SampleTable,
    aggregate,
    error_aware_logs,
    error_aware_score,
    parameters,
    score,
    score_interval,
)
from tests.scores import aggregate_score

PUBLISHED = Path(__file__).resolve().parents[3] / ".." / "shared" / "vectors" / "published_scores.json"
ALL_LEVELS = LEVELS[Interpretation.EXTENDED]
SELF_CONTRADICTORY = {("PaddlePaddle-CV", 2), ("PaddlePaddle-CV", 3), ("PaddlePaddle-CV", 4)}
"""Rows whose printed ES, 1.123, cannot result from the printed alpha and lambda, which allow 1.1217 at most."""


def combined(of: Parameters, *, p: float = PENALTY_SLOW) -> float:
    """ES(t) in its aggregate form (see Parameters); S(t) if gamma = b."""
    return of.alpha**of.correct * of.beta ** (of.correct * of.slower * p) * of.gamma ** (1 - of.correct)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Samples that are timed or not, correct from some t on or never, with any error class."""
    if draw(st.booleans()):
        return Sample(None, frozenset(), draw(st.sampled_from(ErrorClass)))
    first = draw(st.integers(-10, 7))
    error_class = draw(st.none() | st.sampled_from(ErrorClass))
    return Sample(draw(st.floats(0.01, 100)), frozenset(range(first, 6)), error_class)


# a loaded machine must not fail a property
patient = settings(deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
many = st.lists(samples(), min_size=1, max_size=30)
penalties = st.tuples(st.floats(0, 3), st.floats(0.01, 1))
interpretations = st.sampled_from(Interpretation)


def by_definition(given: Sequence[Sample], t: int, p: float, b: float, interpretation: Interpretation) -> float:
    """ES(t) sample by sample, written as in its definition."""
    factors = []
    for each in given:
        if each.speedup is not None and min(t, 1) in each.correct_at:
            factors.append(each.speedup if each.speedup >= 1 else each.speedup ** (p + 1))
        else:
            threshold = THRESHOLDS[interpretation][each.error_class or ErrorClass.ACCURACY]
            factors.append(1.0 if t >= 1 and t >= threshold else b)
    return math.prod(factor ** (1 / len(factors)) for factor in factors)


@patient
@given(many, st.sampled_from(ALL_LEVELS), penalties, interpretations)
def test_the_score_is_its_definition(
    given: list[Sample], t: int, of: tuple[float, float], interpretation: Interpretation
) -> None:
    p, b = of
    expected = by_definition(given, t, p, b, interpretation)
    assert error_aware_score(given, t, p=p, b=b, interpretation=interpretation) == pytest.approx(expected, rel=1e-9)


@patient
@given(many, st.sampled_from(ALL_LEVELS), penalties, interpretations)
def test_sample_level_equals_the_aggregate_form(
    given: list[Sample], t: int, of: tuple[float, float], interpretation: Interpretation
) -> None:
    p, b = of
    aggregated = combined(parameters(given, t, b=b, interpretation=interpretation), p=p)
    assert error_aware_score(given, t, p=p, b=b, interpretation=interpretation) == pytest.approx(aggregated, rel=1e-9)


@patient
@given(many, st.integers(-10, 0), penalties)
def test_below_one_both_scores_are_the_same(given: list[Sample], t: int, of: tuple[float, float]) -> None:
    p, b = of
    assert error_aware_score(given, t, p=p, b=b) == score(given, t, p=p, b=b)
    assert parameters(given, t, b=b).gamma == pytest.approx(b)


@patient
@given(many, penalties, interpretations)
def test_from_one_on_tolerating_more_never_lowers_the_score(
    given: list[Sample], of: tuple[float, float], interpretation: Interpretation
) -> None:
    p, b = of
    curve = [error_aware_score(given, t, p=p, b=b, interpretation=interpretation) for t in range(1, 6)]
    assert curve == sorted(curve)


@patient
@given(many, st.randoms(), st.sampled_from(ALL_LEVELS))
def test_the_order_of_samples_does_not_matter(given: list[Sample], random: object, t: int) -> None:
    shuffled = list(given)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert error_aware_score(shuffled, t) == pytest.approx(error_aware_score(given, t), rel=1e-12)
    assert aggregate_score(shuffled) == pytest.approx(aggregate_score(given), rel=1e-12)
    assert score_interval(shuffled, t, resamples=50).low == pytest.approx(score_interval(given, t, resamples=50).low)


@patient
@given(many)
def test_the_aggregate_score_is_the_weighted_geometric_mean(given: list[Sample]) -> None:
    total = sum(WEIGHTS.values())
    expected = math.prod(error_aware_score(given, t) ** (weight / total) for t, weight in WEIGHTS.items())
    assert aggregate_score(given) == pytest.approx(expected, rel=1e-9)


def test_the_weights_are_the_published_ones() -> None:
    assert [WEIGHTS[t] for t in range(-10, 5)] == [
        0.001, 0.001, 0.001, 0.001, 0.001, 1, 1, 1, 0.8, 0.64, 0.512, 0.4096, 0.32768, 0.262144, 0.001,
    ]  # fmt: skip


@pytest.mark.parametrize("interpretation", Interpretation)
def test_every_error_class_has_a_threshold(interpretation: Interpretation) -> None:
    assert set(THRESHOLDS[interpretation]) == set(ErrorClass)


@pytest.mark.parametrize(
    ("interpretation", "error_class", "first"),
    [
        ("default", ErrorClass.ACCURACY, 1),
        ("default", ErrorClass.TYPE, 3),
        ("default", ErrorClass.RUNTIME, 3),
        ("default", ErrorClass.COMPILE, 3),
        ("default", ErrorClass.EAGER, None),
        ("default", ErrorClass.CHEAT, None),
        ("extended", ErrorClass.ACCURACY, 1),
        ("extended", ErrorClass.TYPE, 2),
        ("extended", ErrorClass.RUNTIME, 3),
        ("extended", ErrorClass.COMPILE, 4),
        ("extended", ErrorClass.EAGER, None),
        ("extended", ErrorClass.CHEAT, None),
    ],
)
def test_from_which_level_an_error_is_tolerated(
    interpretation: str, error_class: ErrorClass, first: int | None
) -> None:
    failed = [Sample(None, frozenset(), error_class)]
    tolerated = [t for t in ALL_LEVELS if error_aware_score(failed, t, interpretation=interpretation) == 1]
    assert tolerated == ([] if first is None else list(range(first, 6)))


def test_a_small_example_by_hand() -> None:
    everywhere = frozenset(range(-10, 5))
    given = [Sample(4.0, everywhere), Sample(0.25, everywhere), Sample(2.0, frozenset(range(5))), Sample(None)]
    assert score(given, -5) == pytest.approx((4 * 0.25 * 0.1 * 0.1) ** 0.25)
    assert score(given, 0) == pytest.approx((4 * 0.25 * 2 * 0.1) ** 0.25)
    assert score(given, 0, p=1, b=0.5) == pytest.approx((4 * 0.25**2 * 2 * 0.5) ** 0.25)
    assert error_aware_score(given, 1) == pytest.approx((4 * 0.25 * 2 * 1) ** 0.25)
    of = parameters(given, 0)
    assert (of.correct, of.gamma) == (0.75, 0.1)
    assert (of.alpha, of.beta, of.slower) == (pytest.approx(2 ** (1 / 3)), pytest.approx(0.25), pytest.approx(1 / 3))


def test_a_sample_that_is_correct_only_above_one_does_not_count_its_speedup() -> None:
    late = [Sample(3.0, frozenset({2, 3, 4}))]
    assert error_aware_score(late, 2) == 1


def test_no_sample_has_no_score() -> None:
    for asked in (score, error_aware_score, parameters, score_interval):
        with pytest.raises(EmptyScore, match="no sample to score"):
            asked([], 0)
    with pytest.raises(EmptyScore):
        aggregate_score([])


@pytest.mark.parametrize(
    "wrong", [{"b": 0.0}, {"b": 1.5}, {"p": -1.0}, {"p": math.nan}, {"b": math.nan}, {"interpretation": "strict"}]
)
def test_wrong_parameters_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        error_aware_score([Sample(1.0, frozenset({0}))], 0, **wrong)  # type: ignore[arg-type]


def test_wrong_levels_and_speedups_are_named() -> None:
    with pytest.raises(BadInput, match="level t must lie between -10 and 5, not 6"):
        score([Sample(1.0)], 6)
    for speedup in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(BadInput, match="speedup"):
            Sample(speedup)
    with pytest.raises(BadInput, match="t = -9"):
        aggregate({-10: 1.0})


def published_rows() -> list[tuple[str, dict[str, Any]]]:
    if not PUBLISHED.exists():
        return []
    return [(table["name"], row) for table in json.loads(PUBLISHED.read_text())["tables"] for row in table["rows"]]


def test_the_published_tables() -> None:
    """Printed figures have three decimals, so a score is right if inputs that round to them can give it."""
    rows = published_rows()
    if not rows:
        pytest.skip("the published scores are not beside the project")
    assert len(rows) == 60
    for name, row in rows:
        for score_name, base in (("s", 0.1), ("es", row["gamma"])):
            printed = row[score_name]
            if printed is None:
                continue
            assert base is not None
            possible = [
                combined(Parameters(row["alpha"] + da, row["beta"] or 1.0, row["lambda"] + dl, row["eta"] or 0.0, base))
                for da in (-0.0005, 0, 0.0005)
                for dl in (-0.0005, 0, 0.0005)
            ]
            allowed = 0.002 if score_name == "es" and (name, row["t"]) in SELF_CONTRADICTORY else 0.0005
            assert min(possible) - allowed <= printed <= max(possible) + allowed, (name, row, score_name)


def test_the_published_gammas_are_from_the_default_interpretation() -> None:
    """Without accuracy errors, gamma is b below t = 3 and 1 from there on, as most of the tables print it."""
    failed = [Sample(None, frozenset(), each) for each in (ErrorClass.RUNTIME, ErrorClass.COMPILE)]
    assert [parameters(failed, t).gamma for t in (0, 1, 2, 3, 4)] == pytest.approx([0.1, 0.1, 0.1, 1, 1])


def right_samples(count: int) -> SampleTable:
    return SampleTable(
        np.log(np.random.default_rng(0).lognormal(0.2, 0.4, count)),
        np.full(count, 0b1111_1111_1000_0000, dtype=np.int64),
        np.zeros(count, dtype=np.int8),
    )


def steps_of_a_curve(table: SampleTable) -> int:
    """How many instructions of Python compute the score at every level."""
    steps = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal steps
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        steps += event == "opcode"
        return count

    before = sys.gettrace()
    gc.disable()  # what others have left may end in Python code, whose steps are not those of a curve
    sys.settrace(count)
    try:
        curve = [error_aware_score(table, t) for t in LEVELS[Interpretation.DEFAULT]]
    finally:
        sys.settrace(before)
        gc.enable()
    assert len(curve) == 15
    return steps


def test_a_hundred_thousand_samples_are_scored_at_every_level_in_as_many_steps_as_a_hundred() -> None:
    table = right_samples(100_000)
    steps_of_a_curve(right_samples(100))  # what is cached is computed now
    assert steps_of_a_curve(table) == steps_of_a_curve(right_samples(100)) > 0
    interval = score_interval(table, 0)
    assert interval.low < interval.value < interval.high
    assert interval.high - interval.low < 0.02


# --- intervals -------------------------------------------------------------------------------------------------------


@patient
@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=12), st.randoms())
def test_a_median_interval_holds_the_median_and_ignores_the_order(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    interval = median_interval(values, resamples=60)
    assert min(values) <= interval.low <= interval.value <= interval.high <= max(values)
    assert median_interval(shuffled, resamples=60) == interval


def test_more_values_narrow_the_interval() -> None:
    random = np.random.default_rng(1)
    few, lots = (median_interval(list(random.normal(1, 0.1, size))) for size in (5, 100))
    assert lots.high - lots.low < few.high - few.low
    assert lots.low <= 1.0 <= lots.high < 2.0


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(2)
    found = [median_interval(list(random.normal(0, 1, 25)), resamples=200, seed=seed) for seed in range(200)]
    assert 0.88 <= np.mean([each.low <= 0.0 <= each.high for each in found]) <= 0.995


def test_the_score_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    everywhere = frozenset(range(-10, 5))
    found = []
    for seed in range(200):
        drawn = [Sample(float(s), everywhere) for s in random.lognormal(0.0, 0.3, 30)]
        found.append(score_interval(drawn, 0, resamples=200, seed=seed))
    assert 0.88 <= np.mean([each.low <= 1.0 <= each.high for each in found]) <= 0.99


def test_equal_values_have_no_width_and_none_has_no_interval() -> None:
    assert median_interval([2.0, 2.0]) == median_interval([2.0]) == Interval(2.0, 2.0, 2.0)
    alike = [Sample(2.0, frozenset({0}))] * 5
    assert astuple(score_interval(alike, 0)) == pytest.approx((2.0, 2.0, 2.0))
    with pytest.raises(EmptyScore):
        median_interval([])


def test_percentiles_are_interpolated() -> None:
    assert percentile([1.0, 2.0, 3.0], 0.5) == 2
    assert percentile([1.0, 2.0], 0.25) == 1.25
    assert percentile([1.0, 2.0], 1.0) == 2


def test_what_each_sample_contributes_makes_the_score() -> None:
    given = [Sample(4.0, frozenset({0})), Sample(None, frozenset(), ErrorClass.RUNTIME)]
    assert list(np.exp(error_aware_logs(given, 0))) == pytest.approx([4.0, 0.1])
