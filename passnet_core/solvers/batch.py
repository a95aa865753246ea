"""Run a solver over many tasks. Each attempt has its own folder, so that an interrupted batch can be continued.

FOLDER/TASK/NUMBER/trajectory.jsonl   the opening, a line per turn, written as it ends, and the ending
FOLDER/TASK/NUMBER/best/              the best bundle that was evaluated
FOLDER/TASK/NUMBER-1/                 an attempt that was made anew, if a bundle of it was accepted somewhere
FOLDER/outcomes.jsonl                 the outcomes of the best bundles, for `score --outcomes`"""

import contextlib
import itertools
import json
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from passnet_core.bundles.reading import judged_of, write_bundle
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.jobs import jobs_of, new_run
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, EvalSpec, Outcome, Stage, Task, to_json
from passnet_core.records.trajectories import (
    FORMAT,
    End,
    Ending,
    Opening,
    Trajectory,
    Turn,
)
from passnet_core.scoring.published import published_line
from passnet_core.solvers.attempts import JudgeBench, clock_version_of, ending_of, opening_of
from passnet_core.solvers.base import Attempt, Resumable, Solver, Watch
from passnet_core.solvers.trajectories import read_opening, read_trajectory
from passnet_core.store.base import Store
from passnet_core.store.rows import RunFile

RECORD = "trajectory.jsonl"


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
    at_once: int = 0,
    cancelled: threading.Event,
    on_turn: OnTurn = lambda task, number, turn: None,
    on_attempt: OnAttempt = lambda task, trajectory, attempt: None,
) -> tuple[Solved, ...]:
    """Make the attempts that the folder lacks, and return all finished ones.

    attempts: the number per task. at_once: how many are made at a time; 0: as many as there are judges.

    An attempt that was interrupted, or in which the model or its server failed, goes on after its last turn if the
    solver can do that, and else starts again; but one that was accepted on every subgraph is over. After a failure of
    the model's server no further attempt begins. Both callbacks are called from several threads. Raises BadInput if the
    folder holds results of another baseline, clock version or solver, InfrastructureError if it cannot be written."""
    _refuse_to_mix(folder, spec, clock_version_of(scheduler.here), solver.name)
    wanted = [(task, number) for task in tasks for number in range(1, attempts + 1)]
    left = [each for each in wanted if not _is_over(_ended(_place(folder, *each)))]
    inspections, lock, down = Inspections(scheduler), threading.Lock(), threading.Event()

    def make(task: Task, number: int) -> None:
        if cancelled.is_set() or down.is_set():
            return
        owner = f"{task.id}/{number}"

        def judge(bundle: Bundle | None, spec: EvalSpec, stopped: threading.Event) -> tuple[Outcome, ...]:
            jobs = jobs_of(task, bundle, spec)
            return tuple(scheduler.judge(job, lambda event: None, stopped, owner=owner) for job in jobs)

        bench = JudgeBench(task, spec, judge, inspections, scheduler.here)
        place = _place(folder, task, number)
        begun, going_on = Trajectory(opening_of(task, solver, spec, scheduler.here, number), (), None), solver
        if isinstance(solver, Resumable) and (before := _begun(place, begun.opening)) is not None:
            begun, going_on = before, solver.resumed(before.turns)
        with _written(place, begun) as write:

            def told(turn: Turn) -> None:
                write(turn=to_json(turn))
                on_turn(task, number, turn)

            attempt = going_on.solve(task, bench, Watch(cancelled, told))
            attempt = replace(attempt, turns=(*begun.turns, *attempt.turns))
            if attempt.end is End.SERVER:
                down.set()
            if attempt.best is not None:
                shutil.rmtree(place / "best", ignore_errors=True)
                write_bundle(attempt.best, place / "best", judged_of(task, attempt.outcomes))
            if attempt.end is End.STOPPED:
                return  # no ending is written: the same command goes on with this attempt
            if attempt.best is not None and not attempt.outcomes:
                # the best bundle is one from before the interruption
                attempt = replace(attempt, outcomes=bench.evaluate(attempt.best, cancelled))
            ending = ending_of(attempt, len(task.subgraphs))
            if not _goes_on(ending):
                with lock, (folder / "outcomes.jsonl").open("a", encoding="utf-8") as outcomes:
                    outcomes.writelines(map(published_line, attempt.outcomes))
            write(ending=to_json(ending))
        on_attempt(task, Trajectory(begun.opening, attempt.turns, ending), attempt)

    with (
        contextlib.closing(inspections),
        ThreadPoolExecutor(at_once or scheduler.capacity().judges) as threads,
        contextlib.ExitStack() as unless_done,
    ):
        # if one attempt raises, or a person interrupts, stop the others before waiting for them
        unless_done.callback(cancelled.set)
        for future in [threads.submit(make, *each) for each in left]:
            future.result()
        unless_done.pop_all()
    over = (_ended(_place(folder, *each)) for each in wanted)
    return tuple(each for each in over if each is not None)


def _refuse_to_mix(folder: Path, spec: EvalSpec, clock_version: int, name: str) -> None:
    """Raise BadInput if an attempt in the folder was judged by another baseline, has times of another clock version, or
    is over and another solver's: its result must neither be taken for one of these, nor stand beside them."""
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
        if there.model != name and _is_over(_ended(path.parent)):
            raise BadInput(
                f"{folder} holds results of {there.model!r}, which must not mix with those of {name!r}. Name another"
                f" folder with --out, or repeat --label {there.model}."
            )
        if Stage.MEASURE is there.spec.stage is spec.stage and there.clock_version != clock_version:
            raise BadInput(
                f"{folder} holds times of clock version {there.clock_version}, which cannot be compared with those of"
                f" version {clock_version}, taken now. Name another folder with --out."
            )


def _is_over(found: Solved | None) -> bool:
    """Whether an attempt need not go on."""
    return found is not None and (found.ending.solved or found.ending.end not in (End.FAILED, End.SERVER))


def _goes_on(ending: Ending) -> bool:
    """Whether an attempt waits for its model's server to work again, so that nothing of it counts yet."""
    return ending.end is End.SERVER and not ending.solved


def _begun(place: Path, opening: Opening) -> Trajectory | None:
    """The attempt in this folder, if it was one at the same task with the same solver and spec."""
    try:
        found = read_trajectory(place / RECORD)
    except BadInput:
        return None
    there = found.opening
    # an older record does not say which tools were offered
    tools = opening.tools if there.tools else ()
    alike = replace(opening, id=there.id, started_at=there.started_at, budget=there.budget, tools=tools)
    return found if found.turns and there == alike else None


@contextlib.contextmanager
def _written(place: Path, begun: Trajectory) -> Iterator[Callable[..., None]]:
    """Write the record of an attempt as far as it has come, and yield a function that appends a line and flushes it.
    What another attempt left here is kept beside it if a subgraph was accepted."""
    try:
        if not begun.turns:
            _keep_accepted(place)
        place.mkdir(parents=True, exist_ok=True)
        new = place / f"{RECORD}.new"
        with new.open("w", encoding="utf-8") as file:

            def write(**line: Any) -> None:
                file.write(json.dumps(line, allow_nan=False) + "\n")
                file.flush()

            write(format=FORMAT, opening=to_json(begun.opening))
            for turn in begun.turns:
                write(turn=to_json(turn))
            new.replace(place / RECORD)
            yield write
    except OSError as error:
        raise InfrastructureError(
            f"{place} cannot be written: {error.strerror}. Free disk space, then run the same command again."
        ) from error


def _keep_accepted(place: Path) -> None:
    """Give the folder of an earlier attempt another name if one of its bundles was accepted somewhere, and else empty
    it."""
    try:
        best = read_trajectory(place / RECORD).best
    except BadInput:
        best = None
    if best is not None and best.score is not None and best.score.accepted:
        number = next(number for number in itertools.count(1) if not place.with_name(f"{place.name}-{number}").exists())
        place.rename(place.with_name(f"{place.name}-{number}"))
    else:
        shutil.rmtree(place / "best", ignore_errors=True)


def _place(folder: Path, task: Task, number: int) -> Path:
    """The folder of an attempt."""
    return folder / task.id / str(number)


def _ended(place: Path) -> Solved | None:
    """The attempt in this folder, or None if it has not ended."""
    try:
        found = read_trajectory(place / RECORD)
        return None if found.ending is None else Solved(found.opening.task_id, found.opening.attempt, found.ending)
    except BadInput:
        return None


def keep(store: Store, task: Task, trajectory: Trajectory, attempt: Attempt) -> None:
    """Store an attempt, and the outcomes of its best bundle, or of TorchInductor, as a run; nothing of one that goes
    on."""
    if trajectory.ending is not None and _goes_on(trajectory.ending):
        return
    store.import_trajectory("", trajectory)
    if attempt.outcomes:
        opening = trajectory.opening
        run = new_run(jobs_of(task, attempt.best, opening.spec), label=opening.model)
        bundles = () if attempt.best is None else (attempt.best,)
        store.import_runs("", (RunFile(run, bundles, attempt.outcomes),))
