"""python -m tests.benchmarks.verdicts says how long a verdict takes on this machine's GPU, and where the time goes.

Each job is a bundle that no judge has seen, on a subgraph that it knows: a reference bundle with an edit. One job
follows the other without a pause, with one judge; VERIFY alone also with more judges at once."""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from threading import Event

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.execution.backends.base import JobEvent
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Bundle, Capture, Device, EvalSpec, Job, Outcome, Phase, Stage, Subgraph
from passnet_core.service import corpus_of, read_references
from passnet_core.settings import read_settings

JOBS = 20
WARM_UP_JOBS = 2
JUDGES = (2, 4)


@dataclass(frozen=True)
class Judged:
    """seconds: from the request to the outcome. phases: seconds spent in each phase. steps: seconds until each event,
    with its words."""

    outcome: Outcome
    seconds: float
    phases: Mapping[Phase, float]
    steps: tuple[tuple[float, str], ...]


def judged(backend: LocalBackend, job: Job) -> Judged:
    """Judge one job, and note when each of its events came."""
    start = time.perf_counter()
    came: list[tuple[float, JobEvent]] = []
    outcome = backend.run(job, lambda event: came.append((time.perf_counter() - start, event)), Event())
    seconds = time.perf_counter() - start
    phases: dict[Phase, float] = {}
    last, phase = 0.0, Phase.START
    for at, event in came:
        phases[phase] = phases.get(phase, 0.0) + at - last
        last, phase = at, phase if event.phase is Phase.LOG else event.phase
    phases[phase] = phases.get(phase, 0.0) + seconds - last
    return Judged(outcome, seconds, phases, tuple((at, f"{event.phase}: {event.text}") for at, event in came))


def edited(job: Job, number: int) -> Job:
    """The same job with the same passes, as a bundle that no judge has seen."""
    assert job.bundle is not None
    first, *others = job.bundle.passes
    changed = replace(first, code=f"{first.code}\n# edit {number} {time.time_ns()}\n")
    return replace(job, bundle=replace(job.bundle, passes=(changed, *others)))


def back_to_back(backend: LocalBackend, name: str, job: Job, count: int) -> None:
    """Print each job with its phases, then a row of the table, and then where the time of the median job went."""
    found: list[Judged] = []
    for number in range(WARM_UP_JOBS + count):
        found.append(one := judged(backend, edited(job, number)))
        phases = ", ".join(f"{phase.value} {seconds:.2f}" for phase, seconds in one.phases.items())
        said = "" if one.outcome.verdict.accepted else f" {one.outcome.reason}"
        print(f"  {name}: {one.seconds:.2f} s, {one.outcome.verdict.value}{said}; {phases}", flush=True)
    counted = sorted(found[WARM_UP_JOBS:], key=lambda each: each.seconds)
    typical = counted[len(counted) // 2]
    for at, words in typical.steps:
        print(f"    {at:6.2f} {words}")
    accepted = sum(each.outcome.verdict.accepted for each in counted)
    print(
        f"{name}: median {median(each.seconds for each in counted):.2f} s ({counted[0].seconds:.2f} to"
        f" {counted[-1].seconds:.2f}), {accepted} of {count} accepted",
        flush=True,
    )


def at_once(python: Path, isolation: str, job: Job, judges: int, count: int) -> str:
    """A row about several judges that share the device."""
    with tempfile.TemporaryDirectory() as folder:
        backend = LocalBackend(python, isolation, Path(folder), judges=judges, checkers=0)
        try:
            with ThreadPoolExecutor(judges) as threads:

                def several(jobs: int) -> float:
                    start = time.perf_counter()
                    made = threads.map(lambda each: judged(backend, edited(job, each)), range(jobs))
                    assert all(each.outcome.verdict.accepted for each in made)
                    return time.perf_counter() - start

                several(judges * WARM_UP_JOBS)
                seconds = several(count)
        finally:
            backend.close()
    return f"VERIFY, {judges} judges at once: {count / seconds:.2f} verdicts a second"


def asked(corpus: Corpus, data: Path, task: str) -> tuple[Subgraph, Bundle]:
    """The first subgraph of this task, and the reference bundle for it. Raises BadInput if there is none."""
    references, _ = read_references(data / "bundles")
    found = next((each for each in references if task in each.task_ids), None)
    if found is None:
        raise BadInput(f"There is no reference bundle for {task!r}.")
    return corpus.task(task).subgraphs[0], found.bundle


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.verdicts", description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--task", default="bloom-gelu-tanh")
    parser.add_argument("--device", choices=[each.value for each in Device], default="cuda")
    parser.add_argument("--capture", nargs="+", type=Capture, choices=list(Capture), default=list(Capture))
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    settings, device = read_settings(), Device(options.device)
    try:
        subgraph, bundle = asked(corpus_of(settings), settings.data, options.task)
    except BadInput as error:
        parser.error(str(error))
    stage = Stage.MEASURE if device is Device.CUDA else Stage.VERIFY
    with tempfile.TemporaryDirectory() as folder:
        backend = LocalBackend(settings.python, settings.isolation, Path(folder), checkers=0)
        try:
            if backend.info().device is not device and device is Device.CUDA:
                print("This machine has no CUDA device; nothing was measured.", file=sys.stderr)
                return 3
            for capture in options.capture:
                job = Job(subgraph, bundle, EvalSpec(stage, device, capture))
                back_to_back(backend, f"{stage.value}, {capture.value}", job, options.jobs)
            verify = Job(subgraph, bundle, EvalSpec(Stage.VERIFY, device))
            back_to_back(backend, "verify, direct", verify, options.jobs)
        finally:
            backend.close()
    for judges in JUDGES:
        print(at_once(settings.python, settings.isolation, verify, judges, options.jobs), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
