"""The service: queueing and cancelling jobs, stored outcomes, known answers, recorded runs and boards."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.corpus.layout import write_task
from passnet_core.errors import BadInput, StoreError, StoreRefusal, UnknownItem
from passnet_core.execution.backends.base import Cancellation, JobEvent, outcome_without_judge
from passnet_core.leaderboard.boards import ranked, twin
from passnet_core.records import (
    Bundle,
    Capture,
    Device,
    EvalSpec,
    Job,
    Outcome,
    PassFile,
    Phase,
    Profile,
    Stage,
    Verdict,
    from_json,
)
from passnet_core.scoring.report import score_reports
from passnet_core.service import Service, open_service, prepare
from passnet_core.settings import Settings
from passnet_core.store import exchange
from passnet_core.store.opening import open_store
from passnet_core.store.prepared import place_prepared
from passnet_core.store.rows import RunFile, RunQuery
from tests.contract.made import BUNDLE, MEASURE, job, outcome, run_of, task
from tests.fake_backend import FAKE_ENVIRONMENT, FakeBackend
from tests.waiting import eventually, seconds

PROJECT = Path(__file__).resolve().parents[2]
VERIFY = EvalSpec()

Opening = Callable[..., Service]


def settings_in(folder: Path) -> Settings:
    (folder / "data").mkdir(exist_ok=True)
    return Settings(home=folder / "home", data=folder / "data", python=Path(sys.executable))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opening]:
    """Open services over one folder, and close them afterwards."""
    services: list[Service] = []

    def open_one(answer: Callable[[Job], Outcome] = outcome, device: Device = Device.CPU) -> Service:
        services.append(open_service(settings_in(tmp_path), backend=FakeBackend(answer, device)))
        return services[-1]

    yield open_one
    for service in services:
        service.close()


class Gate:
    """An answer of the fake backend that waits until the test opens the gate."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self, job: Job) -> Outcome:
        self.entered.set()
        assert self.opened.wait(seconds(60))
        return outcome(job)


def jobs_of_backend(service: Service) -> list[Job]:
    backend = service._scheduler.backend
    assert isinstance(backend, FakeBackend)
    return backend.jobs


def test_every_job_of_a_run_gets_an_outcome_that_is_stored(opened: Opening) -> None:
    service = opened()
    run_id = service.submit(task(), BUNDLE, VERIFY, label="first")
    outcomes = service.wait(run_id)
    assert [each.subgraph_id for each in outcomes] == ["float32/0", "float32/1", "float32/2"]
    progress = service.progress(run_id)
    assert progress.finished
    assert (progress.done, progress.total, progress.cancelled, progress.problem) == (3, 3, False, "")
    service.close()
    again = opened()
    assert repr(again.outcomes(run_id)) == repr(outcomes)
    assert again.progress(run_id).finished
    assert again.bundle(BUNDLE.digest) == BUNDLE
    (summary,) = again.runs()
    assert (summary.run.label, summary.accepted, summary.total) == ("first", 3, 3)


def test_an_outcome_is_stored_before_it_is_reported(opened: Opening) -> None:
    service = opened()
    seen: list[int] = []

    def on_outcome(position: int, reported: Outcome) -> None:
        kept = service.outcomes(run_ids[0])
        assert repr(kept[position]) == repr(reported)
        seen.append(position)

    run_ids: list[str] = []
    service.evaluate(task(), BUNDLE, VERIFY, on_outcome, on_run=run_ids.append)
    assert seen == [0, 1, 2]


def test_runs_wait_for_each_other_but_checks_do_not_wait(opened: Opening) -> None:
    gate = Gate()

    def answer(job: Job) -> Outcome:
        return outcome(job, Verdict.MATCHED) if job.spec.stage is Stage.CHECK else gate(job)

    service = opened(answer)
    first = service.submit(task(), BUNDLE, VERIFY)
    assert gate.entered.wait(seconds(60))
    second = service.submit(task("other"), BUNDLE, VERIFY)
    third = service.submit(task("third"), BUNDLE, VERIFY)
    assert service.progress(first).queue_position is None
    assert service.progress(first).phase is Phase.START
    assert service.progress(first).subgraph_id == "float32/0"
    assert service.progress(second).queue_position == 1
    assert service.progress(third).queue_position == 2
    assert service.under_way() == 3
    assert not service.progress(second).finished
    (checked,) = service.evaluate(task(), BUNDLE, EvalSpec(stage=Stage.CHECK), subgraph_ids=["float32/1"])
    assert checked.verdict is Verdict.MATCHED
    gate.opened.set()
    assert len(service.wait(third)) == 3
    assert service.progress(second).finished
    assert service.under_way() == 0


def test_the_remaining_jobs_of_a_cancelled_run_get_an_outcome(opened: Opening) -> None:
    gate = Gate()
    service = opened(gate)
    running = service.submit(task(), BUNDLE, VERIFY)
    assert gate.entered.wait(seconds(60))
    waiting = service.submit(task("other"), BUNDLE, VERIFY)
    service.cancel(waiting)
    service.cancel(running)
    assert service.progress(running).cancelled
    gate.opened.set()
    assert [each.verdict for each in service.wait(running)] == [Verdict.VALUES_ONLY] + [Verdict.CANCELLED] * 2
    assert {each.verdict for each in service.wait(waiting)} == {Verdict.CANCELLED}
    assert len(jobs_of_backend(service)) == 1
    assert service.progress(waiting).cancelled
    service.cancel(running)


def test_a_known_answer_is_not_judged_again_unless_asked(opened: Opening) -> None:
    service = opened()
    first = service.evaluate(task(), BUNDLE, VERIFY)
    again = service.evaluate(task(), BUNDLE, VERIFY)
    assert repr(again) == repr(first)
    assert len(jobs_of_backend(service)) == 3
    assert service.evaluate(task("twin"), BUNDLE, VERIFY)[1].task_id == "twin"
    assert len(jobs_of_backend(service)) == 3
    service.evaluate(task(), BUNDLE, VERIFY, fresh=True)
    assert len(jobs_of_backend(service)) == 6
    service.evaluate(task(), BUNDLE, replace(VERIFY, deadline_s=7.0))
    assert len(jobs_of_backend(service)) == 9


@pytest.mark.parametrize("verdict", [Verdict.INFRASTRUCTURE, Verdict.TIMED_OUT, Verdict.CRASHED])
def test_a_verdict_that_the_machine_may_have_caused_is_no_known_answer(opened: Opening, verdict: Verdict) -> None:
    service = opened(lambda job: outcome(job, verdict))
    service.evaluate(task(subgraphs=1), BUNDLE, VERIFY)
    service.evaluate(task(subgraphs=1), BUNDLE, VERIFY)
    assert len(jobs_of_backend(service)) == 2


def test_a_backend_that_fails_gives_an_infrastructure_error_for_one_job(opened: Opening) -> None:
    broken = [True]

    def answer(job: Job) -> Outcome:
        if broken:
            broken.clear()
            raise RuntimeError("lost")
        return outcome(job)

    service = opened(answer)
    first = service.evaluate(task(), BUNDLE, VERIFY)
    assert [each.verdict for each in first] == [Verdict.INFRASTRUCTURE, Verdict.VALUES_ONLY, Verdict.VALUES_ONLY]
    assert "RuntimeError: lost" in first[0].reason
    assert len(service.evaluate(task(), None, VERIFY)) == 3


def test_a_store_that_fails_ends_the_run_with_a_message_and_no_outcome(opened: Opening) -> None:
    gate = Gate()
    service = opened(gate)
    run_id = service.submit(task(), BUNDLE, VERIFY)
    assert gate.entered.wait(seconds(60))
    service._store.close()
    gate.opened.set()
    with pytest.raises(StoreError, match="closed"):
        service.wait(run_id)
    progress = service.progress(run_id)
    assert progress.finished
    assert progress.outcomes == ()
    assert "closed" in progress.problem


def test_a_finished_run_is_answered_from_the_store_as_it_was_when_it_ended(opened: Opening) -> None:
    gate = Gate()
    service = opened(gate)
    run_id = service.submit(task(), BUNDLE, VERIFY)
    assert gate.entered.wait(seconds(60))
    here = service._runs.find(run_id)
    assert here is not None
    gate.opened.set()
    here.wait(seconds(60))
    last, progress = service._runs.progress(here), service.progress(run_id)
    assert service._runs.find(run_id) is None, "nothing of it is kept in memory"
    assert repr(progress.outcomes) == repr(last.outcomes)
    for name in ("run", "total", "done", "phase", "subgraph_id", "elapsed_s", "finished", "cancelled", "problem"):
        assert getattr(progress, name) == getattr(last, name), name
    assert repr(service.wait(run_id)) == repr(last.outcomes), "who comes too late to wait is answered, too"
    assert service.under_way() == 0


def test_runs_that_another_process_left_say_so_at_the_next_look(opened: Opening, tmp_path: Path) -> None:
    """Those who look are not told that it goes on until somebody starts the playground again."""
    code = """
import sys, threading
from pathlib import Path
from tests.fake_backend import FakeBackend
from passnet_core.service import open_service
from passnet_core.settings import Settings
from tests.contract.made import *
def answer(job):
    print("judging", flush=True)
    threading.Event().wait()
home, data = map(Path, sys.argv[1:])
service = open_service(Settings(home, data, Path(sys.executable)), backend=FakeBackend(answer))
print(*[service.submit(task(), BUNDLE, EvalSpec()) for _ in range(3)], flush=True)
threading.Event().wait()
"""
    at = settings_in(tmp_path)
    service = opened()
    with subprocess.Popen(
        [sys.executable, "-c", code, str(at.home), str(at.data)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        told = [other.stdout.readline().split(), other.stdout.readline().split()]
        first, second, third = next(ids for ids in told if ids != ["judging"])
        assert (service.progress(first).elsewhere, service.under_way()) == (True, 3)
        # nobody has asked for its exit status yet, so its number is still taken
        other.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        progress = service.progress(second)
        assert (progress.finished, progress.elsewhere, progress.done) == (True, False, 3)
        assert {each.reason for each in progress.outcomes} == {
            "The playground ended before this job was judged. Run it again."
        }
        service.cancel(first)
        assert [(each.run.id, each.done) for each in service.runs()] == [(third, 3), (second, 3), (first, 3)]
    assert service.export_run(third)


def test_closing_the_service_cancels_its_runs_and_refuses_new_ones(opened: Opening, tmp_path: Path) -> None:
    entered = threading.Event()

    class Patient(FakeBackend):
        def run(self, job: Job, listen: Callable[[JobEvent], None], cancelled: Cancellation) -> Outcome:
            entered.set()
            eventually(cancelled.is_set)
            return outcome_without_judge(job, Verdict.CANCELLED, "Cancelled.")

    service = open_service(settings_in(tmp_path), backend=Patient(outcome))
    run_id = service.submit(task(), BUNDLE, VERIFY)
    assert entered.wait(seconds(60))
    service.close()
    service.close()
    with pytest.raises(StoreRefusal, match="shutting down"):
        service.submit(task(), BUNDLE, VERIFY)
    assert [each.verdict for each in opened().outcomes(run_id)] == [Verdict.CANCELLED] * 3


def test_jobs_of_a_killed_process_get_an_outcome_at_the_next_start(opened: Opening, tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
from tests.fake_backend import FakeBackend
from passnet_core.service import open_service
from passnet_core.settings import Settings
from tests.contract.made import *
def answer(job):
    if job.subgraph.id == "float32/1":
        os.kill(os.getpid(), signal.SIGKILL)
    return outcome(job)
home, data = map(Path, sys.argv[1:])
service = open_service(Settings(home, data, Path(sys.executable)), backend=FakeBackend(answer))
service.wait(service.submit(task(), BUNDLE, EvalSpec()))
"""
    at = settings_in(tmp_path)
    asked = subprocess.run(
        [sys.executable, "-c", code, str(at.home), str(at.data)],
        cwd=PROJECT, capture_output=True, text=True, timeout=seconds(60), check=False,
    )  # fmt: skip
    service = opened()
    (summary,) = service.runs()
    assert asked.returncode == -9, asked.stderr
    outcomes = service.outcomes(summary.run.id)
    assert [each.verdict for each in outcomes] == [Verdict.VALUES_ONLY] + [Verdict.INFRASTRUCTURE] * 2
    assert "Run it again" in outcomes[1].reason
    assert service.progress(summary.run.id).finished


def test_the_progress_of_another_processs_run_can_be_seen(opened: Opening) -> None:
    gate = Gate()
    judging = opened(gate)
    watching = opened()
    run_id = judging.submit(task(), BUNDLE, VERIFY)
    assert gate.entered.wait(seconds(60))
    progress = watching.progress(run_id)
    assert (progress.finished, progress.done, progress.total) == (False, 0, 3)
    with pytest.raises(StoreRefusal, match="another process"):
        watching.cancel(run_id)
    with pytest.raises(StoreRefusal, match="has 0 of 3 outcomes"):
        watching.export_run(run_id)
    gate.opened.set()
    judging.wait(run_id)
    assert watching.progress(run_id).finished


def test_a_known_check_is_answered_from_the_store_and_listed_apart(opened: Opening) -> None:
    service = opened(lambda job: outcome(job, Verdict.MATCHED))
    spec = EvalSpec(stage=Stage.CHECK)
    (checked,) = service.evaluate(task(), BUNDLE, spec, subgraph_ids=["float32/2"])
    assert checked.spec.stage is Stage.CHECK
    assert repr(service.evaluate(task(), BUNDLE, spec, subgraph_ids=["float32/2"])) == repr((checked,))
    assert len(jobs_of_backend(service)) == 1
    assert service.runs() == ()
    assert len(service.runs(checks=True)) == 2


def test_a_check_made_while_somebody_typed_is_kept_without_judging_it_again(opened: Opening) -> None:
    service = opened(lambda job: outcome(job, Verdict.MATCHED))
    check = EvalSpec(stage=Stage.CHECK)
    assert service.check_within(task(), BUNDLE, check, "float32/2", seconds(60)) is not None
    run_id = service.submit(task(), BUNDLE, check, subgraph_ids=["float32/2"])
    (kept,) = service.wait(run_id)
    assert (kept.verdict, kept.subgraph_id) == (Verdict.MATCHED, "float32/2")
    assert len(jobs_of_backend(service)) == 1
    service.wait(service.submit(task(), BUNDLE, check, subgraph_ids=["float32/2"], fresh=True))
    assert len(jobs_of_backend(service)) == 2


def test_wrong_arguments_raise_errors_that_name_them(opened: Opening) -> None:
    service = opened()
    with pytest.raises(UnknownItem, match="no subgraph 'float32/9'"):
        service.submit(task(), BUNDLE, VERIFY, subgraph_ids=["float32/9"])
    with pytest.raises(BadInput, match="no subgraph to judge"):
        service.submit(task(subgraphs=0), BUNDLE, VERIFY)
    for ask in (service.run, service.progress, service.cancel, service.outcomes, service.export_run, service.wait):
        with pytest.raises(UnknownItem, match="no run 'none' here"):
            ask("none")
    with pytest.raises(UnknownItem, match="no bundle"):
        service.bundle("none")


def test_an_exported_run_is_a_recorded_run_where_it_is_imported(opened: Opening, tmp_path: Path) -> None:
    service = opened()
    run_id = service.submit(task(), BUNDLE, VERIFY)
    outcomes = service.wait(run_id)
    text = service.export_run(run_id)
    assert service.import_run(text) == run_id, "importing a run of this store changes nothing"
    assert service.run(run_id).recorded == ""
    (tmp_path / "elsewhere").mkdir()
    other = open_service(settings_in(tmp_path / "elsewhere"), backend=FakeBackend(outcome))
    assert other.import_run(text) == run_id
    assert repr(other.outcomes(run_id)) == repr(outcomes)
    assert other.run(run_id).recorded.startswith("fake device, 20")
    assert other.bundle(BUNDLE.digest) == BUNDLE
    assert other.progress(run_id).finished
    with pytest.raises(BadInput, match="must hold one run; this one holds 2"):
        other.import_run(text + text)
    other.close()


def test_drafts_are_stored_per_visitor_task_and_slot(opened: Opening) -> None:
    service = opened()
    place = service.save_draft("me", "relu", "mine", BUNDLE, None)
    assert service.save_draft("me", "relu", "mine", BUNDLE, place) == place
    service.close()
    again = opened()
    kept = again.draft("me", "relu", "mine")
    assert kept is not None
    assert (kept.place, kept.bundle) == (place, BUNDLE)
    assert again.draft("me", "relu", "other") is None
    assert again.draft("you", "relu", "mine") is None
    assert [(each.task_id, each.slot) for each in again.drafts("me")] == [("relu", "mine")]


def recorded(*jobs: Job, run_id: str, speedup: float, verdict: Verdict = Verdict.FASTER) -> RunFile:
    run = replace(run_of(*jobs, run_id=run_id), recorded="H200, 2026-01-02")
    bundles = () if jobs[0].bundle is None else (jobs[0].bundle,)
    return RunFile(run, bundles, tuple(outcome(each, verdict, speedup=speedup) for each in jobs))


def test_a_new_store_has_the_recorded_runs_and_reports_a_broken_file(opened: Opening, tmp_path: Path) -> None:
    folder = settings_in(tmp_path).data / "baselines"
    folder.mkdir()
    inductor = [job(number, bundle=None) for number in range(3)]
    exchange.write_file(folder / "all.jsonl.gz", [recorded(*inductor, run_id="r-1", speedup=1.2)])
    (folder / "broken.jsonl.gz").write_bytes(b"broken")
    service = opened()
    (problem,) = service.problems
    assert "broken.jsonl.gz are left out" in problem
    (summary,) = service.runs()
    assert (summary.run.recorded, summary.median_speedup) == ("H200, 2026-01-02", 1.2)
    service.close()
    assert len(opened().runs()) == 1


def test_a_first_start_opens_the_prepared_store_and_no_other_start_does(opened: Opening, tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    folder = settings.data / "baselines"
    folder.mkdir()
    inductor = [job(number, bundle=None) for number in range(3)]
    exchange.write_file(folder / "first.jsonl.gz", [recorded(*inductor, run_id="r-1", speedup=1.2)])
    made = prepare(settings)
    assert prepare(settings) == made, "made once"

    place_prepared(settings.home, settings.data)
    store = open_store(settings.home)
    assert [each.run.id for each in store.runs(RunQuery(10))] == ["r-1"], "before anything is imported"
    store.close()
    own = settings.home / "results.duckdb"
    before = own.stat()
    place_prepared(settings.home, settings.data)
    assert own.stat() == before, "a store that is there stays"

    exchange.write_file(folder / "later.jsonl.gz", [recorded(*inductor, run_id="r-2", speedup=1.3)])
    fresh = tmp_path / "fresh"
    place_prepared(fresh, settings.data)
    assert not fresh.exists(), "the prepared store is of other data"
    service = opened()
    service.wait_until_imported()
    assert {each.run.id for each in service.runs()} == {"r-1", "r-2"}
    assert prepare(settings) != made
    assert not made.exists()


def test_reference_bundles_are_read_and_a_broken_one_is_reported(opened: Opening, tmp_path: Path) -> None:
    folder = settings_in(tmp_path).data / "bundles"
    (folder / "good").mkdir(parents=True)
    (folder / "good" / "Relu.py").write_text("def pattern(x): ...\n")
    (folder / "good" / "sorted_output_pass_rule_names.json").write_text('["Relu"]')
    (folder / "good" / "about.json").write_text('{"title": "Relu", "description": "One kernel.", "tasks": ["relu"]}')
    (folder / "broken").mkdir()
    (folder / "broken" / "about.json").write_text("[]")
    service = opened()
    (reference,) = service.reference_bundles()
    assert (reference.name, reference.title, reference.task_ids) == ("good", "Relu", ("relu",))
    assert reference.bundle.passes[0].name == "Relu.py"
    (problem,) = service.problems
    assert "'broken' is left out" in problem


def test_the_corpus_has_the_tasks_of_the_data_folder(opened: Opening, tmp_path: Path) -> None:
    write_task(task(), settings_in(tmp_path).data / "tasks" / "relu")
    service = opened()
    assert [each.id for each in service.corpus.tasks()] == ["relu"]
    assert len(service.evaluate(service.corpus.task("relu"), BUNDLE, VERIFY)) == 3


# --- boards ---


def test_only_solvers_on_the_same_subgraphs_are_ranked_together(opened: Opening) -> None:
    service = opened()
    elsewhere = replace(FAKE_ENVIRONMENT, device="another device")
    passes, other = recorded(*map(job, range(2)), run_id="r-1", speedup=2.0), replace(BUNDLE, author="", helpers=())
    files = [
        passes,
        recorded(*[job(number, bundle=None) for number in range(3)], run_id="r-2", speedup=1.5),
        recorded(job(0, bundle=other), run_id="r-3", speedup=3.0),
        recorded(job(0, bundle=None, spec=replace(MEASURE, capture=Capture.COMPILED)), run_id="r-4", speedup=9.0),
    ]
    on_another_device = [replace(each, environment=elsewhere) for each in passes.outcomes]
    files.append(replace(passes, run=replace(passes.run, id="r-5"), outcomes=tuple(on_another_device)))
    for file in files:
        service.import_run(exchange.written(file))
    seen = {
        (board.device, board.capture.value, len(board.places)): {each.name for each in board.contestants}
        for board in service.boards()
    }
    name, other_name = "me bundle", f"bundle {other.digest[:6]}"
    assert seen == {
        ("fake device", "direct", 3): {"TorchInductor"},
        ("fake device", "direct", 2): {"TorchInductor", name},
        ("fake device", "direct", 1): {"TorchInductor", name, other_name},
        ("fake device", "compiled", 1): {"TorchInductor"},
        ("another device", "direct", 2): {name},
    }
    assert [len(board.contestants) for board in service.boards()] == [2, 3, 1, 1, 1], (
        "boards with several contestants come first, larger ones before smaller ones"
    )
    board = next(each for each in service.boards() if len(each.contestants) == 3)
    assert [(line.place, line.contestant.name) for line in ranked(board, 0)] == [
        (1, other_name), (2, name), (3, "TorchInductor"),
    ]  # fmt: skip
    assert board.recorded == ("H200, 2026-01-02",)
    assert board.dates == ("2026-01-02", "2026-01-02")
    assert board.noise == pytest.approx(0.02)
    assert ranked(board, 0)[1].score == pytest.approx(2.0)
    assert ranked(board, -10)[1].score == pytest.approx(0.1), "the outcomes are correct only from t = -5 on"


def test_each_profile_has_its_own_board_which_leads_to_the_others(opened: Opening) -> None:
    service = opened()
    lighter = replace(MEASURE, profile=Profile.PASSNET)
    for file in (
        recorded(job(0, spec=lighter), job(1, spec=lighter), run_id="r-1", speedup=8.0),
        recorded(job(0), job(1), run_id="r-2", speedup=2.0, verdict=Verdict.CHEAT),
        recorded(job(0, bundle=None), run_id="r-3", speedup=1.2),
    ):
        service.import_run(exchange.written(file))
    strict = next(each for each in service.boards() if each.profile is Profile.STRICT and len(each.places) == 2)
    passnet = twin(strict, service.boards())
    assert passnet is not None
    assert (passnet.profile, passnet.places) == (Profile.PASSNET, strict.places)
    assert twin(passnet, service.boards()) == strict
    assert [line.score for line in ranked(strict, 4)] == [pytest.approx(0.1)], "a cheat is tolerated at no level"
    assert [line.score for line in ranked(passnet, 0)] == [pytest.approx(8.0)]
    (lonely,) = [each for each in service.boards() if len(each.places) == 1]
    assert twin(lonely, service.boards()) is None


def test_a_new_outcome_changes_the_boards_of_those_who_see_it_and_no_others(opened: Opening) -> None:
    service = opened(lambda job: outcome(job, Verdict.FASTER), device=Device.CUDA)
    changed = replace(BUNDLE, passes=(PassFile("a.py", "# another\n"),))
    service.evaluate(task(), BUNDLE, MEASURE)
    service.evaluate(task(), BUNDLE, MEASURE, owner="alice")
    assert service.boards(viewer="bob") is service.boards(viewer="carol"), "both see what everybody sees"
    before = {viewer: service.boards(viewer=viewer) for viewer in ("alice", "bob", None)}
    service.evaluate(task(), changed, replace(MEASURE, stage=Stage.VERIFY), owner="alice")
    assert service.boards(viewer="alice") is before["alice"], "nothing was measured"
    service.evaluate(task(), changed, MEASURE, owner="alice")
    service.evaluate(task("other"), BUNDLE, MEASURE, owner="bob", fresh=True)

    def on(viewer: str | None) -> set[tuple[str, str]]:
        """What is on the boards that a viewer sees: bundles, and the tasks."""
        boards = service.boards(viewer=viewer)
        return {
            (each.bundle_digest or "", row.task_id)
            for board in boards
            for each in board.contestants
            for row in each.rows
        }

    assert on("carol") == {(BUNDLE.digest, "relu")}
    assert service.boards(viewer="carol") is before["bob"]
    assert on("alice") == {(BUNDLE.digest, "relu"), (changed.digest, "relu")}
    assert on("bob") == {(BUNDLE.digest, "relu"), (BUNDLE.digest, "other")}
    assert on(None) == on("alice") | on("bob")
    assert {
        row.run_id for board in service.boards(viewer="alice") for each in board.contestants for row in each.rows
    } == {row.run_id for row in service.score_rows(viewer="alice")}, "of everybody's and one's own, the newest counts"
    assert [board.task_ids for board in service.boards("other", viewer="bob")] == [("other",)]
    assert service.boards("other", viewer="carol") == ()


def test_boards_count_what_passnets_protocol_aborted_only_if_asked(opened: Opening) -> None:
    service = opened()
    lighter = replace(MEASURE, profile=Profile.PASSNET)
    jobs = [job(number, spec=lighter) for number in range(2)]
    for file in (
        recorded(*jobs, run_id="r-1", speedup=1.0, verdict=Verdict.INCONCLUSIVE),
        recorded(jobs[0], run_id="r-2", speedup=2.0),
        recorded(jobs[0], run_id="r-3", speedup=1.0, verdict=Verdict.INCONCLUSIVE),
        recorded(job(0), run_id="r-4", speedup=2.0),
        recorded(job(1), run_id="r-5", speedup=1.0, verdict=Verdict.INCONCLUSIVE),
    ):
        service.import_run(exchange.written(file))
    shown = {board.profile: (len(board.places), ranked(board, 0)[0].score) for board in service.boards()}
    assert shown == {Profile.PASSNET: (1, pytest.approx(2.0)), Profile.STRICT: (1, pytest.approx(2.0))}
    shown = {
        board.profile: (len(board.places), ranked(board, 0)[0].score) for board in service.boards(aborts_fail=True)
    }
    assert shown == {Profile.PASSNET: (2, pytest.approx((2.0 * 0.1) ** 0.5)), Profile.STRICT: (1, pytest.approx(2.0))}


def test_an_inconclusive_verdict_is_no_known_answer(opened: Opening) -> None:
    service = opened(lambda job: outcome(job, Verdict.INCONCLUSIVE))
    for _ in range(2):
        service.evaluate(task(subgraphs=1), BUNDLE, VERIFY)
    assert len(jobs_of_backend(service)) == 2


def test_bundles_of_one_author_for_several_tasks_are_one_contestant(opened: Opening) -> None:
    service = opened()
    second = replace(BUNDLE, helpers=())
    for file in (
        recorded(job(0), job(1), run_id="r-1", speedup=2.0),
        recorded(job(0, task_id="other", bundle=second), run_id="r-2", speedup=0.5, verdict=Verdict.SLOWER),
        recorded(job(2), run_id="r-3", speedup=1.0, verdict=Verdict.CRASHED),
    ):
        service.import_run(exchange.written(file))
    board = service.boards()[0]
    assert board.task_ids == ("other", "relu")
    (line,) = ranked(board, 0)
    assert line.contestant.name == "me bundles"
    assert line.score == pytest.approx((2.0 * 2.0 * 0.5 * 0.1) ** 0.25)
    assert {each.title for each in service.boards("relu")} == {"relu"}


def test_scores_are_computed_from_the_stored_outcomes(opened: Opening) -> None:
    service = opened()
    verdicts = [Verdict.FASTER, Verdict.SLOWER, Verdict.WRONG_VALUES, Verdict.CRASHED, Verdict.VALUES_ONLY]
    jobs = [job(number) for number in range(len(verdicts))]
    answers = tuple(outcome(each, verdict, speedup=2.0) for each, verdict in zip(jobs, verdicts))
    run = replace(run_of(*jobs, run_id="r-1"), recorded="elsewhere")
    service.import_run(exchange.written(RunFile(run, (BUNDLE,), answers)))
    (report,) = score_reports(service.outcomes("r-1"))
    assert report.samples == 4
    figures = {level.t: level.es for level in report.levels}
    assert figures[0] == pytest.approx((2 * 2 * 0.1 * 0.1) ** 0.25)
    assert figures[1] == pytest.approx((2 * 2 * 1 * 0.1) ** 0.25)
    (standing,) = [each for each in service.standings() if each.subgraph_id == "float32/0"]
    assert (standing.attempts, standing.right, standing.best_speedup, standing.best_run_id) == (1, 1, 2.0, "r-1")


def test_the_header_of_an_exported_file_is_the_run(opened: Opening) -> None:
    service = opened()
    run_id = service.submit(task(), None, VERIFY)
    service.wait(run_id)
    from passnet_core.records import Run

    header = json.loads(service.export_run(run_id).splitlines()[0])
    assert from_json(Run, header["run"]) == service.run(run_id)


def test_the_service_gets_verdicts_from_the_real_judge(tmp_path: Path) -> None:
    """Check a pass that matches and one that a rule rejects, through the local backend."""
    code = (
        "import torch\n\n\n"
        "def pattern(x):\n    return torch.nn.functional.relu(x)\n\n\n"
        "def replacement_args(x):\n    return (x,)\n\n\n"
        "@torch.fx.wrap\ndef same(x):\n    return x\n\n\n"
        "def replacement_func():\n    return same\n"
    )
    matching = Bundle((PassFile("Relu.py", code),))
    rejected = Bundle((PassFile("Relu.py", code.replace("return x\n", "return torch.relu(x)\n", 1)),))
    service = open_service(settings_in(tmp_path))
    try:
        spec = EvalSpec(stage=Stage.CHECK, device=service.device().device)
        (matched,) = service.evaluate(task(), matching, spec, subgraph_ids=["float32/0"])
        assert matched.verdict is Verdict.MATCHED
        (refused,) = service.evaluate(task(), rejected, spec, subgraph_ids=["float32/0"])
        assert (refused.verdict, refused.findings[0].file) == (Verdict.REJECTED, "Relu.py")
        assert service.device().environment == refused.environment
        (kept,) = service.runs(checks=True)[0].counts
        assert kept == (Verdict.REJECTED, 1)
    finally:
        service.close()


def test_the_service_can_be_imported_without_the_apps_packages() -> None:
    code = """
import sys
for name in ("duckdb", "numpy", "streamlit", "altair", "graphviz", "pandas"):
    sys.modules[name] = None  # importing it fails
import passnet_core.service, tools.recording
"""
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True, timeout=seconds(60))
