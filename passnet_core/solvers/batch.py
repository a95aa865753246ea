"""Run a solver over many tasks. Each attempt has its own folder, so that an interrupted batch can be continued.

FOLDER/TASK/NUMBER/trajectory.jsonl   the opening, a line per turn, written as it ends, and the ending
FOLDER/TASK/NUMBER/best/              the best bundle that was evaluated
FOLDER/outcomes.jsonl                 the outcomes of the best bundles, for `score --outcomes`"""

import contextlib
import json
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passnet_core.bundles.reading import write_bundle
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.jobs import jobs_of, new_run
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, EvalSpec, Outcome, Stage, Task, to_json
from passnet_core.records.trajectories import FORMAT, End, Ending, Trajectory, Turn, read_opening, read_trajectory
from passnet_core.scoring.published import published_line
from passnet_core.solvers.attempts import JudgeBench, clock_version_of, ending_of, opening_of
from passnet_core.solvers.base import Attempt, Solver, Watch
from passnet_core.store.base import Store
from passnet_core.store.rows import RunFile


@dataclass(frozen=True)
class Solved:
    """A finished attempt, as its folder records it."""

    task_id: str
    number: int
    ending: Ending


OnTurn = Callable[[Task, int, Turn], None]
OnAttempt = Callable[[Task, Trajectory, Attempt], None]


def solve(
    solver: Solver,
    tasks: Sequence[Task],
    scheduler: Scheduler,
    spec: EvalSpec,
    folder: Path,
    *,
    attempts: int = 1,
    cancelled: threading.Event,
    on_turn: OnTurn = lambda task, number, turn: None,
    on_attempt: OnAttempt = lambda task, trajectory, attempt: None,
) -> tuple[Solved, ...]:
    """Make the attempts that the folder lacks, as many at a time as there are judges, and return all finished ones.

    An attempt that was interrupted, or that ended with End.FAILED, starts again. attempts: the number per task. Both
    callbacks are called from several threads. Raises BadInput if the folder holds results of another baseline or clock
    version, InfrastructureError if it cannot be written."""
    _refuse_to_mix(folder, spec, clock_version_of(scheduler.here))
    wanted = [(task, number) for task in tasks for number in range(1, attempts + 1)]
    left = [each for each in wanted if (found := _ended(folder, *each)) is None or found.ending.end is End.FAILED]
    inspections, lock = Inspections(scheduler), threading.Lock()

    def make(task: Task, number: int) -> None:
        if cancelled.is_set():
            return
        owner = f"{task.id}/{number}"

        def judge(bundle: Bundle | None, spec: EvalSpec, stopped: threading.Event) -> tuple[Outcome, ...]:
            jobs = jobs_of(task, bundle, spec)
            return tuple(scheduler.judge(job, lambda event: None, stopped, owner=owner) for job in jobs)

        bench = JudgeBench(task, spec, judge, inspections, scheduler.here)
        opening = opening_of(task, solver, spec, scheduler.here, number)
        with _written(folder / task.id / str(number)) as (place, write):
            write(format=FORMAT, opening=to_json(opening))

            def told(turn: Turn) -> None:
                write(turn=to_json(turn))
                on_turn(task, number, turn)

            attempt = solver.solve(task, bench, Watch(cancelled, told))
            if attempt.end is End.STOPPED:
                return  # no ending is written: the same command makes this attempt again
            if attempt.best is not None:
                write_bundle(attempt.best, place / "best")
            with lock, (folder / "outcomes.jsonl").open("a", encoding="utf-8") as outcomes:
                outcomes.writelines(map(published_line, attempt.outcomes))
            ending = ending_of(attempt, len(task.subgraphs))
            write(ending=to_json(ending))
        on_attempt(task, Trajectory(opening, attempt.turns, ending), attempt)

    with (
        contextlib.closing(inspections),
        ThreadPoolExecutor(scheduler.capacity().judges) as threads,
        contextlib.ExitStack() as unless_done,
    ):
        # if one attempt raises, or a person interrupts, stop the others before waiting for them
        unless_done.callback(cancelled.set)
        for future in [threads.submit(make, *each) for each in left]:
            future.result()
        unless_done.pop_all()
    over = (_ended(folder, *each) for each in wanted)
    return tuple(each for each in over if each is not None)


def _refuse_to_mix(folder: Path, spec: EvalSpec, clock_version: int) -> None:
    """Raise BadInput if an attempt in the folder was judged by another baseline, or has times of another clock version:
    its result must neither be taken for that of this spec, nor stand beside it."""
    for path in sorted(folder.glob("*/*/trajectory.jsonl")):
        try:
            there = read_opening(path)
        except BadInput:
            continue
        if there.spec.baseline is not spec.baseline:
            old, new = there.spec.baseline.value, spec.baseline.value
            raise BadInput(
                f"{folder} holds results of the baseline {old!r}, which must not mix with those of {new!r}. Name"
                f" another folder with --out, or repeat --baseline {old}."
            )
        if Stage.MEASURE is there.spec.stage is spec.stage and there.clock_version != clock_version:
            raise BadInput(
                f"{folder} holds times of clock version {there.clock_version}, which cannot be compared with those of"
                f" version {clock_version}, taken now. Name another folder with --out."
            )


@contextlib.contextmanager
def _written(place: Path) -> Iterator[tuple[Path, Callable[..., None]]]:
    """The folder of a new attempt, and a function that appends a line to its record and flushes it."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(place / "best", ignore_errors=True)
        with (place / "trajectory.jsonl").open("w", encoding="utf-8") as file:

            def write(**line: Any) -> None:
                file.write(json.dumps(line, allow_nan=False) + "\n")
                file.flush()

            yield place, write
    except OSError as error:
        raise InfrastructureError(
            f"{place} cannot be written: {error.strerror}. Free disk space, then run the same command again."
        ) from error


def _ended(folder: Path, task: Task, number: int) -> Solved | None:
    """The attempt in this folder, or None if it has not ended."""
    try:
        found = read_trajectory(folder / task.id / str(number) / "trajectory.jsonl")
        return None if found.ending is None else Solved(task.id, number, found.ending)
    except BadInput:
        return None


def keep(store: Store, task: Task, trajectory: Trajectory, attempt: Attempt) -> None:
    """Store an attempt, and the outcomes of its best bundle, or of TorchInductor, as a run."""
    store.import_trajectory("", trajectory)
    if attempt.outcomes:
        opening = trajectory.opening
        run = new_run(jobs_of(task, attempt.best, opening.spec), label=opening.model)
        bundles = () if attempt.best is None else (attempt.best,)
        store.import_runs("", (RunFile(run, bundles, attempt.outcomes),))
