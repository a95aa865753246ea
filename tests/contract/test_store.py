"""The store keeps outcomes through crashes, serves several processes, and exchanges runs as files."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.errors import BadInput, StoreError, StoreRefusal
from passnet_core.records import (
    CLOCK_VERSION,
    Baseline,
    Bundle,
    Capture,
    Clock,
    Contender,
    Job,
    Outcome,
    PassFile,
    Profile,
    SolverKind,
    Stage,
    Verdict,
    to_json,
)
from passnet_core.store import exchange, owner
from passnet_core.store.base import Store
from passnet_core.store.opening import FILE, SOCKET, open_store
from passnet_core.store.remote import RemoteStore
from passnet_core.store.rows import Certificate, PassedLesson, RunFile, RunNote, RunQuery, name_of
from tests.contract.made import BUNDLE, MEASURE, job, of_clock, outcome, run_of
from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]
ALL_KINDS = [verdict for verdict in Verdict if verdict is not Verdict.MATCHED]


def started(home: Path, *jobs: Job, run_id: str = "run-1", verdicts: tuple[Verdict, ...] = ()) -> Store:
    store = open_store(home)
    store.add_bundle(BUNDLE)
    store.start_run(run_of(*jobs, run_id=run_id), tuple(map(name_of, jobs)), "1:2", "")
    for place, (each, verdict) in enumerate(zip(jobs, verdicts)):
        store.append(run_id, place, outcome(each, verdict))
    return store


def python(code: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=PROJECT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,  # type: ignore[call-overload]
    )  # fmt: skip


def test_a_reopened_store_has_complete_outcomes_runs_and_bundles(tmp_path: Path) -> None:
    jobs = [job(number) for number in range(len(ALL_KINDS))]
    store = started(tmp_path, *jobs, verdicts=tuple(ALL_KINDS))
    store.close()
    store = open_store(tmp_path)
    kept = store.outcomes("run-1")
    assert [each.verdict for each in kept] == ALL_KINDS
    # as text, because NaN does not equal itself
    assert list(map(repr, kept)) == [repr(outcome(each, verdict)) for each, verdict in zip(jobs, ALL_KINDS)]
    assert store.run("run-1") == run_of(*jobs)
    assert store.bundle(BUNDLE.digest) == BUNDLE
    assert store.run("run-2") is None
    assert store.bundle("none") is None
    store.close()


def test_summaries_of_runs_count_verdicts_and_can_be_filtered(tmp_path: Path) -> None:
    verdicts = (Verdict.FASTER, Verdict.SLOWER, Verdict.FASTER, Verdict.CRASHED)
    store = started(tmp_path, *[job(number) for number in range(5)], verdicts=verdicts)
    baseline = job(0, task_id="other", bundle=None)
    store.start_run(run_of(baseline, run_id="run-2"), (name_of(baseline),), "1:2", "me")
    newest, oldest = store.runs(RunQuery(10))
    assert (newest.run.id, newest.counts, newest.total, newest.median_speedup) == ("run-2", (), 1, None)
    assert dict(oldest.counts) == {Verdict.FASTER: 2, Verdict.SLOWER: 1, Verdict.CRASHED: 1}
    assert (oldest.accepted, oldest.done, oldest.total, oldest.device) == (3, 4, 5, "fake device")
    assert oldest.median_speedup == 1.5
    assert [each.run.id for each in store.runs(RunQuery(10, task_id="relu"))] == ["run-1"]
    assert [each.run.id for each in store.runs(RunQuery(10, solver=SolverKind.INDUCTOR))] == ["run-2"]
    assert [each.run.id for each in store.runs(RunQuery(10, visitor="me"))] == ["run-2"]
    assert [each.run.id for each in store.runs(RunQuery(10, verdicts=(Verdict.CRASHED, Verdict.CHEAT)))] == ["run-1"]
    assert [newest.visitor, oldest.visitor] == ["me", ""]
    assert len(store.runs(RunQuery(1))) == 1
    store.close()


def test_a_run_comes_with_the_one_before_it_of_the_same_visitor_and_tasks(tmp_path: Path) -> None:
    store = started(tmp_path, job(), verdicts=(Verdict.FASTER,))
    checked = replace(MEASURE, stage=Stage.CHECK)
    for number, (visitor, each) in enumerate(
        [("me", job()), ("you", job()), ("me", job(spec=checked)), ("me", job(task_id="other")), ("me", job(1))], 2
    ):
        run_id = f"run-{number}"
        store.start_run(run_of(each, run_id=run_id), (name_of(each),), "1:2", visitor)
        store.append(run_id, 0, outcome(each, Verdict.FASTER))

    def before(checks: bool) -> dict[str, tuple[str, bool] | None]:
        return {
            each.run.id: (each.before.run.id, each.before.same_subgraphs) if each.before else None
            for each in store.runs(RunQuery(9, checks=checks))
        }

    alone = dict.fromkeys(["run-1", "run-2", "run-3", "run-5"])
    assert before(False) == alone | {"run-6": ("run-2", False)}
    assert before(True) == alone | {"run-4": ("run-2", True), "run-6": ("run-4", False)}
    newest = store.runs(RunQuery(1))[0]
    assert newest.before is not None
    assert newest.before.device == "fake device"
    file = RunFile(replace(run_of(job(), run_id="run-7"), recorded="elsewhere"), (BUNDLE,), (outcome(job()),))
    store.import_runs("", (file,))
    assert before(True)["run-7"] is None
    store.close()


def test_notes_and_stars_are_a_visitors_own_and_older_stores_get_them(tmp_path: Path) -> None:
    started(tmp_path, job(), verdicts=(Verdict.FASTER,)).close()
    import duckdb

    with duckdb.connect(str(tmp_path / FILE)) as connection:
        connection.execute("DELETE FROM migrations WHERE name = '0008_notes.sql'")
        connection.execute("DROP TABLE run_notes")
    store = open_store(tmp_path)
    store.note_run("me", "run-1", "first")
    store.star_run("me", "run-1", True)
    store.note_run("me", "run-1", "second")
    store.note_run("me", "run-2", "")
    store.star_run("you", "run-2", True)
    other = open_store(tmp_path)
    assert other.run_notes("me", None) == (RunNote("run-1", "second", True),)
    assert other.run_notes("me", "run-2") == ()
    assert [each.run.id for each in other.runs(RunQuery(9, starred_by="me"))] == ["run-1"]
    assert other.runs(RunQuery(9, starred_by="you")) == ()
    store.star_run("me", "run-1", False)
    assert other.run_notes("me", "run-1") == (RunNote("run-1", "second"),)
    other.close()
    store.close()


def test_a_certificate_is_found_by_the_id_that_its_content_gives(tmp_path: Path) -> None:
    passed = PassedLesson(
        "one", "One", "run-1", "a digest", (Verdict.VALUES_ONLY,), "a judge", "2026-02-03T04:05:06+00:00"
    )
    certificate = Certificate("Ada", (passed,))
    store = open_store(tmp_path)
    other = open_store(tmp_path)
    other.add_certificate(certificate)
    other.add_certificate(certificate)
    assert store.certificate(certificate.id) == other.certificate(certificate.id) == certificate
    assert other.certificate(Certificate("Bob", (passed,)).id) is None
    other.close()
    store.close()


def test_the_first_outcome_of_a_job_is_never_replaced(tmp_path: Path) -> None:
    store = started(tmp_path, job(), verdicts=(Verdict.FASTER,))
    store.append("run-1", 0, outcome(job(), Verdict.CRASHED))
    assert [each.verdict for each in store.outcomes("run-1")] == [Verdict.FASTER]
    store.close()


def test_a_known_answer_was_judged_here_in_the_same_environment(tmp_path: Path) -> None:
    store = started(tmp_path, job(), job(1), verdicts=(Verdict.FASTER, Verdict.INFRASTRUCTURE))
    environment = outcome(job()).environment
    assert environment is not None
    known = store.known(job().digest, environment.digest)
    assert known is not None
    assert known.verdict is Verdict.FASTER
    assert store.known(job(1).digest, environment.digest) is None
    assert store.known(job().digest, "another environment") is None
    elsewhere = RunFile(replace(run_of(job(2), run_id="run-2"), recorded="elsewhere"), (BUNDLE,), (outcome(job(2)),))
    store.import_runs("", (elsewhere,))
    assert store.known(job(2).digest, environment.digest) is None
    store.close()


LIGHTER = replace(MEASURE, profile=Profile.PASSNET)


def test_scores_and_standings_keep_profiles_apart(tmp_path: Path) -> None:
    store = started(tmp_path, job(), verdicts=(Verdict.SLOWER,))
    store.start_run(run_of(job(spec=LIGHTER), run_id="run-2"), (name_of(job()),), "1:2", "")
    store.append("run-2", 0, outcome(job(spec=LIGHTER), Verdict.FASTER, speedup=8.0))
    assert {each.profile: each.speedup for each in store.score_rows(None)} == {
        Profile.STRICT: 1.5,
        Profile.PASSNET: 8.0,
    }
    (standing,) = store.standings()
    assert (standing.best_speedup, standing.best_run_id) == (1.5, "run-1"), "the strict speedup comes first"
    store.close()


def test_scores_and_standings_keep_times_of_different_clock_versions_apart(tmp_path: Path) -> None:
    asked = job(bundle=None)
    store = started(tmp_path, job(), asked, verdicts=(Verdict.FASTER, Verdict.FASTER))
    store.start_run(run_of(job(), run_id="run-2"), (name_of(job()), name_of(asked)), "1:2", "")
    for place, each in enumerate((job(), asked)):
        newest = replace(outcome(each, Verdict.FASTER, speedup=8.0), finished_at="2027-01-01T00:00:00.000+00:00")
        store.append("run-2", place, of_clock(1, newest))
    assert [(each.clock_version, each.speedup) for each in store.score_rows(None) if each.bundle_digest] == [
        (1, 8.0),
        (CLOCK_VERSION, 1.5),
    ]
    assert [(each.clock_version, each.speedups[0].value) for each in store.baseline_rows()] == [
        (1, 8.0),
        (CLOCK_VERSION, 1.5),
    ]
    (standing,) = store.standings()
    assert (standing.best_speedup, standing.best_run_id) == (1.5, "run-1"), "the newest way of timing counts"
    assert standing.inductor_speedup == 1.5
    assert standing.attempts == standing.right == 2, "values do not depend on it"
    store.close()


def test_scores_and_standings_keep_baselines_apart(tmp_path: Path) -> None:
    rounding = replace(MEASURE, baseline=Baseline.EAGER_ROUNDING)
    asked, other = job(bundle=None), job(bundle=None, spec=rounding)
    store = started(tmp_path, asked, verdicts=(Verdict.FASTER,))
    for number, each in enumerate((other, job(), job(spec=rounding)), 2):
        store.start_run(run_of(each, run_id=f"run-{number}"), (name_of(each),), "1:2", "")
        store.append(f"run-{number}", 0, outcome(each, Verdict.FASTER, speedup=float(number)))
    assert {(each.baseline, each.speedup) for each in store.score_rows(None)} == {
        (Baseline.INDUCTOR, 1.5),
        (Baseline.EAGER_ROUNDING, 2.0),
        (None, 4.0),
    }, "passes have one newest outcome, beside whichever baseline"
    assert {each.baseline: each.speedups[0].value for each in store.baseline_rows()} == {
        Baseline.INDUCTOR: 1.5,
        Baseline.EAGER_ROUNDING: 2.0,
    }
    (standing,) = store.standings()
    assert standing.inductor_speedup == 1.5
    assert (standing.best_speedup, standing.best_run_id, standing.best_by) == (4.0, "run-4", "me")
    store.close()


def test_the_figures_of_a_task_are_of_the_same_device_and_capture(tmp_path: Path) -> None:
    compiled, passes = replace(MEASURE, capture=Capture.COMPILED), job()
    asked = [
        job(number, bundle=None, spec=spec)
        for spec in (replace(MEASURE, capture=Capture.DIRECT), compiled)
        for number in (0, 1)
    ]
    store = started(tmp_path, *asked, verdicts=(Verdict.SLOWER,) * 4)
    for number, (speedup, device, spec) in enumerate(
        [(2.0, "fake device", asked[0].spec), (5.0, "another", asked[0].spec), (9.0, "fake device", compiled)], 2
    ):
        judged = outcome(replace(passes, spec=spec), Verdict.FASTER, speedup=speedup)
        assert judged.environment is not None
        store.start_run(run_of(passes, run_id=f"run-{number}"), (name_of(passes),), "1:2", "")
        store.append(f"run-{number}", 0, replace(judged, environment=replace(judged.environment, device=device)))
    one, other = store.standings()
    assert (one.device, one.capture, one.profile, one.clock_version) == (
        "fake device",
        Capture.DIRECT,
        Profile.STRICT,
        CLOCK_VERSION,
    ), "direct capture comes first, and then the device with the most subgraphs"
    assert (one.eager_us, one.inductor_speedup, one.inductor_run_id) == (10.5, 1.5, "run-1")
    assert (one.best_speedup, one.best_run_id, one.best_by) == (2.0, "run-2", "me")
    assert one.attempts == 3, "values do not depend on the device"
    assert (other.eager_us, other.inductor_speedup, other.best_speedup) == (10.5, 1.5, None)
    store.close()


def test_a_store_from_before_clock_versions_keeps_its_outcomes(tmp_path: Path) -> None:
    made = of_clock(1, outcome(job(), Verdict.FASTER))
    store = open_store(tmp_path)
    store.start_run(run_of(job()), (name_of(job()),), "1:2", "")
    store.append("run-1", 0, made)
    store.close()
    import duckdb

    with duckdb.connect(str(tmp_path / FILE)) as connection:
        connection.execute("DELETE FROM migrations WHERE name = '0005_clock_versions.sql'")
        connection.execute("ALTER TABLE outcomes DROP COLUMN clock_version")
        connection.execute("UPDATE outcomes SET content = replace(content, ',\"clock_version\":1', '')")
        assert "clock_version" not in connection.execute("SELECT content FROM outcomes").fetchall()[0][0]
    store = open_store(tmp_path)
    assert made.environment is not None
    assert to_json(store.outcomes("run-1")) == to_json((made,))
    assert store.known(job().digest, made.environment.digest) is not None
    assert [each.clock_version for each in store.score_rows(None)] == [1]
    store.close()


def test_an_inconclusive_outcome_does_not_push_an_older_figure_out_of_the_scores(tmp_path: Path) -> None:
    store = started(tmp_path, job(), verdicts=(Verdict.FASTER,))
    store.start_run(run_of(job(), run_id="run-2"), (name_of(job()),), "1:2", "")
    later = replace(outcome(job(), Verdict.INCONCLUSIVE), finished_at="2027-01-01T00:00:00.000+00:00")
    store.append("run-2", 0, later)
    assert [(each.run_id, each.speedup) for each in store.score_rows(None)] == [("run-1", 1.5)]
    store.close()


def test_a_baseline_row_has_the_clocks_of_the_newest_outcome_of_its_subgraph(tmp_path: Path) -> None:
    asked = job(bundle=None)
    store = started(tmp_path, asked, job(1), verdicts=(Verdict.FASTER, Verdict.SLOWER))
    (row,) = store.baseline_rows()
    assert (row.subgraph_id, row.capture, row.noise) == (asked.subgraph.id, asked.spec.capture, 0.02)
    found = row.speedup(Clock.END_TO_END)
    assert found is not None
    assert (found.low, found.value) == (1.35, 1.5)
    assert row.time(Contender.EAGER, Clock.END_TO_END) == 10.5
    assert row.speedup(Clock.KERNEL) is row.time(Contender.BASELINE, Clock.KERNEL) is None
    store.start_run(run_of(asked, run_id="run-2"), (name_of(asked),), "1:2", "")
    later = replace(outcome(asked, Verdict.FASTER, speedup=4.0), finished_at="2027-01-01T00:00:00.000+00:00")
    store.append("run-2", 0, later)
    assert [(each.run_id, each.speedups[0].value) for each in store.baseline_rows()] == [("run-2", 4.0)]
    store.close()


def test_a_store_from_before_profiles_had_columns_is_migrated(tmp_path: Path) -> None:
    store = started(tmp_path, job(spec=LIGHTER), verdicts=(Verdict.FASTER,))
    store.start_run(run_of(job(), run_id="run-2"), (name_of(job()),), "1:2", "")
    store.append("run-2", 0, outcome(job(), Verdict.FASTER))
    store.close()
    import duckdb

    with duckdb.connect(str(tmp_path / FILE)) as connection:
        connection.execute("DELETE FROM migrations WHERE name = '0002_profiles.sql'")
        connection.execute("ALTER TABLE outcomes DROP COLUMN profile")
        for table in ("outcomes", "runs"):
            older = 'replace(content, \'"profile":"passnet"\', \'"profile":"recorded"\')'
            connection.execute(f"UPDATE {table} SET content = {older}")
    store = open_store(tmp_path)
    assert {each.run_id: each.profile for each in store.score_rows(None)} == {
        "run-1": Profile.PASSNET,
        "run-2": Profile.STRICT,
    }
    assert store.run("run-1") == run_of(job(spec=LIGHTER))
    # a file with the same run, under the profile's older name, is accepted as equal
    file = RunFile(run_of(job(spec=LIGHTER)), (BUNDLE,), (outcome(job(spec=LIGHTER), Verdict.FASTER),))
    store.import_runs("", (file,))
    store.close()


CHANGED, OTHER = (Bundle((PassFile("Relu.py", f"# {text}"),)) for text in ("changed", "otherwise"))


def test_the_newest_draft_of_a_slot_is_returned(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store.draft("me", "relu", "mine", None) is None
    first = store.save_draft("me", "relu", "mine", BUNDLE, None)
    store.save_draft("me", "relu", "other", BUNDLE, None)
    second = store.save_draft("me", "relu", "mine", CHANGED, first)
    assert first is not None
    assert second is not None
    assert second > first
    newest, before = store.draft("me", "relu", "mine", None), store.draft("me", "relu", "mine", first)
    assert newest is not None
    assert before is not None
    assert (newest.bundle, newest.place, before.bundle) == (CHANGED, second, BUNDLE)
    assert [(each.task_id, each.slot) for each in store.drafts("me")] == [("relu", "mine"), ("relu", "other")]
    store.close()


def test_a_draft_that_was_made_from_an_older_one_is_not_saved(tmp_path: Path) -> None:
    """Else the text of one tab would replace that of another."""
    store = open_store(tmp_path)
    first = store.save_draft("me", "relu", "mine", BUNDLE, None)
    second = store.save_draft("me", "relu", "mine", CHANGED, first)
    assert store.save_draft("me", "relu", "mine", OTHER, first) is None
    assert store.save_draft("me", "relu", "mine", OTHER, None) is None
    found = store.draft("me", "relu", "mine", None)
    assert found is not None
    assert found.bundle == CHANGED
    assert store.save_draft("me", "relu", "mine", CHANGED, first) == second, "the same text is no other draft"
    store.close()


def test_nobody_sees_the_drafts_of_others(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save_draft("me", "relu", "mine", BUNDLE, None)
    assert store.draft("you", "relu", "mine", None) is None
    assert store.drafts("you") == ()
    assert store.save_draft("you", "relu", "mine", CHANGED, None) is not None
    kept = store.draft("me", "relu", "mine", None)
    assert kept is not None
    assert kept.bundle == BUNDLE
    store.close()


def test_bytes_are_counted_of_drafts_runs_and_bundles_once_and_in_older_stores(tmp_path: Path) -> None:
    store = started(tmp_path, job())
    store.save_draft("me", "relu", "mine", BUNDLE, None)
    store.close()
    import duckdb

    with duckdb.connect(str(tmp_path / FILE)) as connection:
        connection.execute("DELETE FROM migrations WHERE name = '0012_bytes.sql'")
        connection.execute("ALTER TABLE drafts DROP COLUMN bytes")
        connection.execute("ALTER TABLE bundles DROP COLUMN bytes")
    store = open_store(tmp_path)
    size = len(json.dumps(to_json(BUNDLE), separators=(",", ":")).encode())
    assert store.kept_bytes("me", ()) == pytest.approx(size, rel=0.1)
    one = store.kept_bytes("me", ())
    assert store.kept_bytes("me", (BUNDLE.digest, BUNDLE.digest, "none")) == 2 * one, "a draft and a bundle"
    store.start_run(run_of(job(), run_id="run-2"), (name_of(job()),), "1:2", "me")
    assert store.kept_bytes("me", (BUNDLE.digest,)) == 2 * one, "a bundle counts once"
    store.save_draft("me", "relu", "other", BUNDLE, None)
    assert open_store(tmp_path).kept_bytes("me", ()) == 3 * one
    assert store.kept_bytes("you", ()) == 0
    store.add_bundle(OTHER)
    assert store.kept_bytes("you", (OTHER.digest,)) > 0
    store.close()


def rejected(job: Job, findings: int) -> Outcome:
    made = outcome(job, Verdict.REJECTED)
    return replace(made, findings=tuple(replace(made.findings[0], line=line) for line in range(1, findings + 1)))


def test_equal_findings_are_stored_once_and_count_for_whose_run_it_was(tmp_path: Path) -> None:
    jobs = [job(number) for number in range(9)]
    store = open_store(tmp_path)
    store.start_run(run_of(*jobs), tuple(map(name_of, jobs)), "1:2", "me")
    store.append("run-1", 0, rejected(jobs[0], 50))
    first = store.kept_bytes("me", ())
    assert first > len(json.dumps(to_json(rejected(jobs[0], 50).findings))) / 2, "findings count"
    for place, each in enumerate(jobs[1:], 1):
        store.append("run-1", place, rejected(each, 50))
    each_bytes = (store.kept_bytes("me", ()) - first) / 8
    assert 100 < each_bytes < first / 3, "outcomes count, and each of them without the findings"
    assert store.kept_bytes("you", ()) == 0
    assert repr(store.outcomes("run-1")) == repr(tuple(rejected(each, 50) for each in jobs))
    environment = rejected(jobs[0], 1).environment
    assert environment is not None
    assert repr(store.known(jobs[0].digest, environment.digest)) == repr(rejected(jobs[0], 50))
    store.close()


def test_outcomes_of_an_older_store_keep_their_findings_and_count(tmp_path: Path) -> None:
    whole = rejected(job(), 50)
    store = started(tmp_path, job())
    store.append("run-1", 0, whole)
    store.close()
    import duckdb

    with duckdb.connect(str(tmp_path / FILE)) as connection:
        connection.execute("DELETE FROM migrations WHERE name = '0013_findings.sql'")
        connection.execute("DROP TABLE findings")
        connection.execute("ALTER TABLE outcomes DROP COLUMN findings_digest")
        connection.execute("ALTER TABLE outcomes DROP COLUMN bytes")
        # as the version before wrote it, for somebody
        connection.execute("UPDATE outcomes SET content = $text", {"text": json.dumps(to_json(whole))})
        connection.execute("UPDATE runs SET visitor = 'me'")
    store = open_store(tmp_path)
    assert repr(store.outcomes("run-1")) == repr((whole,))
    assert store.kept_bytes("me", ()) > len(json.dumps(to_json(whole)))
    file = RunFile(run_of(job()), (BUNDLE,), (whole,))
    store.import_runs("", (file,))
    assert exchange.written(file).count("mend it") == 50, "what is exported is whole"
    store.close()


def test_drafts_of_an_older_store_go_to_the_first_who_asks(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save_draft("", "relu", "mine", BUNDLE, None)
    store.save_draft("me", "relu", "other", CHANGED, None)
    for each in ("me", "you"):
        store.adopt_drafts(each)
    assert {each.slot for each in store.drafts("me")} == {"mine", "other"}
    assert store.drafts("you") == ()
    store.close()


def test_every_reported_outcome_survives_kill_9(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from tests.contract.made import *
from passnet_core.store.opening import open_store
from passnet_core.store.rows import name_of
jobs = [job(number) for number in range(500)]
store = open_store(Path(sys.argv[1]))
store.start_run(run_of(*jobs), tuple(map(name_of, jobs)), "1:2", "")
for place, each in enumerate(jobs):
    store.append("run-1", place, outcome(each, Verdict.FASTER))
    print(place, flush=True)
"""
    for kill_after in (1, 9, 23):
        home = tmp_path / str(kill_after)
        with python(code, home) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line) == kill_after:
                    process.send_signal(signal.SIGKILL)
                    break
            reported = [kill_after, *map(int, process.stdout.read().split())][-1] + 1
        store = open_store(home)
        kept = store.outcomes("run-1")
        # the process may have been killed between storing an outcome and reporting it
        assert reported <= len(kept) <= reported + 1
        left = store.unfinished("run-1")[0]
        assert left.positions == tuple(range(len(kept), 500))
        store.close()


def test_a_second_process_asks_the_owner_of_the_file_and_succeeds_it(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from tests.contract.made import *
from passnet_core.store.opening import open_store
from passnet_core.store.rows import name_of
store = open_store(Path(sys.argv[1]))
store.add_bundle(BUNDLE)
store.start_run(run_of(job(), job(1)), (name_of(job()), name_of(job(1))), "1:2", "")
store.append("run-1", 0, outcome(job(), Verdict.FASTER))
print("ready", flush=True)
sys.stdin.readline()
"""
    with python(code, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.stderr and process.stderr.read()
        assert (tmp_path / SOCKET).stat().st_mode & 0o777 == 0o600
        store = open_store(tmp_path)
        assert repr(store.outcomes("run-1")) == repr((outcome(job(), Verdict.FASTER),))
        assert store.run("run-1") == run_of(job(), job(1))
        assert store.bundle(BUNDLE.digest) == BUNDLE
        assert store.bundle("none") is None
        store.save_draft("me", "relu", "mine", BUNDLE, None)
        taken = RunFile(run_of(job(2)), (BUNDLE,), (outcome(job(2)),))
        with pytest.raises(StoreRefusal, match="Another run has the id 'run-1'"):
            store.import_runs("", (taken,))
        store.append("run-1", 1, outcome(job(1), Verdict.CRASHED))
        process.kill()
        process.wait(seconds(60))
        # the next request opens the file in this process
        assert [each.verdict for each in store.outcomes("run-1")] == [Verdict.FASTER, Verdict.CRASHED]
        for each in (store, RemoteStore(tmp_path / SOCKET)):
            draft = each.draft("me", "relu", "mine", None)
            assert draft is not None
            assert draft.bundle == BUNDLE
        store.close()
    assert not (tmp_path / SOCKET).exists()


def test_several_threads_and_two_openings_lose_no_outcome(tmp_path: Path) -> None:
    jobs = [job(number) for number in range(40)]
    store = started(tmp_path, *jobs)
    other = open_store(tmp_path)

    def work(first: int) -> None:
        for place in range(first, 40, 4):
            (store if place % 2 else other).append("run-1", place, outcome(jobs[place]))

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds(60))
    assert [each.job_digest for each in other.outcomes("run-1")] == [each.digest for each in jobs]
    store.close()
    assert len(other.outcomes("run-1")) == 40
    other.close()


def test_the_error_names_a_foreign_process_that_holds_the_file(tmp_path: Path) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('ready', flush=True); sys.stdin.readline()"
    with python(code, tmp_path / FILE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(StoreError, match=rf"open in process {process.pid}.*PASSNET_HOME"):
            open_store(tmp_path, patience_s=0.2)
        process.kill()


def test_a_store_works_in_a_folder_with_a_long_path(tmp_path: Path) -> None:
    home = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 5)
    store = open_store(home)
    store.save_draft("me", "relu", "mine", BUNDLE, None)
    assert open_store(home).draft("me", "relu", "mine", None) == store.draft("me", "relu", "mine", None)
    store.close()


def test_a_broken_file_and_one_of_a_newer_version_are_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database" * 1000)
    with pytest.raises(StoreError, match=r"results\.duckdb cannot be used"):
        open_store(tmp_path)
    import duckdb

    newer = tmp_path / "newer"
    open_store(newer).close()
    with duckdb.connect(str(newer / FILE)) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999_future.sql')")
    with pytest.raises(StoreError, match="newer version"):
        open_store(newer)


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.contract.made import *
from passnet_core.store.opening import open_store
from passnet_core.store.rows import name_of
store = open_store(Path(sys.argv[1]))
store.start_run(run_of(job(1), run_id="last"), (name_of(job(1)),), "1:2", "")
os.kill(os.getpid(), signal.SIGKILL)
"""
LOG = f"{FILE}.wal"


def killed(home: Path) -> Path:
    """A store with a run that is in the file, and one that is in the log only. Returns the log."""
    started(home, job(), verdicts=(Verdict.FASTER,)).close()
    with python(KILLED, home) as process:
        assert process.wait(seconds(60)) == -signal.SIGKILL, process.stderr and process.stderr.read()
    return home / LOG


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", ["garbage", "zero bytes", "a changed byte", "of another store", "a folder"])
def test_a_broken_log_is_named_with_what_saves_the_rest(tmp_path: Path, damage: str) -> None:
    log = killed(tmp_path / "home")
    if damage == "a folder":
        log.unlink()
        log.mkdir()
    elif damage == "of another store":
        log.write_bytes(killed(tmp_path / "other").read_bytes())
    else:
        content = log.read_bytes()
        changed = {"garbage": b"no log" * 999, "zero bytes": bytes(len(content)), "a changed byte": flipped(content)}
        log.write_bytes(changed[damage])
    for _ in range(2):
        with pytest.raises(StoreError, match=r"results\.duckdb\.wal, the log .* cannot be used: .* move it away and"):
            open_store(log.parent)
    log.rename(log.parent / "moved away")
    store = open_store(log.parent)
    assert len(store.outcomes("run-1")) == 1, "the rest is there"
    assert store.run("last") is None
    store.close()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_log_that_was_cut_off_gives_what_was_written_before(tmp_path: Path, share: float) -> None:
    """Which is how a process that is killed while it writes leaves one."""
    log = killed(tmp_path)
    content = log.read_bytes()
    log.write_bytes(content[: int(len(content) * share)])
    store = open_store(tmp_path)
    assert len(store.outcomes("run-1")) == 1
    assert (store.run("last") is not None) == (share == 1.0)
    store.close()


def test_a_log_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    log = killed(tmp_path)
    tmp_path.chmod(0o777)
    (tmp_path / FILE).chmod(0o666)
    log.chmod(0)
    code = """
import os, sys
from pathlib import Path
from passnet_core.errors import StoreError
from passnet_core.store.opening import open_store
os.chdir(sys.argv[1])
if os.getuid() == 0:
    os.setuid(65534)  # root may read everything
try:
    open_store(Path("."), patience_s=0)
except StoreError as error:
    print(error)
"""
    with python(code, tmp_path) as process:
        output, errors = process.communicate(timeout=seconds(60))
    assert "results.duckdb.wal" in output, errors
    assert "Permission denied" in output


def test_a_home_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="PASSNET_HOME"):
        open_store(tmp_path / "file" / "home")


FILLING = """
import os, sys
from pathlib import Path
from tests.contract.made import *
from passnet_core.errors import StoreError
from passnet_core.store.opening import open_store
from passnet_core.store.rows import name_of
jobs = [job(number) for number in range(400)]
store = open_store(Path(sys.argv[1]))
store.start_run(run_of(*jobs), tuple(map(name_of, jobs)), "1:2", "")
kept = 0
try:
    for place, each in enumerate(jobs):
        store.append("run-1", place, replace(outcome(each), log_tail=os.urandom(20_000).hex()))
        kept += 1
except StoreError as error:
    assert "is full" in str(error), error
    assert len(store.outcomes("run-1")) == kept > 0
    print("refused")
"""


@pytest.mark.sandbox
def test_a_full_disk_is_reported_and_loses_no_outcome(tmp_path: Path) -> None:
    home = tmp_path / "small"
    home.mkdir()
    sandbox = ["bwrap", "--dev-bind", "/", "/", "--size", "6000000", "--tmpfs", str(home), "--chdir", str(PROJECT)]
    asked = subprocess.run(
        [*sandbox, sys.executable, "-c", FILLING, str(home)],
        capture_output=True,
        text=True,
        timeout=seconds(60),
        check=False,
    )
    assert asked.stdout == "refused\n", asked.stderr


def test_a_file_size_limit_is_reported_as_a_full_disk(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000,) * 2)\n"
    with python(limit + FILLING, tmp_path) as process:
        output, errors = process.communicate(timeout=seconds(60))
    assert output == "refused\n", errors


def test_malformed_requests_at_the_socket_get_an_error_and_do_no_harm(tmp_path: Path) -> None:
    import socket

    store = started(tmp_path, job())
    strange = (
        b"",
        b"not json\n",
        b'{"ask": "close", "arguments": []}\n',
        b'{"ask": "run", "arguments": [1]}\n',
        b"[]\n",
    )
    for request in strange:
        with socket.socket(socket.AF_UNIX) as connection:
            # through a descriptor, because the folder's path may be too long for a socket's address
            folder = os.open(tmp_path, os.O_RDONLY)
            connection.connect(f"/proc/self/fd/{folder}/{SOCKET}")
            os.close(folder)
            connection.settimeout(seconds(60))
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            assert "error" in json.loads(connection.makefile().read())
    assert store.run("run-1") is not None
    store.close()


def test_a_run_whose_process_has_ended_has_no_living_owner() -> None:
    here = owner.this_process()
    assert owner.alive(here)
    pid = here.partition(":")[0]
    assert not owner.alive(f"{pid}:1")
    assert not owner.alive("")
    with python("pass") as process:
        process.wait(seconds(60))
        assert not owner.alive(f"{process.pid}:1")


# --- the exchange file ---


def test_a_file_holds_outcomes_of_every_verdict_unchanged() -> None:
    jobs = [job(number) for number in range(len(ALL_KINDS))]
    whole = RunFile(run_of(*jobs), (BUNDLE,), tuple(outcome(each, kind) for each, kind in zip(jobs, ALL_KINDS)))
    (again,) = exchange.read(exchange.written(whole).splitlines())
    assert repr(again) == repr(whole)


def a_file() -> RunFile:
    jobs = (job(), job(1))
    return RunFile(run_of(*jobs), (BUNDLE,), (outcome(jobs[0], Verdict.FASTER), outcome(jobs[1], Verdict.NO_MATCH)))


def test_a_file_holds_a_run_unchanged_and_is_read_once(tmp_path: Path) -> None:
    text = exchange.written(a_file())
    (again,) = exchange.read(text.splitlines())
    assert repr(again) == repr(a_file())
    assert exchange.written(again) == text
    exchange.write_file(tmp_path / "runs.jsonl.gz", [a_file(), a_file()])
    digest, files = exchange.read_file(tmp_path / "runs.jsonl.gz")
    assert repr(files) == repr((a_file(), a_file()))
    assert exchange.read_file(tmp_path / "runs.jsonl.gz", {digest}) == (digest, ())


def changed(line: int, **values: object) -> str:
    lines = exchange.written(a_file()).splitlines()
    data = json.loads(lines[line])
    (data if line == 0 else next(iter(data.values()))).update(values)
    lines[line] = json.dumps(data)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("nonsense", "Line 1 is not JSON"),
        ("[1]", "Line 1 must be a JSON object"),
        ('{"format": "other"}', "Line 1 is not the header"),
        (changed(0, version=99), "version 99"),
        (changed(0, run={}), "Line 1: Run lacks"),
        (changed(0, outcomes=-1), "must be the number of outcomes"),
        (changed(0, outcomes=1), "2 jobs, but 1 outcomes"),
        (changed(0, outcomes=3), "ends after 2 of 3 outcomes"),
        (changed(1, passes=[]), "code was changed"),
        (changed(2, verdict="splendid"), "Line 3: .*'splendid'"),
        (changed(2, verdict="no match"), "Line 3: .*[Ii]mpossible"),
        (changed(3, job_digest="0"), "Line 4: this outcome does not belong to job 2"),
        (changed(3, bundle_digest="0"), "Line 4: this outcome has a different bundle"),
        (exchange.written(a_file()).rstrip()[:-40], "Line 4 is not JSON"),
    ],
)
def test_the_error_about_a_broken_file_names_the_line(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        tuple(exchange.read(text.splitlines()))


def test_an_import_is_all_or_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    other = replace(a_file(), run=replace(a_file().run, id="run-0"))
    store.import_runs("file", (a_file(),))
    store.import_runs("file", (a_file(),))
    assert store.recorded_files() == ("file",)
    forged = replace(a_file(), outcomes=tuple(replace(each, reason="better") for each in a_file().outcomes))
    with pytest.raises(StoreRefusal, match="Another run has the id"):
        store.import_runs("second", (other, forged))
    assert [each.run.id for each in store.runs(RunQuery(9, checks=True))] == ["run-1"]
    assert store.recorded_files() == ("file",)
    assert store.unfinished(None) == ()
    store.close()


def test_a_data_file_that_is_no_complete_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl.gz"
    exchange.write_file(path, [a_file()])
    whole = path.read_bytes()
    for broken in (b"", b"text", whole[:-20]):
        path.write_bytes(broken)
        with pytest.raises(BadInput):
            exchange.read_file(path)
