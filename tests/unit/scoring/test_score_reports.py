"""Score reports of outcomes: what counts, what is left out, and what a repair would gain."""

import json
from dataclasses import replace

import pytest

from passnet_core.errors import BadInput, EmptyScore
from passnet_core.records import (
    CLOCK_VERSION,
    Baseline,
    Capture,
    Clock,
    Device,
    ErrorClass,
    EvalSpec,
    Outcome,
    Profile,
    Run,
    SolverKind,
    Stage,
    Verdict,
    to_json,
)
from passnet_core.scoring.published import CLOCKS, INPUTS, published, published_line
from passnet_core.scoring.report import (
    INCONCLUSIVE,
    NOT_MEASURED,
    VALUES_ONLY,
    contributions,
    entry_of,
    others_said,
    read_entries,
    report_to_json,
    score_report,
    score_reports,
)
from passnet_core.scoring.scores import Interpretation, Sample, error_aware_score, score, score_interval
from tests.contract.made import BUNDLE, MEASURE, job, of_clock, outcome

EVERYWHERE = frozenset(range(-5, 5))


def timed(number: int, speedup: float, **changes: object) -> Outcome:
    return replace(outcome(job(number), Verdict.FASTER, speedup=speedup), **changes)  # type: ignore[arg-type]


def failed(number: int, verdict: Verdict = Verdict.CRASHED, spec: EvalSpec = MEASURE) -> Outcome:
    return outcome(job(number, spec=spec), verdict)


def test_a_report_scores_timed_outcomes_and_failures_before_timing() -> None:
    (report,) = score_reports([timed(0, 2.0), timed(1, 0.5), failed(2)])
    samples = [Sample(2.0, EVERYWHERE), Sample(0.5, EVERYWHERE), Sample(None, frozenset(), failed(2).error_class)]
    assert report.samples == 3
    assert report.left_out == ()
    for level in report.levels:
        assert level.es == pytest.approx(error_aware_score(samples, level.t))
        assert level.low <= level.es <= level.high
    at_zero = report.at(0)
    assert at_zero is not None
    assert at_zero.s == pytest.approx(score(samples, 0))
    assert report.at(1).s is None  # type: ignore[union-attr]
    assert (at_zero.correct, at_zero.slower) == (pytest.approx(2 / 3), 0.5)


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (outcome(job(1, spec=replace(MEASURE, device=Device.CPU)), Verdict.VALUES_ONLY), VALUES_ONLY),
        (failed(1, spec=replace(MEASURE, device=Device.CPU)), NOT_MEASURED),
        (failed(1, Verdict.WRONG_VALUES, replace(MEASURE, stage=Stage.VERIFY)), NOT_MEASURED),
        (outcome(job(1), Verdict.INFRASTRUCTURE), "infrastructure error"),
        (outcome(job(1), Verdict.CANCELLED), "cancelled"),
        (outcome(job(1), Verdict.INCONCLUSIVE), INCONCLUSIVE),
        (outcome(job(1, spec=replace(MEASURE, device=Device.CPU)), Verdict.NEEDS_GPU), "needs a GPU"),
        (outcome(job(1, spec=replace(MEASURE, stage=Stage.CHECK)), Verdict.MATCHED), NOT_MEASURED),
    ],
)
def test_an_outcome_that_is_no_sample_is_counted_with_its_reason(left: Outcome, why: str) -> None:
    (report,) = score_reports([timed(0, 2.0), left])
    assert report.samples == 1
    assert report.left_out == ((why, 1),)


@pytest.mark.parametrize(
    ("verdict", "error_class", "tolerated_from"),
    [
        (Verdict.CHEAT, ErrorClass.CHEAT, None),
        (Verdict.LIBRARY, ErrorClass.RUNTIME, 3),
        (Verdict.LOWER_PRECISION, ErrorClass.ACCURACY, 1),
        (Verdict.WRONG_VALUES, ErrorClass.ACCURACY, 1),
    ],
)
@pytest.mark.parametrize("interpretation", Interpretation)
def test_close_values_alone_are_not_correct_at_any_t(
    verdict: Verdict, error_class: ErrorClass, tolerated_from: int | None, interpretation: Interpretation
) -> None:
    """Outputs may be as close as those of an honest pass: without a trusted speedup, they gain nothing."""
    found = failed(0, verdict)
    assert found.accuracy is not None
    assert found.error_class is error_class
    (report,) = score_reports([found], interpretation=interpretation)
    assert (report.samples, report.left_out) == (1, ())
    for level in report.levels:
        assert level.correct == 0
        expected = 1 if tolerated_from is not None and level.t >= tolerated_from else 0.1
        assert level.es == pytest.approx(expected), level.t


def test_an_inconclusive_outcome_is_no_failure_and_does_not_push_out_a_figure() -> None:
    later = replace(outcome(job(0), Verdict.INCONCLUSIVE), finished_at="2027-01-01T00:00:00+00:00")
    (report,) = score_reports([timed(0, 2.0), later])
    assert (report.samples, report.left_out) == (1, ())
    assert report.at(0).es == pytest.approx(2.0)  # type: ignore[union-attr]
    (alone,) = score_reports([later])
    assert (alone.samples, alone.aggregate, alone.left_out) == (0, None, ((INCONCLUSIVE, 1),))


def by_passnet(number: int, verdict: Verdict, speedup: float = 2.0) -> Outcome:
    return outcome(job(number, spec=replace(MEASURE, profile=Profile.PASSNET)), verdict, speedup=speedup)


def test_what_passnets_protocol_aborts_counts_as_a_failure_only_if_asked() -> None:
    found = [by_passnet(0, Verdict.FASTER), by_passnet(1, Verdict.INCONCLUSIVE)]
    (report,) = score_reports(found)
    assert (report.samples, report.left_out, report.aborts) == (1, ((INCONCLUSIVE, 1),), 0)
    assert report.at(0).es == pytest.approx(2.0)  # type: ignore[union-attr]
    (report,) = score_reports(found, aborts_fail=True)
    assert (report.samples, report.left_out, report.aborts) == (2, (), 1)
    # a runtime failure: b below t = 3, tolerated from there on
    for t, counted in ((0, 0.1), (2, 0.1), (3, 1.0)):
        assert report.at(t).es == pytest.approx((2.0 * counted) ** 0.5)  # type: ignore[union-attr]


def test_an_abort_that_was_run_again_is_no_failure_in_whichever_order() -> None:
    steady, aborted = by_passnet(0, Verdict.FASTER), by_passnet(0, Verdict.INCONCLUSIVE)
    for later in (steady, aborted):
        newest = replace(later, finished_at="2027-01-01T00:00:00+00:00")
        (report,) = score_reports([steady, aborted, newest], aborts_fail=True)
        assert (report.samples, report.aborts) == (1, 0)
        assert report.at(0).es == pytest.approx(2.0)  # type: ignore[union-attr]


def test_an_inconclusive_outcome_of_the_strict_profile_never_counts() -> None:
    (report,) = score_reports([timed(0, 2.0), outcome(job(1), Verdict.INCONCLUSIVE)], aborts_fail=True)
    assert (report.samples, report.left_out, report.aborts) == (1, ((INCONCLUSIVE, 1),), 0)


def test_each_profile_has_a_report_of_its_own() -> None:
    lighter = replace(MEASURE, profile=Profile.PASSNET)
    reports = score_reports([outcome(job(0, spec=lighter), Verdict.FASTER, speedup=4.0), failed(0, Verdict.CHEAT)])
    assert {each.profile: each.at(0).es for each in reports} == {  # type: ignore[union-attr]
        Profile.PASSNET: pytest.approx(4.0),
        Profile.STRICT: pytest.approx(0.1),
    }
    assert [report_to_json(each)["profile"] for each in reports] == ["passnet", "strict"]


def test_each_clock_version_has_a_report_of_its_own() -> None:
    older, newer = of_clock(1, timed(0, 4.0)), timed(0, 2.0)
    lost = outcome(job(1), Verdict.INFRASTRUCTURE)
    reports = score_reports([older, newer, lost])
    assert {each.clock_version: each.at(0).es for each in reports} == {  # type: ignore[union-attr]
        1: pytest.approx(4.0),
        CLOCK_VERSION: pytest.approx(2.0),
    }
    assert sorted(report_to_json(each)["clock_version"] for each in reports) == [1, CLOCK_VERSION]


def test_each_baseline_has_a_report_of_its_own_and_passes_have_one_for_both() -> None:
    rounding = replace(MEASURE, baseline=Baseline.EAGER_ROUNDING)
    judged = [
        outcome(job(number, bundle=bundle, spec=spec), Verdict.FASTER, speedup=speedup)
        for number, bundle, spec, speedup in (
            (0, None, MEASURE, 2.0), (0, None, rounding, 4.0), (0, BUNDLE, MEASURE, 3.0), (1, BUNDLE, rounding, 3.0),
        )
    ]  # fmt: skip
    entries = list(read_entries(map(published_line, judged)))
    for reports in (score_reports(judged), score_reports(entries)):
        assert {(each.baseline, each.samples): each.at(0).es for each in reports} == {  # type: ignore[union-attr]
            (Baseline.INDUCTOR, 1): pytest.approx(2.0),
            (Baseline.EAGER_ROUNDING, 1): pytest.approx(4.0),
            (None, 2): pytest.approx(3.0),
        }


def test_a_line_written_before_clock_versions_is_of_the_first() -> None:
    data = published(timed(0, 4.0))
    del data["environment"]["clock_version"]
    (entry,) = read_entries([json.dumps(data)])
    assert entry.clock_version == 1


def test_a_line_written_before_profiles_had_names_is_read() -> None:
    made = outcome(job(0, spec=replace(MEASURE, profile=Profile.PASSNET)), Verdict.FASTER)
    data = published(made)
    assert (data["profile"], data["inputs"]) == ("passnet", "recorded")
    del data["profile"]
    assert list(read_entries([json.dumps(data)])) == [entry_of(made)]


def test_without_samples_there_is_a_report_but_no_score() -> None:
    (report,) = score_reports([outcome(job(0), Verdict.INFRASTRUCTURE)])
    assert report.aggregate is None
    assert report.levels == ()
    assert report.device == "unknown device"
    with pytest.raises(EmptyScore):
        score_report([])


def test_of_several_outcomes_for_a_subgraph_the_newest_counts() -> None:
    old, new = timed(0, 2.0), timed(0, 4.0, finished_at="2027-01-01T00:00:00+00:00")
    for order in ([old, new], [new, old]):
        (report,) = score_reports(order)
        assert report.samples == 1
        assert report.at(0).es == pytest.approx(4.0)  # type: ignore[union-attr]


def test_a_measured_outcome_is_not_pushed_out_by_a_newer_one_without_a_figure() -> None:
    later = replace(outcome(job(0), Verdict.INFRASTRUCTURE), finished_at="2027-01-01T00:00:00+00:00")
    (report,) = score_reports([timed(0, 2.0), later])
    assert report.samples == 1


def test_solvers_devices_and_captures_are_reported_apart() -> None:
    compiled = replace(MEASURE, capture=Capture.COMPILED)
    elsewhere = replace(timed(0, 1.0).environment, device="other device")  # type: ignore[type-var]
    reports = score_reports(
        [
            timed(0, 2.0),
            outcome(job(0, bundle=None), Verdict.SLOWER, speedup=0.8),
            outcome(job(0, spec=compiled), Verdict.FASTER),
            timed(0, 2.0, environment=elsewhere),
        ]
    )
    assert {(each.solver, each.capture, each.device) for each in reports} == {
        (SolverKind.PASSES, Capture.DIRECT, "fake device"),
        (SolverKind.INDUCTOR, Capture.DIRECT, "fake device"),
        (SolverKind.PASSES, Capture.COMPILED, "fake device"),
        (SolverKind.PASSES, Capture.DIRECT, "other device"),
    }


def test_contributions_are_worst_first_and_say_what_a_repair_would_gain() -> None:
    entries = [entry_of(each) for each in (timed(0, 2.0), failed(1), timed(2, 0.5))]
    found = contributions(entries, 0)
    assert [(each.subgraph_id, each.factor) for each in found] == [
        ("float32/1", pytest.approx(0.1)),
        ("float32/2", pytest.approx(0.5)),
        ("float32/0", pytest.approx(2.0)),
    ]
    assert [each.if_fixed for each in found] == [
        pytest.approx((2.0 * 1.0 * 0.5) ** (1 / 3)),
        pytest.approx((2.0 * 0.1 * 1.0) ** (1 / 3)),
        pytest.approx((2.0 * 0.1 * 0.5) ** (1 / 3)),
    ]
    assert contributions([], 0) == ()
    assert [each.multiplies for each in found] == [
        pytest.approx(0.1 ** (1 / 3)),
        pytest.approx(0.5 ** (1 / 3)),
        pytest.approx(2.0 ** (1 / 3)),
    ]
    assert [each.correct for each in found] == [False, True, True]
    assert [each.mended for each in found] == ["if within t: 1.0000", "if within t: 0.5848", "no gain"]


@pytest.mark.parametrize(
    ("made", "t", "said"),
    [
        (timed(0, 2.0), -5, "right, faster, counts as 2"),
        (timed(0, 2.0), -6, "right, faster, but not within this t, counts as 0.1"),
        (failed(0), 2, "crashed, counts as 0.1"),
        (failed(0), 3, "crashed, tolerated at this t, counts as 1"),
        (failed(0, Verdict.CHEAT), 4, "cheat, counts as 0.1"),
    ],
)
def test_what_a_subgraph_counts_as_is_said_in_words(made: Outcome, t: int, said: str) -> None:
    assert [each.counted for each in contributions([entry_of(made)], t)] == [said]


def test_what_the_others_count_as_is_said_in_one_sentence() -> None:
    lines = contributions([entry_of(each) for each in (timed(0, 2.0), timed(1, 8.0), failed(2))], 0)
    assert others_said(lines[1:]) == "The other 2 count as 2 to 8, with a geometric mean of 4."
    assert others_said(lines[2:]) == "The other one counts as 8."
    assert others_said(()) == ""


def test_the_intervals_of_a_curve_are_those_of_its_levels_alone() -> None:
    outcomes = [timed(number, 1 + number / 7) for number in range(40)] + [failed(40 + number) for number in range(8)]
    (report,) = score_reports(outcomes)
    samples = [entry_of(each).sample for each in outcomes]
    for level in report.levels:
        alone = score_interval([each for each in reversed(samples) if each], level.t)
        assert (level.low, level.high) == pytest.approx((alone.low, alone.high))
        assert level.low < level.es < level.high or level.t < -5


ONE_OF_EACH = [
    outcome(job(0, spec=spec, bundle=bundle), verdict)
    for verdict in Verdict
    for spec in (MEASURE, replace(MEASURE, device=Device.CPU), replace(MEASURE, stage=Stage.VERIFY))
    for bundle in (job().bundle, None)
    if bundle is not None or verdict not in (Verdict.NO_MATCH, Verdict.MATCHED)
]


def test_the_documented_form_is_read_back_as_what_was_written() -> None:
    lines = [published_line(each) for each in ONE_OF_EACH]
    assert list(read_entries(lines)) == [entry_of(each) for each in ONE_OF_EACH]


def test_an_exported_run_is_read_as_well() -> None:
    made = timed(0, 2.0)
    run = Run("r", "", "", made.solver, made.bundle_digest, made.spec, ("relu",), (made.job_digest,))
    rows: list[dict[str, object]] = [{"run": to_json(run)}, {"bundle": {}}, {"outcome": to_json(made)}]
    lines = [json.dumps(each) for each in rows]
    assert list(read_entries([*lines, "\n"])) == [entry_of(made)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "Line 1 cannot be scored"),
        ("[]", "it must be a JSON object"),
        ("{}", "it is not an outcome of this project"),
        ('{"verdict": "right, faster"}', "it lacks the field 'stage'"),
        ('{"verdict": "splendid"}', "'splendid' is not a valid Verdict"),
        ('{"outcome": {}}', "lacks the field"),
    ],
)
def test_a_line_that_is_not_an_outcome_is_named(line: str, said: str) -> None:
    with pytest.raises(BadInput, match="Line 1") as error:
        list(read_entries([line]))
    assert said in str(error.value)


def test_the_documented_form_is_json_whatever_the_figures() -> None:
    text = published_line(timed(0, 2.0))
    data = json.loads(text, parse_constant=pytest.fail)
    assert data == published(timed(0, 2.0))
    assert text.count("\n") == 1
    assert data["outputs"][0]["mean_error"] == "inf"


def test_a_report_as_json_uses_the_names_of_the_tables() -> None:
    (report,) = score_reports([timed(0, 2.0)])
    data = report_to_json(report)
    assert data["samples"] == 1
    assert data["aggregate_score"] == report.aggregate
    assert set(data["levels"][0]) == {"t", "alpha", "beta", "lambda", "eta", "s", "gamma", "es", "low", "high"}
    json.dumps(data, allow_nan=False)


def test_every_clock_and_every_profile_can_be_published() -> None:
    assert CLOCKS.keys() == set(Clock)
    assert INPUTS.keys() == set(Profile)
