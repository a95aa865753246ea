"""Makes conversations for training in which a script plays the model and the judge is real.

FOLDER/TASK/NUMBER/trajectory.jsonl   a conversation, as solve keeps one; it is written when it has ended
FOLDER/tasks/derived.jsonl.gz         the tasks, as a pack: a corpus that has this folder finds them
FOLDER/made.json                      how it was made: date, versions, seed and counts"""

import contextlib
import json
import math
import multiprocessing
import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from passnet_core import __version__
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.packs import SUFFIX, Pack, write_pack
from passnet_core.corpus.shapes import Shapes, shapes_in
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import (
    Bundle,
    Device,
    EvalSpec,
    Job,
    Outcome,
    PassFile,
    Stage,
    Subgraph,
    Task,
    digest_of,
)
from passnet_core.records.trajectories import End, Trajectory, trajectory_lines
from passnet_core.solvers.attempts import Judge, JudgeBench, ending_of, opening_of
from passnet_core.solvers.base import Surroundings, Watch
from passnet_core.solvers.batch import RECORD
from passnet_core.solvers.llm.chat import ToolProtocol
from passnet_core.solvers.llm.conversation import LanguageModel
from passnet_core.solvers.llm.files import IS_PASS
from passnet_core.solvers.rules.candidates import candidates
from passnet_core.solvers.trajectories import read_opening, read_trajectory
from passnet_core.training.choosing import fingerprints
from passnet_core.training.repairing.alterations import Files, Shows, chosen, files_of, mistakes
from passnet_core.training.repairing.derived_tasks import derived
from passnet_core.training.repairing.node_values import values_of
from passnet_core.training.repairing.plain import STYLES, plain
from passnet_core.training.repairing.scripted_model import NAME, Harmless, Plan, ScriptedModel

TASKS = Path("tasks") / f"derived{SUFFIX}"
MADE = "made.json"
TRIALS = 4
"""How often a conversation is planned anew because its mistake does no harm."""

KINDS: tuple[tuple[float, tuple[Shows, ...]], ...] = (
    (0.10, ()),
    (0.13, (Shows.RULES,)),
    (0.07, (Shows.LOADING,)),
    (0.16, (Shows.MATCHING,)),
    (0.26, (Shows.VALUES,)),
    (0.04, (Shows.RULES, Shows.MATCHING)),
    (0.08, (Shows.RULES, Shows.VALUES)),
    (0.10, (Shows.MATCHING, Shows.VALUES)),
    (0.06, (Shows.RULES, Shows.MATCHING, Shows.VALUES)),
)
"""Which mistakes a conversation has, and its share. At most one is found by values: judging these takes longest."""
GIVEN, IN_TEXT = 0.25, 0.12
"""The shares of conversations that begin with a bundle, and in which tools are called in plain text."""

ROUNDS = ((1 << 14, 60), (1 << 15, 20), (1 << 16, 8), (1 << 30, 4))
"""How many conversations a task may have, by how many elements its inputs have at most: large ones take long."""


@dataclass(frozen=True)
class Making:
    """What to make. conversations: how many. seed: of all choices, and of the judge's inputs. per_bundle: how many
    conversations at a task end with the same bundle, which is then judged only once."""

    conversations: int
    seed: int
    per_bundle: int = 1


@dataclass
class Made:
    """What was made, those of an earlier call included. refused: how many conversations have a bundle with which
    verdict, before the one that was accepted. harmless: plans that were given up. seconds: of this call."""

    conversations: int = 0
    tasks: set[str] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    straight: int = 0
    harmless: int = 0
    seconds: float = 0.0

    def add(self, trajectory: Trajectory) -> None:
        self.conversations += 1
        self.tasks.add(trajectory.opening.task_id)
        found = {
            verdict.value for turn in trajectory.turns for verdict, _ in turn.verdicts or () if not verdict.accepted
        }
        self.refused.update(found)
        self.straight += not found


def tasks_for(folder: Path, corpus: Corpus, backend: LocalBackend, count: int) -> tuple[Task, ...]:
    """The tasks of a folder, derived from the corpus if they are not there yet: the smallest ones.

    Raises BadInput if fewer can be derived, or if those that are there are fewer."""
    path = folder / TASKS
    if not path.exists():
        known = corpus.tasks()
        train = [corpus.task(each.id) for each in known if each.split == "train"]
        held_back = frozenset().union(
            *(fingerprints(corpus.task(each.id)) for each in known if each.split == "eval")
        )  # fmt: skip
        found = sorted(derived(train, held_back, lambda asked: values_of(backend, asked)), key=_elements)
        if len(found) < count:
            raise BadInput(f"Only {len(found)} tasks can be derived, not {count}. Ask for fewer with --tasks.")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_pack(path, sorted(found[:count], key=lambda each: digest_of(each.id)))
    pack = Pack(path)
    if len(pack.entries) != count:
        raise BadInput(
            f"{path} has {len(pack.entries)} tasks, not {count}. Repeat --tasks {len(pack.entries)}, or name another"
            " folder with --out."
        )
    return tuple(pack.task(name) for name in pack.entries)


def _elements(task: Task) -> int:
    return max(sum(math.prod(spec.shape) for spec in each.inputs) for each in task.subgraphs)


def make(
    asked: Making,
    tasks: Sequence[Task],
    scheduler: Scheduler,
    values: Shapes,
    folder: Path,
    *,
    cancelled: threading.Event,
    on_made: Callable[[Made], None] = lambda made: None,
) -> Made:
    """Make the conversations that the folder lacks, as many at a time as there are judges.

    values: of the tasks' subgraphs, which the first messages show. on_made: called from several threads after each one.
    Raises BadInput if the folder holds conversations of another seed, InfrastructureError if the judge fails."""
    making = _Making(asked, scheduler, values, folder, cancelled, on_made)
    return making.run(_turns(tasks, asked.per_bundle))


def _turns(tasks: Sequence[Task], per_bundle: int) -> Iterator[tuple[Task, int]]:
    """The conversations in the order in which they are made: those of a bundle at each task, then those of the next."""
    most = {each.id: next(count for limit, count in ROUNDS if _elements(each) <= limit) for each in tasks}
    for first in range(1, max(most.values(), default=0) + 1, per_bundle):
        for each in tasks:
            yield from ((each, number) for number in range(first, min(first + per_bundle, most[each.id] + 1)))


class _Bench(JudgeBench):
    """The judge for one task, whose values are known."""

    def __init__(
        self, task: Task, spec: EvalSpec, judge: Judge, scheduler: Scheduler, inspections: Inspections, values: Shapes
    ) -> None:
        super().__init__(task, spec, judge, inspections, scheduler.here)
        self._environment, self._values = scheduler.here.environment, values

    def surroundings(self, subgraphs: Sequence[Subgraph], within_s: float, cancelled: threading.Event) -> Surroundings:
        if self._environment is None:
            return Surroundings(Device.CPU)
        return Surroundings(Device.CPU, self._environment, shapes_in(subgraphs, self._values))


class _Making:
    def __init__(
        self,
        asked: Making,
        scheduler: Scheduler,
        values: Shapes,
        folder: Path,
        cancelled: threading.Event,
        on_made: Callable[[Made], None],
    ) -> None:
        self.asked, self.scheduler, self.values, self.folder = asked, scheduler, values, folder
        self.cancelled, self.on_made = cancelled, on_made
        self.spec = EvalSpec(Stage.VERIFY, Device.CPU, seed=asked.seed)
        self.inspections = Inspections(scheduler)
        self.made = Made()
        self.lock = threading.Lock()
        self.under_way = 0
        self.planning = _planning(scheduler.capacity().judges)
        self.ways: dict[str, Future[tuple[Bundle, ...]]] = {}
        self.asking: dict[tuple[str, str, str], threading.Lock] = {}
        self.outcomes: dict[tuple[str, str, str], Outcome] = {}
        """By the digest of the job, task and subgraph: the judge is asked once, as it would answer the same again."""
        self.unfit: set[tuple[str, int]] = set()
        """Tasks, and ways of the rules to write them, that the judge does not accept."""

    def run(self, turns: Iterator[tuple[Task, int]]) -> Made:
        begun = datetime.now(UTC)
        judges = self.scheduler.capacity().judges
        with (
            contextlib.closing(self.inspections),
            self.planning,
            ThreadPoolExecutor(judges) as threads,
            contextlib.ExitStack() as unless_done,
        ):
            # if one thread raises, or a person interrupts, stop the others before waiting for them
            unless_done.callback(self.cancelled.set)
            try:
                for future in [threads.submit(self._work, turns) for _ in range(judges)]:
                    future.result()
            except BrokenProcessPool as error:
                raise InfrastructureError(
                    "A process that plans conversations was killed. Run the same command again, with fewer --judges if"
                    " memory was short."
                ) from error
            unless_done.pop_all()
        self.made.seconds = (datetime.now(UTC) - begun).total_seconds()
        self._tell(begun)
        return self.made

    def _work(self, turns: Iterator[tuple[Task, int]]) -> None:
        while not self.cancelled.is_set():
            with self.lock:
                if self.made.conversations + self.under_way >= self.asked.conversations:
                    if not self.under_way:
                        return
                    turn = None
                else:
                    turn = next(turns, None)
                    if turn is None:
                        return
                    self.under_way += 1
            if turn is None:
                # another thread may give up the conversation that would be the last one
                self.cancelled.wait(0.2)
                continue
            made = None
            try:
                made = self._there(*turn) or self._conversation(*turn)
            finally:
                with self.lock:
                    self.under_way -= 1
                    if made is not None:
                        self.made.add(made)
                        self.on_made(self.made)

    def _there(self, task: Task, number: int) -> Trajectory | None:
        """The conversation if the folder has it already."""
        path = self.folder / task.id / str(number) / RECORD
        if not path.exists():
            return None
        if read_opening(path).id != self._id(task, number):
            raise BadInput(f"{path} is of another seed or task. Repeat that --seed, or name another folder with --out.")
        return read_trajectory(path)

    def _id(self, task: Task, number: int) -> str:
        return (
            f"scripted-{digest_of([self.asked.seed, task.id, [each.digest for each in task.subgraphs], number])[:12]}"
        )

    def _conversation(self, task: Task, number: int) -> Trajectory | None:
        """Make one conversation. None: it was stopped, or nothing can be learnt at this task in this way."""
        ways = self._ways(task).result()
        writing = (number - 1) // self.asked.per_bundle
        way = writing % len(ways)
        if (task.id, way) in self.unfit:
            return None
        for trial in range(TRIALS):
            seed = f"{self.asked.seed} {task.id} {number}"
            plan = self.planning.submit(plan_of, seed, ways[way], writing, trial).result()
            if plan is None:
                return None
            try:
                found = self._played(task, number, plan)
            except Harmless:
                with self.lock:
                    self.made.harmless += 1
                if not plan.mistakes:
                    self.unfit.add((task.id, way))
                    return None
                continue
            if found is not None:
                self._write(found, self.folder / task.id / str(number))
            return found
        return None

    def _ways(self, task: Task) -> Future[tuple[Bundle, ...]]:
        with self.lock:
            if task.id not in self.ways:
                self.ways[task.id] = self.planning.submit(ways_of, task)
            return self.ways[task.id]

    def _played(self, task: Task, number: int, plan: Plan) -> Trajectory | None:
        def judged(job: Job, stopped: threading.Event) -> Outcome:
            key = (job.digest, task.id, job.subgraph.id)
            with self.lock:
                asking = self.asking.setdefault(key, threading.Lock())
            # another thread may be asking the same
            with asking:
                if (known := self.outcomes.get(key)) is not None:
                    return known
                found = self.scheduler.judge(job, lambda event: None, stopped, owner=task.id)
                if found.verdict.judged:
                    self.outcomes[key] = found
                elif not self.cancelled.is_set():
                    raise InfrastructureError(f"The judge failed: {found.reason}")
                return found

        def judge(bundle: Bundle | None, spec: EvalSpec, stopped: threading.Event) -> tuple[Outcome, ...]:
            return tuple(judged(job, stopped) for job in jobs_of(task, bundle, spec))

        start = _bundle(plan.begun_with) if plan.given else None
        protocol = ToolProtocol.TEXT if plan.in_text else ToolProtocol.TOOLS
        solver = LanguageModel(ScriptedModel(plan), start=start, protocol=protocol)
        bench = _Bench(task, self.spec, judge, self.scheduler, self.inspections, self.values)
        opening = opening_of(task, solver, self.spec, self.scheduler.here, number)
        opening = replace(opening, id=self._id(task, number), recorded=self._recorded())
        attempt = solver.solve(task, bench, Watch(self.cancelled))
        if attempt.end is End.STOPPED:
            return None
        ending = ending_of(attempt, len(task.subgraphs))
        if not ending.solved or ending.end is not End.FINISHED:
            raise Harmless(f"The conversation ended otherwise: {ending.end}.")
        return Trajectory(opening, attempt.turns, ending)

    def _recorded(self) -> str:
        here, told = self.scheduler.here, ""
        if here.environment is not None:
            place = here.environment.device
            if here.device is not Device.CPU:
                place = f"the CPU of a machine with {place}"
            told = f" on {place}, torch {here.environment.torch}, triton {here.environment.triton}"
        return f"a script plays the model; judged{told}, passnet_core {__version__}, {datetime.now(UTC):%Y-%m-%d}"

    def _write(self, trajectory: Trajectory, place: Path) -> None:
        growing = place / f"{RECORD}.new"
        try:
            place.mkdir(parents=True, exist_ok=True)
            growing.write_text("".join(trajectory_lines(trajectory)), encoding="utf-8")
            os.replace(growing, place / RECORD)
        except OSError as error:
            raise InfrastructureError(
                f"{place} cannot be written: {error.strerror}. Free disk space, then run the same command again."
            ) from error

    def _tell(self, begun: datetime) -> None:
        here = self.scheduler.here.environment
        made: Mapping[str, Any] = {
            "model": NAME,
            "seed": self.asked.seed,
            "per_bundle": self.asked.per_bundle,
            "begun_at": begun.isoformat(timespec="seconds"),
            "seconds": round(self.made.seconds, 1),
            "conversations": self.made.conversations,
            "tasks": len(self.made.tasks),
            "straight": self.made.straight,
            "refused": dict(self.made.refused.most_common()),
            "passnet_core": __version__,
            "torch": here.torch if here else "",
            "triton": here.triton if here else "",
            "judge": here.judge_digest if here else "",
        }
        (self.folder / MADE).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _planning(judges: int) -> ProcessPoolExecutor:
    """Processes that work out bundles and plans: in this one, it would hold up what the threads say to the judges."""
    return ProcessPoolExecutor(
        math.ceil(judges / 4),
        multiprocessing.get_context("spawn"),
        # a person's interrupt also reaches these; they end when this process asks them to
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )


def ways_of(task: Task) -> tuple[Bundle, ...]:
    """The bundles that the rules write for a task, if they can be written plainly."""
    return tuple(each.bundle for each in candidates(task) if plain(each.bundle, STYLES[0]) is not None)


def plan_of(seed: str, bundle: Bundle, writing: int, trial: int = 0) -> Plan | None:
    """The plan of a conversation. writing: which of the styles the bundle has, from 0. trial: how many plans of this
    seed were given up; the mistakes show at the same places. None: there are no more styles, or the bundle cannot be
    written plainly."""
    styles = list(STYLES)
    random.Random(bundle.digest).shuffle(styles)
    right = plain(bundle, styles[writing]) if writing < len(styles) else None
    if right is None:
        return None
    (where,) = random.Random(seed).choices([kind for _, kind in KINDS], [share for share, _ in KINDS])
    chance = random.Random(f"{seed} {trial}")
    taken = chosen(mistakes(right), where, chance)
    return Plan(
        files_of(right),
        taken,
        given=bool(taken) and chance.random() < GIVEN / (1 - KINDS[0][0]),
        in_text=chance.random() < IN_TEXT,
        seed=f"{seed} {trial} script",
    )


def _bundle(files: Files) -> Bundle:
    """The bundle that the files make up."""
    both = [[PassFile(name, code) for name, code in files.items() if bool(IS_PASS.search(code)) is is_pass]
            for is_pass in (True, False)]  # fmt: skip
    return Bundle(tuple(both[0]), tuple(both[1]), NAME)
