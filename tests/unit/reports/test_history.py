"""What is said of a run in the history: what differs from the run before it, whose it is, and its worst outcome."""

from dataclasses import replace

import pytest

from passnet_core.execution.jobs import new_run
from passnet_core.records import Baseline, Bundle, Capture, EvalSpec, Job, PassFile, Profile, Run, Stage, Verdict
from passnet_core.reports.authors import author_of, origin_words
from passnet_core.reports.gravity import GRAVEST_FIRST, summary_words, worst_first
from passnet_core.reports.history import label_of
from passnet_core.store.rows import EarlierRun, RunSummary
from tests.example_playground import REFERENCE, TIMED, outcome, task

FUSE = Bundle((PassFile("fuse.py", "a\nb\nc\n"),))
BUNDLES = {
    each.digest: each
    for each in (
        FUSE,
        Bundle((PassFile("fuse.py", "a\nx\ny\nz\nc\n"),)),
        Bundle((PassFile("fuse.py", "a\nb\nc\n"), PassFile("norm.py", "n\n"))),
        Bundle((PassFile("norm.py", "n\n"), PassFile("fuse.py", "a\nb\nc\n"))),
        Bundle(tuple(PassFile(f"{name}.py", "") for name in "wxyz")),
    )
}
CHANGED, LONGER, TURNED, FOUR = list(BUNDLES.values())[1:]


def run(bundle: Bundle | None = FUSE, spec: EvalSpec = TIMED, subgraphs: int = 1) -> Run:
    return new_run(tuple(Job(each, bundle, spec) for each in task().subgraphs[:subgraphs]), label="mine")


def label(now: Run, then: Run | None, *, devices: tuple[str, str] = ("GPU", "GPU"), same: bool = True) -> str:
    before = EarlierRun(then, devices[1], same) if then else None
    return label_of(RunSummary(now, (), 0, len(now.job_digests), devices[0], None, "me", before), BUNDLES.get)


@pytest.mark.parametrize(
    ("now", "then", "words"),
    [
        (run(), None, "first run"),
        (run(), run(), "same code"),
        (run(None), run(None), "the same again"),
        (run(CHANGED), run(), "passes changed: fuse.py +3 −1"),
        (run(LONGER), run(), "passes changed: norm.py added"),
        (run(TURNED), run(LONGER), "order of the passes changed"),
        (run(FOUR), run(), "passes changed: w.py added, x.py added, 3 more files"),
        (run(REFERENCE), run(), "passes changed"),
        (run(None), run(), "TorchInductor instead of passes"),
        (run(subgraphs=2), run(), "2 subgraphs instead of 1"),
        (run(), run(spec=replace(TIMED, capture=Capture.COMPILED)), "other capture: direct"),
        (run(), run(spec=replace(TIMED, stage=Stage.CHECK)), "other stage: measure"),
        (run(spec=replace(TIMED, seed=7, profile=Profile.PASSNET)), run(), "other rules: passnet; other seed"),
        (
            run(None, replace(TIMED, baseline=Baseline.EAGER_ROUNDING)),
            run(None),
            "other baseline: TorchInductor with eager's rounding",
        ),
        (run(CHANGED, subgraphs=2), run(), "passes changed: fuse.py +3 −1; 2 subgraphs instead of 1"),
    ],
)
def test_a_run_is_labelled_by_what_differs_from_the_one_before(now: Run, then: Run | None, words: str) -> None:
    assert label(now, then) == words


def test_a_label_tells_other_devices_and_subgraphs() -> None:
    assert label(run(), run(), devices=("GPU", "other")) == "other device"
    assert label(run(), run(), devices=("", "GPU")) == "same code", "no judge answered yet"
    assert label(run(), run(), same=False) == "other subgraph"
    assert label(replace(run(), recorded="GPU, 2026-02-03"), None) == "recorded"
    assert label(replace(run(), recorded="GPU, 2026-02-03, imported"), None) == "imported"


def test_a_run_of_ones_own_is_yours_and_that_of_others_is_not() -> None:
    mine, edited = run(), replace(run(), label="fused-norm, edited")
    assert [author_of(mine, FUSE, own=own) for own in (True, False)] == ["you", "a visitor"]
    assert author_of(edited, REFERENCE, own=True) == "you, from fused-norm"
    assert author_of(replace(mine, label="a model"), replace(FUSE, author="a model"), own=True) == "a model"
    assert author_of(replace(mine, label=""), None) == ""
    assert author_of(run(None), None, own=True) == ""
    assert origin_words(mine) == ""


def test_every_verdict_has_a_place_among_the_worst_and_accepted_ones_come_last() -> None:
    assert sorted(GRAVEST_FIRST) == sorted(Verdict)
    accepted = [each.accepted for each in GRAVEST_FIRST]
    assert accepted == sorted(accepted)


def test_the_worst_outcome_has_the_gravest_verdict_and_then_the_smallest_speedup() -> None:
    job = Job(task().subgraphs[0], REFERENCE, TIMED)
    fast, slow = (outcome(job, Verdict.FASTER, speedup=speedup) for speedup in (1.5, 1.1))
    wrong = replace(outcome(job, Verdict.WRONG_VALUES), subgraph_id="float16/3/x")
    assert worst_first([fast, slow, wrong]) == (wrong, slow, fast)
    assert summary_words([fast, wrong], 2) == "1 of 2 accepted; worst: float16/3/x: wrong values"
    assert summary_words([fast, slow], 3) == "2 of 3 accepted; worst: float32/48/toy: right, faster, 1.10×"
    assert summary_words([], 3) == "0 of 3 accepted"
