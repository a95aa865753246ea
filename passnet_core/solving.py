"""Language models over a list of tasks: each attempt is a folder, which tells all that was said, and can be continued.

FOLDER/TASK/NUMBER/trajectory.jsonl   a header, a line per turn as it ends, and the end
FOLDER/TASK/NUMBER/best/              the best bundle that was evaluated
FOLDER/outcomes.jsonl                 what the judge says of it: for `score --outcomes`
"""

import contextlib
import json
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from passnet_core.conversing import INSPECT_WITHIN_S, ending_of, guide, opening_of
from passnet_core.corpus.catalogue import find_subgraph
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.scheduler import NOBODY, Scheduler
from passnet_core.inspecting import Inspections
from passnet_core.llm.chat import Model, described, written
from passnet_core.llm.conversation import Attempt, converse
from passnet_core.llm.prompting import Surroundings, first_of_sources
from passnet_core.llm.tools import TOOLS, Workplace
from passnet_core.passes.reading import write_bundle
from passnet_core.records import Bundle, EvalSpec, Inspection, Outcome, Stage, Task, digest_of, to_json
from passnet_core.scoring.published import published_line
from passnet_core.service import jobs_of, new_run
from passnet_core.store.base import Store
from passnet_core.store.rows import RunFile
from passnet_core.trajectory import FORMAT, Budget, End, Ending, Price, Trajectory, Turn, read_trajectory


@dataclass(frozen=True)
class Solved:
    """One attempt at a task, as its folder tells it."""

    task_id: str
    number: int
    ending: Ending


class JudgeBench:
    """A scheduler as a Bench: all subgraphs of a task by one spec. owner: in whose name it takes turns."""

    def __init__(
        self, scheduler: Scheduler, task: Task, spec: EvalSpec, inspections: Inspections, owner: str = NOBODY
    ) -> None:
        self.scheduler, self.task, self.spec, self.inspections, self.owner = scheduler, task, spec, inspections, owner

    def surroundings(self, cancelled: threading.Event) -> Surroundings:
        """What a model is told of the place; it waits a little for what the judge finds of the subgraphs."""
        device, subgraphs = self.spec.device, first_of_sources(self.task.subgraphs)
        found = self.inspections.within(subgraphs, device, INSPECT_WITHIN_S, cancelled)
        environment = next((each.environment for each in found.values()), self.scheduler.here.environment)
        return Surroundings(device, environment, found)

    def inspect(self, subgraph: str, cancelled: threading.Event) -> Inspection:
        chosen = find_subgraph(self.task, subgraph)
        return self.inspections.of(chosen, self.spec.device, cancelled=cancelled)

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judged(bundle, replace(self.spec, stage=Stage.CHECK), cancelled)

    def evaluate(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judged(bundle, self.spec, cancelled)

    def _judged(self, bundle: Bundle, spec: EvalSpec, cancelled: threading.Event) -> tuple[Outcome, ...]:
        jobs = jobs_of(self.task, bundle, spec)
        return tuple(self.scheduler.judge(job, lambda event: None, cancelled, owner=self.owner) for job in jobs)


@dataclass(frozen=True)
class Order:
    """What is asked of a model. attempts: at each task. start: a person's bundle, to be repaired."""

    spec: EvalSpec
    budget: Budget
    price: Price
    attempts: int = 1
    start: Bundle | None = None


OnTurn = Callable[[Task, int, Turn], None]
OnAttempt = Callable[[Task, Trajectory, Attempt], None]


def solve(
    model: Model,
    tasks: Sequence[Task],
    scheduler: Scheduler,
    order: Order,
    folder: Path,
    *,
    cancelled: threading.Event,
    on_turn: OnTurn = lambda task, number, turn: None,
    on_attempt: OnAttempt = lambda task, trajectory, attempt: None,
) -> tuple[Solved, ...]:
    """Makes every attempt that is not over in its folder yet, as many at once as the scheduler has judges, and returns
    all of them. One that was interrupted, or whose model failed, begins anew. Both are called from several threads.

    Raises InfrastructureError where the folder cannot be written.
    """
    wanted = [(task, number) for task in tasks for number in range(1, order.attempts + 1)]
    left = [each for each in wanted if (found := _read(folder, *each)) is None or found.ending.end is End.FAILED]
    attempts = _Attempts(model, scheduler, order, folder, cancelled, on_turn, on_attempt)
    with (
        contextlib.closing(attempts.inspections),
        ThreadPoolExecutor(scheduler.capacity().judges) as threads,
        contextlib.ExitStack() as unless_done,
    ):
        # where one fails, or a person interrupts, the others are stopped before this waits for them
        unless_done.callback(cancelled.set)
        for future in [threads.submit(attempts.make, *each) for each in left]:
            future.result()
        unless_done.pop_all()
    over = (_read(folder, *each) for each in wanted)
    return tuple(each for each in over if each is not None)


class _Attempts:
    """Makes attempts, in several threads."""

    def __init__(
        self,
        model: Model,
        scheduler: Scheduler,
        order: Order,
        folder: Path,
        cancelled: threading.Event,
        on_turn: OnTurn,
        on_attempt: OnAttempt,
    ) -> None:
        self.model, self.scheduler, self.order, self.folder = model, scheduler, order, folder
        self.cancelled, self.on_turn, self.on_attempt = cancelled, on_turn, on_attempt
        self.guide = guide()
        self.inspections = Inspections(scheduler)
        self.lock = threading.Lock()

    def make(self, task: Task, number: int) -> None:
        """One conversation, of which every turn is on the disk before it is told of."""
        if self.cancelled.is_set():
            return
        place = self.folder / task.id / str(number)
        try:
            place.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(place / "best", ignore_errors=True)
            with (place / "trajectory.jsonl").open("w", encoding="utf-8") as file:
                self._held(task, number, place, file)
        except OSError as error:
            raise InfrastructureError(f"{place} cannot be written: {error.strerror}. Make room, then go on.") from error

    def _held(self, task: Task, number: int, place: Path, file: IO[str]) -> None:
        def write(**line: Any) -> None:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            file.flush()

        def told(turn: Turn) -> None:
            write(turn=to_json(turn))
            self.on_turn(task, number, turn)

        order = self.order
        bench = JudgeBench(self.scheduler, task, order.spec, self.inspections, f"{task.id}/{number}")
        workplace = Workplace(bench, self.guide, self.model.name)
        if order.start is not None:
            workplace.take(order.start)
        began = opening_of(task, self.model, order.spec, order.budget, order.price, number, order.start)
        write(format=FORMAT, opening=to_json(began))
        attempt = converse(
            self.model, task, workplace, bench.surroundings(self.cancelled),
            budget=order.budget, price=order.price, cancelled=self.cancelled, on_turn=told,
        )  # fmt: skip
        if attempt.end is End.STOPPED:
            return  # it is not over: the same command begins it anew
        if attempt.best is not None:
            write_bundle(attempt.best, place / "best")
            with self.lock, (self.folder / "outcomes.jsonl").open("a", encoding="utf-8") as outcomes:
                outcomes.writelines(map(published_line, attempt.outcomes))
        ending = ending_of(attempt, len(task.subgraphs))
        write(ending=to_json(ending))
        self.on_attempt(task, Trajectory(began, attempt.turns, ending), attempt)


def keep(store: Store, task: Task, trajectory: Trajectory, attempt: Attempt) -> None:
    """Puts a conversation into the store, and as a run what the judge said of its best bundle."""
    store.import_trajectory("", trajectory)
    if attempt.best is not None:
        began = trajectory.opening
        run = new_run(jobs_of(task, attempt.best, began.spec), label=began.model)
        store.import_runs("", (RunFile(run, (attempt.best,), attempt.outcomes),))


def _read(folder: Path, task: Task, number: int) -> Solved | None:
    """The attempt, if it is over."""
    try:
        found = read_trajectory(folder / task.id / str(number) / "trajectory.jsonl")
        return None if found.ending is None else Solved(task.id, number, found.ending)
    except BadInput:
        return None


def trajectories(folder: Path) -> Iterator[tuple[Path, Trajectory]]:
    """Every one below a folder that can be read, by name."""
    for path in sorted(folder.glob("*/*/trajectory.jsonl")):
        with contextlib.suppress(BadInput):
            yield path, read_trajectory(path)


def accepted(
    found: Iterable[Trajectory], split: str, held_back: Collection[tuple[str, ...]], at_least: float
) -> Iterator[Trajectory]:
    """The whole conversations on tasks of this split with a bundle that was accepted on at least this share of the
    task's subgraphs. Each bundle once; no operations that are held back."""
    seen: set[str] = set()
    for each in found:
        began, end = each.opening, each.ending
        if end is None or began.split != split or began.operators in held_back:
            continue
        if end.accepted < max(at_least, 1e-9) * end.total:
            continue
        key = digest_of([began.task_id, end.best])
        if key not in seen:
            seen.add(key)
            yield each


def example(trajectory: Trajectory) -> dict[str, Any]:
    """For training, in OpenAI's chat format with tools."""
    began, end = trajectory.opening, trajectory.ending
    messages = [written(message) for turn in trajectory.turns for message in (*turn.said, turn.answer)]
    return {
        "messages": messages,
        "tools": [described(tool) for tool in TOOLS],
        "task": began.task_id,
        **{name: getattr(began, name) for name in ("split", "model", "prompts")},
        **{name: getattr(end, name) for name in ("accepted", "speedup", "turns", "tokens")},
    }
