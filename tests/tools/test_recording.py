"""Recording measures part by part and resumes, and a new store loads the files it writes."""

import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.core import core
from passnet_core.corpus.layout import write_task
from passnet_core.corpus.solved import read_solved
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import (
    CLOCK_VERSION,
    Baseline,
    Capture,
    Clock,
    Contender,
    Device,
    Job,
    Outcome,
    SolverKind,
    Stage,
    Timing,
    Verdict,
)
from passnet_core.service import open_service, read_references
from passnet_core.settings import Settings, rules_file
from passnet_core.store import exchange
from tests.contract.made import BUNDLE, MEASURE, job, of_clock, outcome, task
from tests.fake_backend import FAKE_ENVIRONMENT, FakeBackend
from tests.waiting import seconds
from tools.recording import RecordedPart, in_order, main, missing, parts_of, record, record_together, thinned

TIMED = (Verdict.FASTER, Verdict.SLOWER, Verdict.NO_DIFFERENCE)


def clock_of(outcome: Outcome) -> int:
    assert outcome.environment is not None
    return outcome.environment.clock_version


def timed(job: Job) -> Outcome:
    return outcome(job, Verdict.FASTER, speedup=2.0)


def test_every_timing_is_thinned_and_keeps_its_median() -> None:
    samples = tuple(10 + number / 300 for number in range(200))
    timing = Timing(Contender.EAGER, Clock.EVENT, samples, 5, 10.3333)
    (thin,) = thinned(replace(timed(job()), timings=(timing,)), 10).timings
    assert thin.samples == tuple(round(sample, 2) for sample in samples[::20])
    assert (thin.median, thin.blocks) == (10.3333, 5)
    assert thinned(timed(job()), 10).timings[0].samples == (10.25, 10.5, 11.0)


def test_a_recording_resumes_and_fills_a_new_store(tmp_path: Path) -> None:
    parts = [RecordedPart("inductor", task(), None, MEASURE), RecordedPart("relu", task("other"), BUNDLE, MEASURE)]
    data = tmp_path / "data"
    out = data / "baselines"
    backend = FakeBackend(timed, Device.CUDA)
    assert record(parts, out, Scheduler(backend), until=time.monotonic() - 1) == 0
    assert record(parts[:1], out, Scheduler(backend)) == 1
    assert record(parts, out, Scheduler(backend)) == 1
    assert len(backend.jobs) == 6
    assert sorted(path.name for path in out.iterdir()) == [
        "inductor-cuda-direct-relu.jsonl.gz",
        "relu-cuda-direct-other.jsonl.gz",
    ]
    # concatenated files are a valid run file
    whole = b"".join(path.read_bytes() for path in sorted(out.iterdir()))
    for path in tuple(out.iterdir()):
        path.unlink()
    (out / "all.jsonl.gz").write_bytes(whole)
    service = open_service(Settings(tmp_path / "home", data, Path(sys.executable)), backend=backend)
    assert service.problems == ()
    assert {summary.run.solver for summary in service.runs()} == {SolverKind.INDUCTOR, SolverKind.PASSES}
    assert all(summary.run.recorded.startswith("fake device, 20") for summary in service.runs())
    assert len(service.boards()) == 2
    service.close()


def test_an_interrupted_task_resumes_at_its_next_subgraph(tmp_path: Path) -> None:
    part = RecordedPart("inductor", task(), None, MEASURE)
    first, second, third = (subgraph.id for subgraph in task().subgraphs)

    def failing_at(name: str) -> Scheduler:
        def answer(job: Job) -> Outcome:
            return outcome(job, Verdict.INFRASTRUCTURE) if job.subgraph.id == name else timed(job)

        return Scheduler(FakeBackend(answer, Device.CUDA))

    with pytest.raises(InfrastructureError):
        record([part], tmp_path, failing_at(second))
    (begun,) = tmp_path.iterdir()
    with begun.open("a") as lines:
        lines.write('\n{"job_digest": "cut sho')  # as after a power failure
    with pytest.raises(InfrastructureError):
        record([part], tmp_path, failing_at(third))
    backend = FakeBackend(timed, Device.CUDA)
    assert record([part], tmp_path, Scheduler(backend)) == 1
    assert [job.subgraph.id for job in backend.jobs] == [third]
    (path,) = tmp_path.iterdir()
    (held,) = exchange.read_file(path)[1]
    assert [each.subgraph_id for each in held.outcomes] == [first, second, third]


def test_a_part_begun_on_another_machine_is_begun_again(tmp_path: Path) -> None:
    part = RecordedPart("inductor", task(), None, MEASURE)

    def elsewhere(job: Job) -> Outcome:
        if job.subgraph == task().subgraphs[2]:
            return outcome(job, Verdict.INFRASTRUCTURE)
        return replace(timed(job), environment=replace(FAKE_ENVIRONMENT, driver="another"))

    with pytest.raises(InfrastructureError):
        record([part], tmp_path, Scheduler(FakeBackend(elsewhere, Device.CUDA)))
    backend = FakeBackend(timed, Device.CUDA)
    assert record([part], tmp_path, Scheduler(backend)) == 1
    assert len(backend.jobs) == 3


def test_time_ends_a_task_between_two_subgraphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = RecordedPart("inductor", task(), None, MEASURE)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def taking_ten_seconds(job: Job) -> Outcome:
        now[0] += 10
        return timed(job)

    backend = FakeBackend(taking_ten_seconds, Device.CUDA)
    assert record([part], tmp_path, Scheduler(backend), until=15) == 0
    assert len(backend.jobs) == 2
    assert record([part], tmp_path, Scheduler(backend)) == 1
    assert len(backend.jobs) == 3


def test_the_order_of_tasks_does_not_follow_their_names() -> None:
    names = [f"{kind}-{number}" for kind in ("conv", "softmax") for number in range(20)]
    parts = [
        RecordedPart("inductor", task(name), None, replace(MEASURE, capture=capture))
        for capture in Capture
        for name in names
    ]
    parts.append(RecordedPart("relu", task("softmax-7"), BUNDLE, MEASURE))
    found = in_order(parts)
    assert {part.task.id for part in found[:3]} == {"softmax-7"}
    assert in_order(parts[::-1])[0].task.id == "softmax-7"
    order = list(dict.fromkeys(part.task.id for part in found))
    assert order == list(dict.fromkeys(part.task.id for part in in_order(parts[::-1])))
    assert sorted(order) == sorted(names)
    assert [part.task.id for part in found[3:]] == [name for name in order[1:] for _ in Capture]
    assert 4 <= sum(name.startswith("conv") for name in order[:20]) <= 16


def test_parts_in_run_files_are_not_measured_again(tmp_path: Path) -> None:
    parts = [RecordedPart("inductor", task(name), None, MEASURE) for name in ("a", "b")]
    parts.append(RecordedPart("relu", task("a"), BUNDLE, MEASURE))
    record([parts[0], parts[2]], tmp_path, Scheduler(FakeBackend(timed, Device.CUDA)))
    files = sorted(tmp_path.iterdir())
    assert missing(parts, files) == [parts[1]]
    assert missing(parts, files[:1]) == parts[1:]
    older, *_ = (exchange.read_file(each)[1][0] for each in files)
    timed_before = tuple(of_clock(1, each) for each in older.outcomes)
    exchange.write_file(files[0], [replace(older, outcomes=timed_before)])
    assert missing(parts, files) == parts[:2], "its times are of an older clock version"
    otherwise = replace(parts[0], spec=replace(MEASURE, capture=Capture.COMPILED))
    changed = replace(parts[0], task=replace(task("a"), subgraphs=task("a").subgraphs[1:]))
    assert missing([otherwise, changed], files) == [otherwise, changed]
    files[0].write_bytes(b"nonsense")
    with pytest.raises(BadInput, match=f"--have {files[0]}: it cannot be read"):
        missing(parts, files)


def test_recordings_into_one_folder_share_the_work(tmp_path: Path) -> None:
    parts = [RecordedPart("inductor", task(name), None, MEASURE) for name in ("a", "b", "c", "d")]
    inner, outer = FakeBackend(timed, Device.CUDA), FakeBackend(timed, Device.CUDA)

    def begin_another(job: Job) -> Outcome:
        # while the outer recording judges its first part, the inner one claims all others
        record(parts, tmp_path, Scheduler(inner))
        return timed(job)

    outer.answer = begin_another
    assert record(parts, tmp_path, Scheduler(outer)) == 1
    assert {each.subgraph.task_id for each in outer.jobs} == {"a"}
    assert {each.subgraph.task_id for each in inner.jobs} == {"b", "c", "d"}
    assert len(inner.jobs) == 9
    assert len(list(tmp_path.iterdir())) == 4


def test_several_judges_of_one_machine_share_the_work(tmp_path: Path) -> None:
    parts = [RecordedPart("inductor", task(f"task-{number}"), None, MEASURE) for number in range(8)]
    meeting = threading.Barrier(2, timeout=seconds(60))

    def together(job: Job) -> Outcome:
        if job.subgraph.task_id in ("task-0", "task-1"):
            meeting.wait()  # neither judge continues before the other has a task of its own
        return timed(job)

    backend = FakeBackend(together, Device.CUDA, judges=2)
    assert record_together(parts, tmp_path, Scheduler(backend), kept_samples=3) == 8
    assert len(list(tmp_path.iterdir())) == 8
    assert len(backend.jobs) == 8 * len(task().subgraphs)


def test_a_judge_in_trouble_ends_the_recording_and_scores_nothing(tmp_path: Path) -> None:
    backend = FakeBackend(lambda job: outcome(job, Verdict.INFRASTRUCTURE), Device.CUDA)
    with pytest.raises(InfrastructureError, match="float32/0: because"):
        record([RecordedPart("inductor", task(), None, MEASURE)], tmp_path, Scheduler(backend))
    assert list(tmp_path.iterdir()) == []


def test_only_what_the_machine_spoiled_is_judged_again(tmp_path: Path) -> None:
    part = RecordedPart("inductor", task(subgraphs=1), None, MEASURE)

    def judged_times(first: Outcome, folder: str) -> int:
        answers = [first]
        backend = FakeBackend(lambda job: answers.pop() if answers else timed(job), Device.CUDA)
        assert record([part], tmp_path / folder, Scheduler(backend)) == 1
        return len(backend.jobs)

    (unsteady,) = jobs_of(part.task, None, part.spec)
    inconclusive = replace(timed(unsteady), verdict=Verdict.INCONCLUSIVE, speedups=())
    assert inconclusive.timings
    assert judged_times(inconclusive, "unsteady") == 2
    assert judged_times(replace(inconclusive, timings=()), "ranks nobody") == 1
    assert judged_times(outcome(unsteady, Verdict.INFRASTRUCTURE), "machine") == 2


def test_memory_that_judges_share_is_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [RecordedPart("inductor", task(name, subgraphs=1), None, MEASURE) for name in ("large", "small")]

    def short_of_memory(job: Job) -> Outcome:
        found = replace(outcome(job, Verdict.CRASHED), reason="It ran out of memory: OutOfMemoryError: 2 GiB.")
        return found if job.subgraph.task_id == "large" else timed(job)

    alone = FakeBackend(short_of_memory, Device.CUDA)
    assert record(parts, tmp_path / "alone", Scheduler(alone)) == 2
    together = FakeBackend(short_of_memory, Device.CUDA, judges=2)
    assert record(parts, tmp_path / "together", Scheduler(together)) == 1
    assert [path.name for path in (tmp_path / "together").iterdir()] == ["inductor-cuda-direct-small.jsonl.gz"]
    assert "Left out: large" in capsys.readouterr().out


def test_parts_cover_inductor_and_each_bundle_on_its_tasks(tmp_path: Path) -> None:
    for name in ("relu", "other"):
        write_task(task(name), tmp_path / "tasks" / name)
    folder = tmp_path / "bundles" / "good"
    folder.mkdir(parents=True)
    (folder / "Relu.py").write_text("def pattern(x): ...\n")
    (folder / "sorted_output_pass_rule_names.json").write_text('["Relu"]')
    (folder / "about.json").write_text('{"title": "Relu", "description": "One kernel.", "tasks": ["relu"]}')
    corpus = Corpus([tmp_path / "tasks"])
    asked = partial(
        parts_of, corpus, tmp_path / "bundles", solvers=list(SolverKind), captures=[Capture.COMPILED], trials=7
    )
    assert list(asked(split="eval")) == []
    parts = list(asked(split=task().split))
    assert parts == list(asked())
    assert [part.file_name for part in parts] == [
        "inductor-cuda-compiled-other.jsonl.gz",
        "inductor-cuda-compiled-relu.jsonl.gz",
        "good-cuda-compiled-relu.jsonl.gz",
    ]


def test_the_core_and_the_other_baseline_are_recorded_into_files_of_their_own(tmp_path: Path) -> None:
    for name in ("relu", "other"):
        write_task(replace(task(name), split="eval" if name == "relu" else "train"), tmp_path / "tasks" / name)
    corpus = Corpus([tmp_path / "tasks"])
    asked = partial(parts_of, corpus, tmp_path, solvers=[SolverKind.INDUCTOR], captures=[Capture.DIRECT], trials=5)
    found = list(asked(core=True, baseline=Baseline.EAGER_ROUNDING))
    assert {part.task.id: part.task.subgraphs for part in found} == {each.id: each.subgraphs for each in core(corpus)}
    assert all(part.spec.baseline is Baseline.EAGER_ROUNDING for part in found)
    assert found[-1].file_name == "inductor-eager-rounding-cuda-direct-core-relu.jsonl.gz"
    beside = RecordedPart("good", task(), BUNDLE, found[0].spec)
    assert beside.file_name == "good-beside-inductor-eager-rounding-cuda-direct-relu.jsonl.gz"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--samples", "0"], "--samples must be at least 1"),
        (["--judges", "0"], "--judges must be at least 1"),
        (["--trials", "0"], "Trials must be at least 1"),
        (["--only", "no-such-task"], "nothing to measure"),
    ],
)
def test_wrong_flags_are_explained(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path / "out"), *flags]) == 2
    assert message in capsys.readouterr().err


def test_a_written_file_reads_back(tmp_path: Path) -> None:
    record([RecordedPart("relu", task(), BUNDLE, MEASURE)], tmp_path, Scheduler(FakeBackend(timed, Device.CUDA)))
    _, (file,) = exchange.read_file(tmp_path / "relu-cuda-direct-relu.jsonl.gz")
    assert file.bundles == (BUNDLE,)
    assert [each.subgraph_id for each in file.outcomes] == ["float32/0", "float32/1", "float32/2"]


def test_the_cpu_records_the_values_of_passes(tmp_path: Path) -> None:
    write_task(task("relu"), tmp_path / "tasks" / "relu")
    corpus = Corpus([tmp_path / "tasks"])
    (part,) = parts_of(
        corpus, tmp_path, solvers=[SolverKind.INDUCTOR], captures=[Capture.DIRECT], trials=5, device=Device.CPU
    )
    assert (part.spec.stage, part.spec.device) == (Stage.VERIFY, Device.CPU)
    assert part.file_name == "inductor-cpu-direct-relu.jsonl.gz"


def test_the_bundled_recordings_fit_the_bundled_tasks_and_bundles(tmp_path: Path) -> None:
    data = Path(__file__).resolve().parents[2] / "data"
    recorded = [
        file for path in sorted((data / "baselines").glob("*.jsonl.gz")) for file in exchange.read_file(path)[1]
    ]
    corpus = Corpus([data / "tasks"])
    references, problems = read_references(data / "bundles")
    assert problems == ()
    known = {reference.bundle.digest for reference in references}
    solved = {(task_id, bundle.digest) for task_id, bundle in read_solved(rules_file()).items()}
    by_rules = [file for file in recorded if file.run.label == "rules"]
    cores = {task.id: {subgraph.digest for subgraph in task.subgraphs} for task in core(corpus)}
    for file in by_rules:
        (task_id,) = file.run.task_ids
        assert {outcome.subgraph_digest for outcome in file.outcomes} == cores[task_id], file.run.label
        # older ones are of what the rules wrote then
        now = {clock_of(outcome) for outcome in file.outcomes} == {CLOCK_VERSION}
        assert not now or (task_id, file.run.bundle_digest) in solved, file.run.label
    recorded = [file for file in recorded if file.run.label != "rules"]
    assert {file.run.bundle_digest for file in recorded} - {None} == known
    for file in recorded:
        (task_id,) = file.run.task_ids
        digests = {subgraph.digest for subgraph in corpus.task(task_id).subgraphs}
        judged = {outcome.subgraph_digest for outcome in file.outcomes}
        assert judged in (digests, cores[task_id]), file.run.label
        if file.run.solver is SolverKind.PASSES:
            assert all(outcome.verdict.accepted for outcome in file.outcomes), file.run.label
    measured = [file for file in recorded if file.run.spec.stage is Stage.MEASURE]
    of_inductor = [file for file in measured if file.run.solver is SolverKind.INDUCTOR]
    kinds = [(file.run.task_ids[0], file.run.spec, min(map(clock_of, file.outcomes))) for file in of_inductor]
    assert len(set(kinds)) == len(kinds)
    on_inductor = [(file.run.task_ids[0], file.run.spec.capture) for file in of_inductor]
    in_folders = {summary.id for summary in corpus.tasks() if (data / "tasks" / summary.id).is_dir()}
    assert {task_id for task_id, capture in on_inductor if capture is Capture.DIRECT} >= in_folders
    assert {corpus.task(task_id).split for task_id, _ in on_inductor if task_id not in in_folders} == {"eval"}
    on_passes = {
        (file.run.bundle_digest, file.run.task_ids[0]) for file in measured if file.run.solver is SolverKind.PASSES
    }
    assert on_passes == {(each.bundle.digest, task_id) for each in references for task_id in each.task_ids}
    for file in measured:
        timed = [each for each in file.outcomes if each.verdict in TIMED]
        assert timed or {each.verdict for each in file.outcomes} == {Verdict.INCONCLUSIVE}, file.run.label
        assert all(each.speedup() is not None for each in timed), file.run.label
