"""The store's rows for scores: speedups with their intervals, and the revision that says whether anything changed."""

from pathlib import Path

import pytest

from passnet_core.records import Verdict
from passnet_core.store.opening import open_store
from passnet_core.store.rows import name_of
from tests.contract.made import BUNDLE, job, outcome, run_of


def test_a_score_row_has_the_interval_of_its_end_to_end_speedup(tmp_path: Path) -> None:
    jobs = [job(0), job(1)]
    made = [outcome(jobs[0], Verdict.FASTER, speedup=2.0), outcome(jobs[1], Verdict.CRASHED)]
    store = open_store(tmp_path)
    store.add_bundle(BUNDLE)
    store.start_run(run_of(*jobs), tuple(map(name_of, jobs)), "1:2", "")
    for place, each in enumerate(made):
        store.append("run-1", place, each)
    timed, crashed = store.score_rows(None)
    speedup = made[0].speedup()
    assert speedup is not None
    assert (timed.speedup, timed.low, timed.high) == pytest.approx((speedup.value, speedup.low, speedup.high))
    assert (crashed.speedup, crashed.low, crashed.high) == (None, None, None)
    store.close()


def test_the_stores_revision_changes_with_runs_and_outcomes_only(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    seen = [store.revision()]
    store.add_bundle(BUNDLE)
    store.start_run(run_of(job()), (name_of(job()),), "1:2", "")
    seen.append(store.revision())
    store.append("run-1", 0, outcome(job()))
    seen.append(store.revision())
    assert len(set(seen)) == 3
    store.save_draft("me", "relu", "mine", BUNDLE, None)
    assert store.revision() == seen[-1]
    store.close()
