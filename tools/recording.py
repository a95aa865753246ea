"""Measure Inductor, the reference bundles and the bundles of the rules on the bundled subgraphs, into run files that a
new store loads.

Needs a CUDA machine with Python, torch, triton and this package, but no store and no app. On the CPU it records the
reference bundles' values, without times and scores. With several GPUs, start one process per GPU, each with its own
CUDA_VISIBLE_DEVICES and PASSNET_HOME and the same --out: they share the work. With --judges 4 a GPU is busy nearly all
the time: one judge measures while the others compile. The order of tasks looks random and is always the same, so that
the first ones are a fair sample. A later call with the same --out resumes at the subgraph where the last one ended, and
--have skips what other files hold.
"""

import argparse
import contextlib
import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.core import core as core_of
from passnet_core.corpus.solved import read_solved
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError
from passnet_core.execution.backends.base import DeviceInfo
from passnet_core.execution.backends.choosing import chosen_backend
from passnet_core.execution.jobs import jobs_of, new_run
from passnet_core.execution.scheduler import Scheduler
from passnet_core.judge.stages.verdict import FAULTS
from passnet_core.records import (
    CLOCK_VERSION,
    Baseline,
    Bundle,
    Capture,
    Device,
    Environment,
    EvalSpec,
    Job,
    Outcome,
    Profile,
    SolverKind,
    Stage,
    Task,
    Timing,
    Verdict,
    digest_of,
    to_json,
)
from passnet_core.service import corpus_of, read_references
from passnet_core.settings import read_settings
from passnet_core.store import exchange

MOST_FAILED = 3
"""How many parts the judge may fail at before the recording ends."""

RULES = "rules"

KEPT_SAMPLES = 10
"""Raw samples kept per contender and clock: enough to show their spread, few enough for a small file."""


@dataclass(frozen=True)
class RecordedPart:
    """The contents of one file: one solver on one task. name: the reference bundle's, the baseline's, or "rules". core:
    whether the task holds only its subgraph of the core. way: which candidate of the rules this is, if there are
    several to tell apart."""

    name: str
    task: Task
    bundle: Bundle | None
    spec: EvalSpec
    core: bool = False
    way: str = ""

    @property
    def file_name(self) -> str:
        beside = self.bundle is not None and self.spec.baseline is not Baseline.INDUCTOR
        solver = f"{self.name}-beside-{self.spec.baseline.value}" if beside else self.name
        solver += f"-{self.way}" if self.way else ""
        task = f"core-{self.task.id}" if self.core else self.task.id
        return f"{solver}-{self.spec.device.value}-{self.spec.capture.value}-{task}.jsonl.gz"


def record(
    parts: Sequence[RecordedPart],
    folder: Path,
    scheduler: Scheduler,
    *,
    kept_samples: int = KEPT_SAMPLES,
    until: float | None = None,
) -> int:
    """Judge each part that has no file in the folder yet, and return how many files were written.

    Several processes, one per GPU, may share a folder: each claims a part before judging it. Outcomes of an unfinished
    part are kept in the folder, and count the next time if the environment is equal.

    until: time on the monotonic clock after which no further subgraph begins. Parts that the judge fails at are left
    out and named; raises InfrastructureError if no part succeeds. Left out is also a part for which memory ran out
    beside other judges, which says nothing about it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    info = scheduler.here
    if info.problem:
        raise InfrastructureError(info.problem)
    count = 0
    failures: list[InfrastructureError] = []
    for part in parts:
        path = folder / part.file_name
        if path.exists():
            continue
        if until is not None and time.monotonic() > until:
            break
        with _claimed(path) as mine:
            if not mine:
                continue
            try:
                count += _record_one(part, path, scheduler, info, kept_samples, until)
            except InfrastructureError as error:
                print(f"Left out: {error}", flush=True)
                if isinstance(error, Crowded):
                    continue
                failures.append(error)
                if len(failures) > MOST_FAILED:
                    break
    if failures and not count:
        raise failures[0]
    return count


def record_together(
    parts: Sequence[RecordedPart], folder: Path, scheduler: Scheduler, *, kept_samples: int, until: float | None = None
) -> int:
    """Do what record does with all judges at once: of those that share a GPU, one measures while the others compile."""

    def share(number: int) -> int:
        return record(parts, folder, scheduler, kept_samples=kept_samples, until=until)

    judges = scheduler.capacity().judges
    with ThreadPoolExecutor(judges) as threads:
        return sum(threads.map(share, range(judges)))


@contextlib.contextmanager
def _claimed(path: Path) -> Iterator[bool]:
    """Claim a file: yield whether this process alone makes it. A claim ends with its process, however that ends."""
    claim = path.with_suffix(".claim")
    with claim.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            # another process may have made the file since the caller looked
            yield not path.exists()
        finally:
            claim.unlink(missing_ok=True)


def _record_one(
    part: RecordedPart, path: Path, scheduler: Scheduler, info: DeviceInfo, kept_samples: int, until: float | None
) -> bool:
    """Judge a part and write its file. Return False if time ran out. Raises InfrastructureError if the judge fails."""
    jobs = jobs_of(part.task, part.bundle, part.spec)
    run = new_run(jobs, label=part.name)
    run = replace(run, recorded=f"{info.label}, {run.started_at[:10]}")
    begun = path.with_suffix(".begun")
    found = _begun(begun, info.environment)
    for job in jobs:
        if job.digest in found:
            continue
        if until is not None and time.monotonic() > until:
            return False
        outcome = _outcome(job, scheduler)
        found[job.digest] = thinned(outcome, kept_samples)
        with begun.open("a", encoding="utf-8") as lines:
            # the line break comes first, so that a line cut short before stays apart
            lines.write("\n" + json.dumps(to_json(found[job.digest])))
        print(f"{part.name} {part.task.id} {job.subgraph.id}: {_line(outcome)}", flush=True)
    bundles = () if part.bundle is None else (part.bundle,)
    growing = path.with_suffix(".part")
    exchange.write_file(growing, [exchange.RunFile(run, bundles, tuple(found[job.digest] for job in jobs))])
    os.replace(growing, path)
    begun.unlink(missing_ok=True)
    return True


def _begun(path: Path, environment: Environment | None) -> dict[str, Outcome]:
    """Read the outcomes of an unfinished part that this environment made, by the digests of their jobs."""
    return {each.job_digest: each for each in exchange.read_outcomes(path) if each.environment == environment}


class Crowded(InfrastructureError):
    """There was too little memory, which several judges share."""


def _outcome(job: Job, scheduler: Scheduler) -> Outcome:
    """Judge a job, and once more if the machine spoiled the outcome. Raises InfrastructureError if that fails too."""
    outcome = scheduler.judge(job, lambda event: None, threading.Event())
    # an inconclusive outcome without times has a reason that judging again would not change
    unsteady = outcome.verdict is Verdict.INCONCLUSIVE and outcome.timings
    if unsteady or outcome.verdict is Verdict.INFRASTRUCTURE or _is_crowded(outcome, scheduler):
        outcome = scheduler.judge(job, lambda event: None, threading.Event())
    named = f"{job.subgraph.task_id} {job.subgraph.id}: {outcome.reason}"
    if _is_crowded(outcome, scheduler):
        raise Crowded(f"{named.rstrip('.')}. Other judges share the memory: record it with --judges 1.")
    if outcome.verdict is Verdict.INFRASTRUCTURE:
        raise InfrastructureError(named)
    return outcome


def _is_crowded(outcome: Outcome, scheduler: Scheduler) -> bool:
    """Whether memory ran out while other judges may have had it."""
    verdict, words = FAULTS["memory"]
    short = outcome.verdict is verdict and outcome.reason.startswith(words)
    return short and scheduler.capacity().judges > 1


def thinned(outcome: Outcome, kept: int) -> Outcome:
    """Return the outcome with at most `kept` samples per timing, evenly spread, to 0.01 microseconds; medians stay."""
    return replace(outcome, timings=tuple(_thinned(timing, kept) for timing in outcome.timings), log_tail="")


def _thinned(timing: Timing, kept: int) -> Timing:
    step = max(1, -(-len(timing.samples) // kept))
    return replace(timing, samples=tuple(round(sample, 2) for sample in timing.samples[::step]))


def _line(outcome: Outcome) -> str:
    speedup = outcome.speedup()
    figure = "" if speedup is None else f", {speedup.value:.3f} times eager's speed"
    return f"{outcome.verdict.value}{figure} ({outcome.wall_s:.1f} s)"


def missing(parts: Sequence[RecordedPart], files: Sequence[Path]) -> list[RecordedPart]:
    """Return the parts that no run file holds completely under the same spec, with times of this clock version if it
    has times. Raises BadInput for unreadable files."""
    held = set()
    for path in files:
        try:
            _, found = exchange.read_file(path)
        except BadInput as error:
            raise BadInput(f"--have {path}: {error}") from error
        for file in found:
            if any(_outdated(outcome) for outcome in file.outcomes):
                continue
            (task_id,) = file.run.task_ids
            judged_here = frozenset(outcome.subgraph_digest for outcome in file.outcomes)
            held.add((task_id, file.run.bundle_digest, file.run.spec, judged_here))
    return [
        part
        for part in parts
        if (
            part.task.id,
            part.bundle.digest if part.bundle else None,
            part.spec,
            frozenset(subgraph.digest for subgraph in part.task.subgraphs),
        )
        not in held
    ]


def _outdated(outcome: Outcome) -> bool:
    """Whether this outcome was to be timed, and by an older clock version."""
    made = outcome.environment
    return outcome.spec.stage is Stage.MEASURE and made is not None and made.clock_version != CLOCK_VERSION


def parts_of(
    corpus: Corpus,
    bundles_folder: Path,
    *,
    solvers: Sequence[SolverKind],
    captures: Sequence[Capture],
    trials: int,
    device: Device = Device.CUDA,
    baseline: Baseline = Baseline.INDUCTOR,
    split: str = "",
    core: bool = False,
    rules: Mapping[str, Bundle] | None = None,
    ways: bool = False,
) -> Iterator[RecordedPart]:
    """Yield the baseline on every task, then every reference bundle on each of its tasks, then the bundles of the
    rules, by task id, or with ways, each of their candidates for the tasks that have several. split: only tasks of this
    split, if given. core: only the subgraphs of the core. Raises BadInput for a broken bundle."""
    references, problems = read_references(bundles_folder)
    if problems:
        raise BadInput(problems[0])
    stage = Stage.MEASURE if device is Device.CUDA else Stage.VERIFY
    chosen = (corpus.task(each.id) for each in corpus.tasks() if split in ("", each.split))
    tasks = [each for each in core_of(corpus) if split in ("", each.split)] if core else list(chosen)
    for capture in captures:
        spec = EvalSpec(stage, device, capture, Profile.STRICT, trials, baseline=baseline)
        if SolverKind.INDUCTOR in solvers:
            yield from (RecordedPart(baseline.value, task, None, spec, core) for task in tasks)
        if SolverKind.PASSES in solvers:
            for reference in references:
                for task in (each for each in tasks if each.id in reference.task_ids):
                    yield RecordedPart(reference.name, task, reference.bundle, spec, core)
        for task in tasks:
            if rules and task.id in rules:
                yield RecordedPart(RULES, task, rules[task.id], spec, core)
            elif ways and len(found := _candidates(corpus.task(task.id))) > 1:
                yield from (RecordedPart(RULES, task, bundle, spec, core, name) for name, bundle in found)


def _candidates(task: Task) -> list[tuple[str, Bundle]]:
    """The ways in which the rules write a task's bundle, by name."""
    # a machine that only records may lack what drawing and scoring need
    from passnet_core.solvers.rules.candidates import candidates

    try:
        return [(each.name, each.bundle) for each in candidates(task)]
    except BadInput:
        return []


def in_order(parts: Sequence[RecordedPart]) -> list[RecordedPart]:
    """Put tasks with a reference bundle first, since solvers can be compared on them. Order the others by a digest, so
    that the first ones are a fair sample. All parts of a task stay together."""
    solved = {part.task.id for part in parts if part.bundle is not None}
    return sorted(parts, key=lambda part: (part.task.id not in solved, digest_of(part.task.id)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.recording", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the run files; existing files are kept")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="record only these tasks or reference bundles")
    parser.add_argument("--split", default="", help="record only the tasks of this split, such as eval")
    parser.add_argument(
        "--judges", type=int, default=1, metavar="N", help="judges at once, each with some GB of memory"
    )
    parser.add_argument(
        "--device", choices=[each.value for each in Device], default="cuda", help="cpu records values only"
    )
    parser.add_argument("--capture", choices=[each.value for each in Capture], help="default: both; on the CPU: direct")
    parser.add_argument(
        "--solver",
        choices=[*(each.value for each in SolverKind), RULES],
        help="default: TorchInductor and the reference bundles; on the CPU: these bundles; rules: what the rules wrote",
    )
    parser.add_argument(
        "--ways",
        action="store_true",
        help="with --solver rules: not what data/solved holds, but each candidate of the tasks that have several",
    )
    parser.add_argument(
        "--baseline", choices=[each.value for each in Baseline], default="inductor", help="how TorchInductor compiles"
    )
    parser.add_argument("--core", action="store_true", help="record only the core: one subgraph of each of its tasks")
    parser.add_argument("--trials", type=int, default=EvalSpec().trials, help="timed blocks")
    parser.add_argument("--samples", type=int, default=KEPT_SAMPLES, help="raw samples to keep per contender and clock")
    parser.add_argument("--have", type=Path, nargs="+", default=[], metavar="FILE", help="run files with parts to skip")
    parser.add_argument("--within", type=float, metavar="SECONDS", help="begin no further subgraph after this time")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    try:
        if options.samples < 1:
            raise BadInput(f"--samples must be at least 1, not {options.samples}.")
        if options.judges < 1:
            raise BadInput(f"--judges must be at least 1, not {options.judges}.")
        settings = read_settings()
        corpus = corpus_of(settings)
        device = Device(options.device)
        on_cpu = device is Device.CPU
        solvers = [SolverKind.PASSES] if on_cpu else list(SolverKind)
        if options.solver:
            solvers = [] if options.solver == RULES else [SolverKind(options.solver)]
        captures = [Capture.DIRECT] if on_cpu else list(Capture)
        parts = list(
            parts_of(
                corpus,
                settings.data / "bundles",
                solvers=solvers,
                captures=[Capture(options.capture)] if options.capture else captures,
                trials=options.trials,
                device=device,
                baseline=Baseline(options.baseline),
                split=options.split,
                core=options.core,
                rules=read_solved(settings.rules_file) if options.solver == RULES and not options.ways else None,
                ways=options.solver == RULES and options.ways,
            )
        )
        parts = in_order(parts)
        if options.only:
            parts = [part for part in parts if {part.name, part.task.id} & set(options.only)]
        if parts and not (parts := missing(parts, options.have)):
            print("Nothing is left to measure: the files of --have hold all parts.")
            return 0
        if not parts:
            raise BadInput("There is nothing to measure. Check --only, and that the data folder has tasks.")
        here = chosen_backend(settings, judges=options.judges, checkers=0)
        with contextlib.closing(Scheduler(here)) as scheduler:
            count = record_together(
                parts,
                options.out,
                scheduler,
                kept_samples=options.samples,
                until=None if options.within is None else started + options.within,
            )
    except InfrastructureError as error:
        print(error, file=sys.stderr)
        return 3
    except PlaygroundError as error:
        print(error, file=sys.stderr)
        return 2
    left = sum(not (options.out / part.file_name).exists() for part in parts)
    print(f"{count} files written to {options.out}, {left} of {len(parts)} still to measure.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
