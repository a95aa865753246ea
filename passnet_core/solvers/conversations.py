"""Conversations with language models, held in background threads.

Each turn is stored before it is shown, so that none is lost. Everything that a model evaluates is a run like any other.
"""

import itertools
import threading
import time
from dataclasses import dataclass, replace
from typing import Protocol

from passnet_core.errors import BadInput, PlaygroundError, UnknownItem
from passnet_core.execution.backends.base import DeviceInfo
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.leaderboard.report_card import Card, cards
from passnet_core.outside import quoted
from passnet_core.records import Bundle, EvalSpec, Outcome, Task
from passnet_core.records.trajectories import Budget, End, Ending, Message, Price, Trajectory, Turn
from passnet_core.solvers.attempts import JudgeBench, ending_of, opening_of
from passnet_core.solvers.base import Watch
from passnet_core.solvers.llm.chat import Model, ToolProtocol
from passnet_core.solvers.llm.conversation import LanguageModel, guide
from passnet_core.solvers.llm.prompting import first_of_sources, opening
from passnet_core.store import owner
from passnet_core.store.base import Store
from passnet_core.store.rows import KeptTrajectory, TrajectorySummary

LOOK_EVERY_S = 0.05
SHOWN_WITHIN_S = 1.0
"""How many seconds a page that shows the first messages waits for inspections of the subgraphs."""
END_WITHIN_S = 10.0
"""How many seconds close() waits for all conversations together."""
LIVE_KEPT = 50
"""How many finished conversations stay in memory; the store has all of them."""
MOST_LISTED = 10_000
SHOWN_CHARACTERS = 8_000
"""How many characters of the answer in progress are kept; the end is kept, not the beginning."""


class Runs(Protocol):
    """The part of passnet_core.service.Service that conversations use."""

    def submit(self, task: Task, bundle: Bundle | None, spec: EvalSpec, *, label: str = "", owner: str = "") -> str: ...

    def progress(self, run_id: str) -> Progress: ...

    def cancel(self, run_id: str) -> None: ...

    def device(self) -> DeviceInfo: ...


@dataclass(frozen=True)
class ConversationOrder:
    """What to ask of a model. attempt: the attempt's number at this task. start: a person's bundle to repair.

    after: the conversation to continue, and how many of its turns to take over. note: what a person adds. protocol: how
    the model calls tools."""

    spec: EvalSpec
    budget: Budget
    price: Price
    attempt: int = 1
    start: Bundle | None = None
    after: tuple[str, int] | None = None
    note: str = ""
    protocol: ToolProtocol = ToolProtocol.AUTO


@dataclass(frozen=True)
class ConversationStanding:
    """The current state of a conversation. doing: what it is doing, in a few words; empty once it has finished.

    writing: the answer in progress. run_id: the run that is judged for it now. problem: why it failed, other than by
    the model's fault: for example, its turns could not be stored."""

    trajectory: Trajectory
    doing: str
    writing: str
    run_id: str | None
    elapsed_s: float
    finished: bool
    problem: str = ""


class Conversations:
    """All conversations of a store: the live ones of this process, which need no page, and the stored ones."""

    def __init__(self, runs: Runs, inspections: Inspections, store: Store) -> None:
        self._runs, self._inspections, self._store = runs, inspections, store
        self._process = owner.this_process()
        self._live: dict[str, _Live] = {}
        self._lock = threading.Lock()
        self._closing = False

    def start(self, model: Model, task: Task, order: ConversationOrder, *, visitor: str = "") -> str:
        """Start a conversation in the background and return its id. visitor: the person who asked for it.

        Raises UnknownItem if the conversation or turn to continue does not exist, BadInput while closing, StoreError.
        """
        history: tuple[Turn, ...] = ()
        start = order.start
        if order.after is not None:
            before = self.trajectory(order.after[0])
            history = before.turns[: order.after[1]]
            if not history or before.opening.task_id != task.id:
                raise UnknownItem(f"Conversation {order.after[0]!r} has no turn {order.after[1]} on this task.")
            start = None if before.opening.start is None else self._store.bundle(before.opening.start)
        solver = LanguageModel(model, order.budget, order.price, start, history, order.note, order.protocol)
        here = self._runs.device()
        began = opening_of(task, solver, order.spec, here, order.attempt, order.after or ("", 0))
        live = _Live(Trajectory(began, history, None), visitor)
        with self._lock:
            if self._closing:
                raise BadInput("The playground is shutting down. Start it again, then start the conversation again.")
            if start is not None:
                self._store.add_bundle(start)
            self._store.start_trajectory(began, self._process, visitor)
            for turn in history:
                self._store.add_turn(began.id, turn)
            self._live[began.id] = live
            for old in [key for key, each in self._live.items() if each.over.is_set()][:-LIVE_KEPT]:
                del self._live[old]
        threading.Thread(target=self._converse, args=(live, solver, task), name="passnet-talk", daemon=True).start()
        return began.id

    def standing(self, conversation_id: str) -> ConversationStanding:
        """The current state of a conversation, live or stored. Raises UnknownItem."""
        live = self._live.get(conversation_id)
        if live is not None:
            return live.standing()
        kept = self._kept(conversation_id)
        found = kept.trajectory
        elsewhere = found.ending is None and owner.alive(kept.owner)
        return ConversationStanding(
            trajectory=found if elsewhere else _ended(found),
            doing="running in another process" if elsewhere else "",
            writing="",
            run_id=None,
            elapsed_s=sum(turn.seconds for turn in found.own),
            finished=not elsewhere,
        )

    def trajectory(self, conversation_id: str) -> Trajectory:
        """Everything said in a conversation so far. Raises UnknownItem."""
        return self.standing(conversation_id).trajectory

    def visitor_of(self, conversation_id: str) -> str:
        """Who asked for a conversation; "" for those that were recorded or imported. Raises UnknownItem."""
        live = self._live.get(conversation_id)
        return self._kept(conversation_id).visitor if live is None else live.visitor

    def none(self, conversation_id: str) -> UnknownItem:
        """What is said of a conversation that is not here."""
        return UnknownItem(f"There is no conversation {quoted(conversation_id)} here. Open one in the Workbench.")

    def stop(self, conversation_id: str) -> None:
        """Stop a conversation of this process within a second; its turns are kept. Raises UnknownItem."""
        live = self._live.get(conversation_id)
        if live is None:
            self._kept(conversation_id)
        else:
            live.cancelled.set()

    def wait(self, conversation_id: str) -> Trajectory:
        """Wait until a conversation of this process has finished, and return it. Raises UnknownItem."""
        if live := self._live.get(conversation_id):
            live.over.wait()
        return self.trajectory(conversation_id)

    def latest(
        self, limit: int = 200, task_id: str | None = None, visitor: str | None = None
    ) -> tuple[TrajectorySummary, ...]:
        """The newest conversations first. If one has no ending, in_progress() tells whether it continues.
        visitor: only those of this person."""
        found = (each for each in self._stored(task_id) if visitor is None or each.visitor == visitor)
        return tuple(itertools.islice(found, limit))

    def close(self) -> None:
        """Stop all conversations of this process, and wait up to END_WITHIN_S seconds for them."""
        with self._lock:
            self._closing = True
        for live in self._live.values():
            live.cancelled.set()
        until = time.monotonic() + END_WITHIN_S
        for live in self._live.values():
            live.over.wait(max(0.0, until - time.monotonic()))

    def recorded(self) -> tuple[TrajectorySummary, ...]:
        """The conversations that come with the playground."""
        return tuple(each for each in self._stored() if each.opening.recorded)

    def cards(self, viewer: str | None = None) -> tuple[Card, ...]:
        """The report card of every model that has been asked here. viewer: only from this visitor's conversations, and
        from those that are nobody's; None: from all."""
        return cards(tuple(each for each in self._stored() if viewer is None or each.visitor in ("", viewer)))

    @staticmethod
    def in_progress(summary: TrajectorySummary) -> bool:
        """Whether the conversation continues, in this process or another."""
        return summary.ending is None and owner.alive(summary.owner)

    def first_messages(self, task: Task) -> tuple[Message, ...]:
        """The exact first messages about this task to a model that supports tool calls. Waits up to SHOWN_WITHIN_S."""
        bench = self._bench(task, EvalSpec(device=self._runs.device().device))
        surroundings = bench.surroundings(first_of_sources(task.subgraphs), SHOWN_WITHIN_S, threading.Event())
        return opening(task, surroundings, guide())

    # --- inside ---

    def _stored(self, task_id: str | None = None) -> tuple[TrajectorySummary, ...]:
        """The attempts of language models: only they were told prompts; others, such as TorchInductor, say nothing."""
        return tuple(each for each in self._store.trajectories(MOST_LISTED, task_id) if each.opening.prompts)

    def _bench(self, task: Task, spec: EvalSpec, live: "_Live | None" = None) -> JudgeBench:
        """A bench that makes each check and evaluation of a live conversation a run, which the page can show."""

        def judge(bundle: Bundle | None, spec: EvalSpec, cancelled: threading.Event) -> tuple[Outcome, ...]:
            assert live is not None, "only a live conversation judges bundles"
            return self._judged(live, task, bundle, spec, cancelled)

        return JudgeBench(task, spec, judge, self._inspections, self._runs.device())

    def _judged(
        self, live: "_Live", task: Task, bundle: Bundle | None, spec: EvalSpec, cancelled: threading.Event
    ) -> tuple[Outcome, ...]:
        began = live.trajectory.opening
        run_id = self._runs.submit(task, bundle, spec, label=began.model, owner=live.visitor or began.id)
        live.judging(run_id)
        try:
            while not (progress := self._runs.progress(run_id)).finished:
                if cancelled.is_set():
                    self._runs.cancel(run_id)
                time.sleep(LOOK_EVERY_S)
        finally:
            live.judging(None)
        return progress.outcomes

    def _kept(self, conversation_id: str) -> KeptTrajectory:
        kept = self._store.trajectory(conversation_id)
        if kept is None:
            raise self.none(conversation_id)
        return kept

    def _converse(self, live: "_Live", solver: LanguageModel, task: Task) -> None:
        began = live.trajectory.opening

        def told(turn: Turn) -> None:
            self._store.add_turn(began.id, turn)
            live.add(turn)

        try:
            watch = Watch(live.cancelled, told, live.write)
            attempt = solver.solve(task, self._bench(task, began.spec, live), watch)
            ending = ending_of(attempt, len(task.subgraphs))
            self._store.end_trajectory(began.id, ending)
            live.end(ending)
        except PlaygroundError as error:
            live.fail(str(error))
        finally:
            live.fail("An error in the playground ended the conversation; its log has the details.")
            live.over.set()


class _Live:
    """The state of a conversation of this process, written by its own thread and read by others."""

    def __init__(self, trajectory: Trajectory, visitor: str) -> None:
        self.trajectory = trajectory
        self.visitor = visitor
        self.cancelled = threading.Event()
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._writing = ""
        self._run_id: str | None = None
        self._problem = ""
        self._started = time.monotonic()
        self._ended: float | None = None

    def write(self, text: str) -> None:
        with self._lock:
            self._writing = text[-SHOWN_CHARACTERS:]

    def judging(self, run_id: str | None) -> None:
        with self._lock:
            self._run_id = run_id

    def add(self, turn: Turn) -> None:
        with self._lock:
            self.trajectory = replace(self.trajectory, turns=(*self.trajectory.turns, turn))
            self._writing = ""

    def end(self, ending: Ending) -> None:
        with self._lock:
            self.trajectory = replace(self.trajectory, ending=ending)
            self._writing, self._ended = "", time.monotonic()

    def fail(self, problem: str) -> None:
        """End the conversation with a problem, unless it has ended already."""
        with self._lock:
            if self._ended is not None:
                return
            self.trajectory = _ended(self.trajectory)
            self._writing, self._problem, self._ended = "", problem, time.monotonic()

    def standing(self) -> ConversationStanding:
        with self._lock:
            if self._ended is not None:
                doing = ""
            elif self.cancelled.is_set():
                doing = "stopping"
            elif self._run_id is not None:
                doing = "the judge is at work"
            else:
                doing = "the model is writing" if self._writing else "waiting for the model"
            return ConversationStanding(
                trajectory=self.trajectory,
                doing=doing,
                writing=self._writing,
                run_id=self._run_id,
                elapsed_s=(self._ended or time.monotonic()) - self._started,
                finished=self._ended is not None,
                problem=self._problem,
            )


def _ended(trajectory: Trajectory) -> Trajectory:
    """Add the ending that a killed process could not write."""
    return trajectory if trajectory.ending else replace(trajectory, ending=_interrupted(trajectory))


def _interrupted(trajectory: Trajectory) -> Ending:
    best = trajectory.best
    return Ending(
        end=End.INTERRUPTED,
        reason="",
        turns=len(trajectory.own),
        tokens=trajectory.tokens,
        cost=trajectory.cost,
        accepted=best.score.accepted if best and best.score else 0,
        total=len(trajectory.opening.subgraphs),
        speedup=None,
        verdicts=(),
        best=best.bundle.digest if best and best.bundle else None,
    )
