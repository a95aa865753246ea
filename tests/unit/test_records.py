"""Records cross processes and files as JSON: nothing may be lost, and nothing impossible may be built."""

import itertools
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passnet_core.errors import BadInput
from passnet_core.records import (
    ACCEPTED,
    BASIC_CLASSES,
    ERROR_CLASS,
    LEVELS,
    RIGHT,
    TIMED,
    UNDECIDED,
    WRONG,
    Accuracy,
    Baseline,
    Bundle,
    Clock,
    Contender,
    Environment,
    EvalSpec,
    Evidence,
    Finding,
    Isolation,
    Job,
    MatchReport,
    MissKind,
    NearestMiss,
    Outcome,
    OutputAccuracy,
    PassFile,
    PassMatches,
    Profile,
    Run,
    SolverKind,
    Speedup,
    Stage,
    Subgraph,
    TensorSpec,
    Timing,
    Verdict,
    digest_of,
    from_json,
    to_json,
    whole,
)
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile

HERE = Environment(
    device="cpu",
    driver="",
    python="3.11",
    torch="2.13",
    triton="3.7",
    isolation=Isolation.SANDBOXED,
    judge_digest="1",
)
EXACT = OutputAccuracy(
    output=0,
    shape=(2, 3),
    dtype="float32",
    smallest_t=-10,
    correct_at=LEVELS,
    max_error=0.0,
    mean_error=0.0,
    index=(0, 1),
)
MATCHES = MatchReport((PassMatches("a.py", (("tmp_0", "tmp_1"),)),), rewritten="code")
NOTHING = MatchReport((PassMatches("a.py", (), NearestMiss(MissKind.OPERATOR, "relu", "tmp_1", "it is gelu")),))


def outcome(verdict: Verdict, **fields: object) -> Outcome:
    base = Outcome(
        job_digest="job",
        task_id="task",
        subgraph_id="float32/1/a",
        subgraph_digest="sub",
        dtype="float32",
        solver=SolverKind.PASSES,
        bundle_digest="bundle",
        spec=EvalSpec(),
        verdict=Verdict.INFRASTRUCTURE,
        reason="because",
        environment=HERE,
        wall_s=1.0,
        finished_at="2026-11-22T00:00:00Z",
    )
    return replace(base, verdict=verdict, **fields)  # type: ignore[arg-type]


def full_outcome() -> Outcome:
    return outcome(
        Verdict.FASTER,
        match=MATCHES,
        accuracy=Accuracy((EXACT,), ("recorded",)),
        timings=(Timing(Contender.EAGER, Clock.EVENT, (1.5, 2.5), 2, 2.0),),
        speedups=(Speedup(Contender.PASSES, Clock.END_TO_END, 1.5, 1.4, 1.6),),
        warnings=("small",),
        evidence=(Evidence("kernels", "one"),),
        log_tail="\x00 odd \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    )


def test_an_outcome_survives_its_json() -> None:
    given_outcome = full_outcome()
    text = json.dumps(to_json(given_outcome), allow_nan=False)
    assert from_json(Outcome, json.loads(text)) == given_outcome


def test_an_environment_from_before_clock_versions_is_of_the_first_and_keeps_its_digest() -> None:
    data = to_json(HERE)
    assert data.pop("clock_version") == 1
    older = from_json(Environment, data)
    assert older == HERE
    assert older.digest == digest_of(data)
    assert replace(older, clock_version=2).digest != older.digest


def test_jobs_that_differ_in_the_baseline_are_different_jobs_and_older_ones_keep_their_digest() -> None:
    data = to_json(EvalSpec())
    assert data.pop("baseline") == "inductor"
    assert from_json(EvalSpec, data) == EvalSpec()
    subgraph = Subgraph("float32/1/a", "task", "model", "code", ())
    by_default = Job(subgraph, None, EvalSpec())
    older = digest_of({"subgraph": subgraph.digest, "bundle": None, "spec": whole(data)})
    assert by_default.digest == older
    assert Job(subgraph, None, EvalSpec(baseline=Baseline.EAGER_ROUNDING)).digest != older


def test_every_verdict_has_an_error_class_or_none() -> None:
    assert set(ERROR_CLASS) == set(Verdict)
    assert all(ERROR_CLASS[verdict] is None for verdict in ACCEPTED)
    assert all(ERROR_CLASS[verdict] is not None for verdict in set(Verdict) - ACCEPTED - UNDECIDED if verdict.judged)


@pytest.mark.parametrize(
    ("verdict", "fields"),
    [
        (Verdict.REJECTED, {}),
        (Verdict.NO_MATCH, {}),
        (Verdict.NO_MATCH, {"match": MATCHES}),
        (Verdict.MATCHED, {"match": NOTHING}),
        (Verdict.WRONG_VALUES, {"match": MATCHES}),
        (Verdict.VALUES_ONLY, {"accuracy": Accuracy((EXACT,), ("recorded",))}),
        (Verdict.FASTER, {"match": MATCHES, "accuracy": Accuracy((EXACT,), ("recorded",))}),
        (Verdict.CRASHED, {"speedups": (Speedup(Contender.PASSES, Clock.EVENT, 2.0, 1.0, 3.0),)}),
        (Verdict.CRASHED, {"environment": None}),
        (Verdict.CRASHED, {"reason": ""}),
        (Verdict.CRASHED, {"bundle_digest": None}),
    ],
)
def test_an_impossible_outcome_cannot_be_built(verdict: Verdict, fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="Impossible outcome"):
        outcome(verdict, **fields)


def test_each_verdict_is_in_exactly_one_basic_class() -> None:
    assert sorted(itertools.chain(*BASIC_CLASSES)) == sorted(Verdict)


def test_verdict_groups_do_not_overlap() -> None:
    assert TIMED < RIGHT < ACCEPTED
    assert not WRONG & ACCEPTED
    assert Verdict.INCONCLUSIVE in RIGHT - TIMED
    assert Verdict.LOWER_PRECISION in WRONG
    assert not {Verdict.CHEAT, Verdict.LIBRARY} & (WRONG | ACCEPTED)


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.CHEAT, Verdict.LIBRARY, Verdict.LOWER_PRECISION])
def test_what_is_not_ranked_has_no_speedup(verdict: Verdict) -> None:
    close = {"match": MATCHES, "accuracy": Accuracy((EXACT,), ("recorded",))}
    assert not outcome(verdict, **close).speedups
    with pytest.raises(ValueError, match="speedups belong to timed verdicts"):
        outcome(verdict, **close, speedups=(Speedup(Contender.PASSES, Clock.END_TO_END, 1.5, 1.4, 1.6),))


def test_a_rejection_carries_its_finding() -> None:
    finding = Finding("a.py", 3, 1, "syntax", "does not parse", "close the bracket")
    assert outcome(Verdict.REJECTED, findings=(finding,)).findings == (finding,)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "lacks the field 'name'"),
        ({"name": "x", "shape": [1], "dtype": "float32", "extra": 1}, "unknown field 'extra'"),
        ({"name": "x", "shape": 3, "dtype": "float32"}, "shape must be a list, not 3."),
        ({"name": "x", "shape": None, "dtype": "float32"}, "shape must be a list, not null."),
        ({"name": "x", "shape": [1.5], "dtype": "float32"}, "must be a whole number, not 1.5."),
        ({"name": "x", "shape": [True], "dtype": "float32"}, "must be a whole number, not true."),
        ({"name": "x", "shape": [1, "2"], "dtype": "float32"}, 'TensorSpec.shape[1] must be a whole number, not "2"'),
        ({"name": "x", "shape": [1], "dtype": 7}, "must be text, not 7."),
        ({"name": "x", "shape": [1], "dtype": "float32", "mean": "much"}, "must be a number"),
        ({"name": "x", "shape": [1], "dtype": "float32", "mean": 10**400}, "too large"),
        ([], "must be an object, not a list."),
    ],
)
def test_json_that_does_not_fit_is_refused_with_the_field(data: object, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        from_json(TensorSpec, data)


def test_the_texts_of_a_record_are_valid_unicode() -> None:
    data = json.loads(r'{"name": "a\ud800b", "code": "\ud83d\ude00"}')
    assert from_json(PassFile, data) == PassFile("a\ufffdb", "\U0001f600")
    halves = {"name": "".join(map(chr, (0xD83D, 0xDE00))), "code": ""}
    assert from_json(PassFile, halves).name == "\U0001f600"


def test_a_profile_by_its_older_name_is_read() -> None:
    spec = from_json(EvalSpec, {"profile": "recorded"})
    assert spec.profile is Profile("recorded") is Profile.PASSNET
    assert to_json(spec)["profile"] == "passnet"
    run = Run("r", "", "", SolverKind.INDUCTOR, None, spec, ("task",), ("job",))
    judged = outcome(Verdict.CRASHED, solver=SolverKind.INDUCTOR, bundle_digest=None, job_digest="job", spec=spec)
    lines = exchange.written(RunFile(run, (), (judged,))).replace('"profile":"passnet"', '"profile":"recorded"')
    (read,) = exchange.read(lines.splitlines())
    assert read == RunFile(run, (), (judged,))
    with pytest.raises(BadInput, match="passnet, strict"):
        from_json(EvalSpec, {"profile": "lenient"})


def test_an_unknown_enum_value_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match="verify"):
        from_json(EvalSpec, {"stage": "guess"})


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_every_float_survives(value: float) -> None:
    spec = TensorSpec("x", (1,), "float32", mean=value)
    back = from_json(TensorSpec, json.loads(json.dumps(to_json(spec), allow_nan=False)))
    assert repr(back.mean) == repr(value)


def test_the_bundle_digest_covers_code_and_order_but_not_the_author() -> None:
    a, b = PassFile("a.py", "1"), PassFile("b.py", "2")
    assert Bundle((a, b)).digest == Bundle((a, b), author="somebody").digest
    assert Bundle((a, b)).digest != Bundle((b, a)).digest
    assert Bundle((a,), (b,)).digest != Bundle((a, b)).digest
    assert Bundle((a,)).digest != Bundle((replace(a, code="3"),)).digest


def test_the_job_digest_changes_with_what_is_judged_and_how() -> None:
    subgraph = Subgraph("float32/1/a", "task", "model", "code", (TensorSpec("in_0", (2,), "float16"),))
    job = Job(subgraph, Bundle((PassFile("a.py", "1"),)), EvalSpec())
    assert job.digest == replace(job, subgraph=replace(subgraph, source_model="another")).digest
    assert job.digest != replace(job, spec=EvalSpec(stage=Stage.MEASURE)).digest
    assert job.digest != replace(job, bundle=None).digest
    assert job.digest != replace(job, subgraph=replace(subgraph, code="other")).digest


def test_the_dtype_of_a_subgraph_is_that_of_most_of_its_floating_elements() -> None:
    inputs = (
        TensorSpec("in_0", (100,), "int64"),
        TensorSpec("in_1", (3,), "float32"),
        TensorSpec("in_2", (50,), "bfloat16"),
    )
    assert Subgraph("s", "t", "m", "c", inputs).dtype == "bfloat16"


def test_the_level_of_all_outputs_is_that_of_the_worst() -> None:
    worse = replace(EXACT, output=1, smallest_t=-3, correct_at=tuple(t for t in LEVELS if t >= -3))
    both = Accuracy((EXACT, worse), ("recorded",))
    assert both.smallest_t == -3
    assert not both.correct_at(-4)
    assert both.correct_at(-3)
    assert Accuracy((EXACT, replace(worse, smallest_t=None)), ("recorded",)).smallest_t is None


@pytest.mark.parametrize("fields", [{"trials": 0}, {"deadline_s": 0.0}, {"deadline_s": float("nan")}])
def test_a_spec_that_cannot_be_run_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        EvalSpec(**fields)  # type: ignore[arg-type]


def test_digests_do_not_depend_on_the_order_of_keys() -> None:
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1})


def test_a_whole_number_has_one_digest_however_it_was_written() -> None:
    inputs = (TensorSpec("in_0", (2,), "float16", mean=0, std=1.5),)
    job = Job(Subgraph("float32/1/a", "task", "model", "code", inputs), None, EvalSpec(deadline_s=240))
    back = from_json(Job, json.loads(json.dumps(to_json(job))))
    assert repr(back.spec.deadline_s) != repr(job.spec.deadline_s)
    assert (back.digest, back.subgraph.digest) == (job.digest, job.subgraph.digest)
