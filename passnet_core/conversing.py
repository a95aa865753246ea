"""Conversations with language models, in the background: each turn is in the store before it is shown, so that none is
lost with the page or the app. What a model has evaluated is a run like any other."""

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from passnet_core.corpus.catalogue import find_subgraph
from passnet_core.errors import BadInput, PlaygroundError, UnknownItem
from passnet_core.execution.backends.base import DeviceInfo
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.llm.chat import Model
from passnet_core.llm.conversation import Attempt, converse
from passnet_core.llm.prompting import Surroundings, digest, first_of_sources, opening
from passnet_core.llm.tools import Workplace
from passnet_core.records import Bundle, Device, EvalSpec, Inspection, Outcome, Stage, Subgraph, Task, Verdict
from passnet_core.report_card import Card, cards
from passnet_core.settings import ASSETS
from passnet_core.store import owner
from passnet_core.store.base import Store
from passnet_core.store.rows import TrajectorySummary
from passnet_core.trajectory import Budget, End, Ending, Message, Opening, Price, Trajectory, Turn

GUIDE = ASSETS / "help"
PAGES = ("contract", "verdicts", "judge", "limits", "glossary")
LOOK_EVERY_S = 0.05
INSPECT_WITHIN_S = 5.0
"""How long the first message to a model waits for what the judge finds of the subgraphs."""
SHOWN_WITHIN_S = 1.0
"""And how long a page that shows it."""
END_WITHIN_S = 10.0
LIVE_KEPT = 50
MOST_LISTED = 10_000
SHOWN_CHARACTERS = 8_000
"""Of what is being written just now, its end."""


class Runs(Protocol):
    """What judges: passnet_core.service.Service."""

    def submit(self, task: Task, bundle: Bundle | None, spec: EvalSpec, *, label: str = "", owner: str = "") -> str: ...

    def progress(self, run_id: str) -> Any: ...

    def cancel(self, run_id: str) -> None: ...

    def device(self) -> DeviceInfo: ...

    def inspect(self, subgraph: Subgraph, *, cancelled: threading.Event | None = None) -> Inspection: ...

    def inspect_within(
        self, subgraphs: Sequence[Subgraph], seconds: float, cancelled: threading.Event
    ) -> Mapping[str, Inspection]: ...


@dataclass(frozen=True)
class ConversationOrder:
    """What is asked of a model. attempt: which of several at this task. start: a person's bundle, to be repaired.
    after: the conversation and how many of its turns this goes on from. note: what a person says to it."""

    spec: EvalSpec
    budget: Budget
    price: Price
    attempt: int = 1
    start: Bundle | None = None
    after: tuple[str, int] | None = None
    note: str = ""


@dataclass(frozen=True)
class ConversationStanding:
    """How a conversation stands. doing: a few words, empty when it is over; writing: what the model has written of its
    next answer; run_id: of what is being judged for it. problem: why its turns could not be kept."""

    trajectory: Trajectory
    doing: str
    writing: str
    run_id: str | None
    elapsed_s: float
    finished: bool
    problem: str = ""


class Conversations:
    """All conversations of a store: those of this process, which go on without a page, and those kept."""

    def __init__(self, runs: Runs, store: Store) -> None:
        self._runs = runs
        self._store = store
        self._process = owner.this_process()
        self._live: dict[str, _Live] = {}
        self._lock = threading.Lock()
        self._closing = False

    def start(self, model: Model, task: Task, order: ConversationOrder) -> str:
        """Begins one in the background and returns its id. Raises UnknownItem for what it is to go on from,
        BadInput, StoreError."""
        history: tuple[Turn, ...] = ()
        start = order.start
        if order.after is not None:
            before = self.trajectory(order.after[0])
            history = before.turns[: order.after[1]]
            if not history or before.opening.task_id != task.id:
                raise UnknownItem(f"Conversation {order.after[0]!r} has no turn {order.after[1]} on this task.")
            start = None if before.opening.start is None else self._store.bundle(before.opening.start)
        began = opening_of(
            task, model, order.spec, order.budget, order.price, order.attempt, start, order.after or ("", 0)
        )
        live = _Live(Trajectory(began, history, None))
        with self._lock:
            if self._closing:
                raise BadInput("The playground is shutting down. Start it again, then do this once more.")
            if start is not None:
                self._store.add_bundle(start)
            self._store.start_trajectory(began, self._process)
            for turn in history:
                self._store.add_turn(began.id, turn)
            self._live[began.id] = live
            for old in [key for key, each in self._live.items() if each.over.is_set()][:-LIVE_KEPT]:
                del self._live[old]
        arguments = (live, model, task, start, order.note)
        threading.Thread(target=self._hold, args=arguments, name="passnet-talk", daemon=True).start()
        return began.id

    def standing(self, conversation_id: str) -> ConversationStanding:
        """Raises UnknownItem."""
        live = self._live.get(conversation_id)
        if live is not None:
            return live.standing()
        found, by = self._kept(conversation_id)
        going_on = found.ending is None and owner.alive(by)
        return ConversationStanding(
            trajectory=found if going_on else _ended(found),
            doing="held by another process" if going_on else "",
            writing="",
            run_id=None,
            elapsed_s=sum(turn.seconds for turn in found.own),
            finished=not going_on,
        )

    def trajectory(self, conversation_id: str) -> Trajectory:
        """As far as it is. Raises UnknownItem."""
        return self.standing(conversation_id).trajectory

    def stop(self, conversation_id: str) -> None:
        """Ends one of this process, within a second; what it has said stays. Raises UnknownItem."""
        live = self._live.get(conversation_id)
        if live is None:
            self._kept(conversation_id)
        else:
            live.cancelled.set()

    def wait(self, conversation_id: str) -> Trajectory:
        """Returns when one of this process is over. Raises UnknownItem."""
        if live := self._live.get(conversation_id):
            live.over.wait()
        return self.trajectory(conversation_id)

    def latest(self, limit: int = 200, task_id: str | None = None) -> tuple[TrajectorySummary, ...]:
        """Newest first. Where the ending is None, in_progress() says whether it goes on."""
        return self._store.trajectories(limit, task_id)

    def close(self) -> None:
        """Stops all of this process, and waits for them a little."""
        with self._lock:
            self._closing = True
        for live in self._live.values():
            live.cancelled.set()
        until = time.monotonic() + END_WITHIN_S
        for live in self._live.values():
            live.over.wait(max(0.0, until - time.monotonic()))

    def recorded(self) -> tuple[TrajectorySummary, ...]:
        """Those that come with the playground."""
        return tuple(each for each in self._store.trajectories(MOST_LISTED, None) if each.opening.recorded)

    def cards(self) -> tuple[Card, ...]:
        """What models came to here."""
        return cards(self._store.trajectories(MOST_LISTED, None))

    @staticmethod
    def in_progress(summary: TrajectorySummary) -> bool:
        """Whether it goes on, here or in another process."""
        return summary.ending is None and owner.alive(summary.owner)

    def first_messages(self, task: Task) -> tuple[Message, ...]:
        """Exactly what a conversation about this task begins with, for a model that knows tools; what the judge has yet
        to find of its subgraphs is not waited for long."""
        pages = guide()
        surroundings = self._surroundings(task, self._runs.device().device, SHOWN_WITHIN_S, threading.Event())
        return opening(task, surroundings, pages["contract"], [name for name in pages if name != "contract"])

    # --- inside ---

    def _surroundings(self, task: Task, device: Device, seconds: float, cancelled: threading.Event) -> Surroundings:
        info = self._runs.device()
        if info.device is not device:
            return Surroundings(device, info.environment)
        inspections = self._runs.inspect_within(first_of_sources(task.subgraphs), seconds, cancelled)
        return Surroundings(device, info.environment, inspections)

    def _kept(self, conversation_id: str) -> tuple[Trajectory, str]:
        kept = self._store.trajectory(conversation_id)
        if kept is None:
            raise UnknownItem(f"There is no conversation {conversation_id!r} here.")
        return kept.trajectory, kept.owner

    def _hold(self, live: "_Live", model: Model, task: Task, start: Bundle | None, note: str) -> None:
        began = live.trajectory.opening
        history = live.trajectory.turns

        def told(turn: Turn) -> None:
            self._store.add_turn(began.id, turn)
            live.add(turn)

        try:
            bench = _Bench(self._runs, task, began.spec, model.name, live)
            workplace = Workplace(bench, guide(), model.name)
            if start is not None:
                workplace.take(start)
            # one that goes on from another has been told
            seconds = 0.0 if history else INSPECT_WITHIN_S
            surroundings = self._surroundings(task, began.spec.device, seconds, live.cancelled)
            attempt = converse(
                model, task, workplace, surroundings, budget=began.budget, price=began.price,
                cancelled=live.cancelled, on_turn=told, on_text=live.write, history=history, note=note,
            )  # fmt: skip
            ending = ending_of(attempt, len(task.subgraphs))
            self._store.end_trajectory(began.id, ending)
            live.end(ending)
        except PlaygroundError as error:
            live.fail(str(error))
        finally:
            live.fail("It ended by a mistake of the playground's own; its log says more.")
            live.over.set()


class _Live:
    """A conversation of this process, as its thread fills it and others look at it."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
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
        """Ends it, unless it has ended."""
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


class _Bench:
    """The playground's judge as a Bench: each check and evaluation is a run of all subgraphs of the task."""

    def __init__(self, runs: Runs, task: Task, spec: EvalSpec, author: str, live: _Live) -> None:
        self.runs, self.task, self.spec, self.author, self.live = runs, task, spec, author, live

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judged(bundle, replace(self.spec, stage=Stage.CHECK), cancelled)

    def evaluate(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judged(bundle, self.spec, cancelled)

    def inspect(self, subgraph: str, cancelled: threading.Event) -> Inspection:
        return self.runs.inspect(find_subgraph(self.task, subgraph), cancelled=cancelled)

    def _judged(self, bundle: Bundle, spec: EvalSpec, cancelled: threading.Event) -> tuple[Outcome, ...]:
        owner = self.live.trajectory.opening.id
        run_id = self.runs.submit(self.task, bundle, spec, label=self.author, owner=owner)
        self.live.judging(run_id)
        try:
            while not (progress := self.runs.progress(run_id)).finished:
                if cancelled.is_set():
                    self.runs.cancel(run_id)
                time.sleep(LOOK_EVERY_S)
        finally:
            self.live.judging(None)
        outcomes: tuple[Outcome, ...] = progress.outcomes
        return outcomes


def opening_of(
    task: Task,
    model: Model,
    spec: EvalSpec,
    budget: Budget,
    price: Price,
    attempt: int,
    start: Bundle | None,
    after: tuple[str, int] = ("", 0),
) -> Opening:
    """Of a conversation that begins now."""
    return Opening(
        id=f"{datetime.now(UTC):%y%m%d}-{secrets.token_hex(4)}",
        task_id=task.id,
        split=task.split,
        operators=operator_sequence(parse(task.subgraphs[0].code)),
        subgraphs=tuple(each.digest for each in task.subgraphs),
        model=model.name,
        prompts=digest(),
        spec=spec,
        budget=budget,
        price=price,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        attempt=attempt,
        start=start.digest if start else None,
        branched_from=after[0],
        branched_at=after[1],
    )


def ending_of(attempt: Attempt, total: int) -> Ending:
    """Of a conversation about a task with so many subgraphs."""
    verdicts: dict[Verdict, int] = {}
    for outcome in attempt.outcomes:
        verdicts[outcome.verdict] = verdicts.get(outcome.verdict, 0) + 1
    timed = any(outcome.speedup() for outcome in attempt.outcomes)
    return Ending(
        end=attempt.end,
        reason=attempt.reason,
        turns=len(attempt.turns),
        tokens=attempt.tokens,
        cost=attempt.cost,
        accepted=attempt.score.accepted if attempt.score else 0,
        total=total,
        speedup=attempt.score.speedup if attempt.score and timed else None,
        verdicts=tuple(verdicts.items()),
        best=attempt.best.digest if attempt.best else None,
    )


def guide() -> Mapping[str, str]:
    """The pages that a model may read. Raises BadInput where they are missing."""
    try:
        return {page: (GUIDE / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    except OSError as error:
        raise BadInput(f"The page {error.filename} is missing. Run this in a checkout of the project.") from error


def _ended(trajectory: Trajectory) -> Trajectory:
    """With an ending, also where the process that held it did not live to write one."""
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
