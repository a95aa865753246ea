"""Conversations whose model is elsewhere: the environment in which somebody's policy works on a task.

The tools are those of a conversation, one to one, and so are the words of their results."""

import json
import secrets
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from passnet_core.corpus.shapes import Shapes
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, EvalSpec, Outcome, Task
from passnet_core.records.trajectories import Message, ToolCall
from passnet_core.server.evaluating import Evaluation, EvaluationJudge, answer_of
from passnet_core.server.forms import (
    CallForm,
    EvaluationAnswer,
    ResultForm,
    SessionOpening,
    SessionState,
    StepAnswer,
    StepRequest,
)
from passnet_core.server.refusals import StepOutOfOrder
from passnet_core.solvers.attempts import JudgeBench
from passnet_core.solvers.llm.chat import described, written
from passnet_core.solvers.llm.conversation import guide
from passnet_core.solvers.llm.tools import TOOLS, Done, Workplace, calls_in, told_results
from passnet_core.training.prompts import CallProtocol, first_messages

MOST_SESSIONS, MOST_FILES_BYTES = 2000, 1 << 30
"""How many conversations are held, and how much memory their files may take; each caller has an equal share."""
IDLE_S = 3600.0
"""How long a conversation is held that nobody uses, in seconds."""


Opened = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""The first messages of a conversation, and its tools."""


@dataclass
class Session:
    """One conversation. last: its latest step, which is answered again if the answer was lost."""

    id: str
    caller: str
    task: Task
    spec: EvalSpec
    workplace: Workplace
    in_text: bool
    used_at: float
    cancelled: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    steps: int = 0
    last: StepAnswer | None = None
    calls: int = 0
    evaluations: int = 0
    finished: bool = False
    best: EvaluationAnswer | None = None
    file_bytes: int = 0
    """The memory that its files took after the last step."""

    def count_files(self) -> None:
        self.file_bytes = sum(map(sys.getsizeof, self.workplace.files.codes.values()))

    def state(self) -> SessionState:
        return SessionState(
            id=self.id,
            task=self.task.id,
            split=self.task.split,
            finished=self.finished,
            steps=self.steps,
            calls=self.calls,
            evaluations=self.evaluations,
            files=dict(self.workplace.files.codes),
            reward=None if self.best is None else self.best.reward,
            best=self.best,
        )


class Sessions:
    """All conversations of a service, in memory: a restart ends them. Safe to share between threads.

    shapes: of the values inside subgraphs, which a model is told first. callers: how many there may be, each of whom
    has an equal share."""

    def __init__(
        self,
        judge: EvaluationJudge,
        scheduler: Scheduler,
        inspections: Inspections,
        shapes: Shapes,
        *,
        callers: int = 1,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._judge, self._scheduler, self._inspections, self._now = judge, scheduler, inspections, now
        self._shapes = shapes
        self._most, self._most_bytes = MOST_SESSIONS // max(1, callers), MOST_FILES_BYTES // max(1, callers)
        self._lock = threading.Lock()
        self._held: dict[str, Session] = {}

    def __len__(self) -> int:
        with self._lock:
            self._forget_idle()
            return len(self._held)

    def open(
        self, task: Task, spec: EvalSpec, caller: str, *, protocol: CallProtocol, start: Bundle | None, priority: int
    ) -> SessionOpening:
        """Begin a conversation. Raises BadInput if this caller has as many as may be."""
        cancelled = threading.Event()
        session_id = secrets.token_urlsafe(12)

        def judged(bundle: Bundle | None, spec: EvalSpec, stopped: threading.Event) -> tuple[Outcome, ...]:
            assert bundle is not None, "a conversation judges no baseline"
            owner = f"{caller}/{session_id}"
            return self._judge.outcomes(Evaluation(task, bundle, spec, owner=owner, priority=priority), stopped)

        bench = JudgeBench(task, spec, judged, self._inspections, self._scheduler.here)
        workplace = Workplace(bench, guide(), caller)
        if start is not None:
            workplace.files.take(start)
        in_text = protocol is CallProtocol.TEXT
        session = Session(session_id, caller, task, spec, workplace, in_text, self._now(), cancelled)
        session.count_files()
        with self._lock:
            self._forget_idle()
            own = [each for each in self._held.values() if each.caller == caller]
            if len(own) >= self._most:
                raise BadInput(f"{self._most} conversations of yours are held, and no more can be. End some first.")
            self._refuse_files(own)
            self._held[session.id] = session
        messages, tools = self.preview(task, spec, protocol)
        messages += [written(each) for each in workplace.shown()]
        return SessionOpening(id=session.id, messages=messages, tools=tools, state=session.state())

    def preview(self, task: Task, spec: EvalSpec, protocol: CallProtocol) -> Opened:
        """The first messages of a conversation about this task, and its tools, in OpenAI's chat format. They are always
        the same, and wait for no judge."""
        here = self._scheduler.here
        environment = here.environment if here.device is spec.device else None
        messages = first_messages(task, spec, protocol, self._shapes, environment)
        tools = [] if protocol is CallProtocol.TEXT else [described(each) for each in TOOLS]
        return [written(each) for each in messages], tools

    def state(self, session_id: str, caller: str) -> SessionState:
        """Where a conversation stands. Raises UnknownItem."""
        return self._session(session_id, caller).state()

    def step(self, session_id: str, caller: str, asked: StepRequest) -> StepAnswer:
        """Do what the model asks for. A step with a number waits for the one at work, since it may be the same. Raises
        UnknownItem, StepOutOfOrder; BadInput if the conversation has ended, or if the files of this caller's
        conversations take too much memory."""
        session = self._session(session_id, caller)
        if not session.lock.acquire(blocking=asked.step is not None):
            raise StepOutOfOrder("The previous step of this conversation is still at work. Wait for its answer.")
        try:
            if asked.step is not None and session.last is not None and asked.step == session.steps:
                return session.last
            if asked.step is not None and asked.step != session.steps + 1:
                raise StepOutOfOrder(f"The next step of this conversation is {session.steps + 1}, not {asked.step}.")
            if session.finished:
                raise BadInput("This conversation has ended. Open another one.")
            with self._lock:
                self._refuse_files([each for each in self._held.values() if each.caller == caller])
            return self._done(session, asked)
        finally:
            session.count_files()
            session.used_at = self._now()
            session.lock.release()

    def end(self, session_id: str, caller: str) -> SessionState:
        """End a conversation, whatever it is doing, and return how it stood. Raises UnknownItem."""
        session = self._session(session_id, caller)
        session.cancelled.set()
        with self._lock:
            self._held.pop(session_id, None)
        return session.state()

    def close(self) -> None:
        """End all conversations."""
        with self._lock:
            for session in self._held.values():
                session.cancelled.set()
            self._held.clear()

    def _done(self, session: Session, asked: StepRequest) -> StepAnswer:
        in_text = asked.text is not None
        calls = calls_in(asked.text) if asked.text is not None else tuple(map(_call, asked.calls or ()))
        results, texts = [], []
        for call in calls:
            done = session.workplace.do(call, session.cancelled)
            evaluation = self._evaluated(session, done)
            session.calls += 1
            session.finished = session.finished or done.finished
            results.append(ResultForm(id=call.id, name=call.name, text=done.text, evaluation=evaluation))
            texts.append(done.text)
        session.steps += 1
        said: tuple[Message, ...] = told_results(calls, texts, in_text=in_text)
        session.last = StepAnswer(results=results, messages=[written(each) for each in said], state=session.state())
        return session.last

    def _evaluated(self, session: Session, done: Done) -> EvaluationAnswer | None:
        if done.evaluated is None:
            return None
        bundle, outcomes = done.evaluated
        session.evaluations += 1
        answer = answer_of(Evaluation(session.task, bundle, session.spec), outcomes)
        best = session.best
        if answer.reward is not None and (best is None or best.reward is None or answer.reward > best.reward):
            session.best = answer
        return answer

    def _session(self, session_id: str, caller: str) -> Session:
        with self._lock:
            self._forget_idle()
            session = self._held.get(session_id)
        if session is None or session.caller != caller:
            raise UnknownItem(
                f"There is no conversation {session_id[:40]!r}: it has ended, was not used for an hour, or the service"
                " was started again. Open another one."
            )
        session.used_at = self._now()
        return session

    def _refuse_files(self, own: Sequence[Session]) -> None:
        """Raises BadInput if the files of a caller's conversations take as much memory as they may."""
        if sum(each.file_bytes for each in own) > self._most_bytes:
            raise BadInput(
                f"The files of your conversations take more than {self._most_bytes >> 20} MiB. End some conversations."
            )

    def _forget_idle(self) -> None:
        until = self._now() - IDLE_S
        for each in [each for each in self._held.values() if each.used_at < until and not each.lock.locked()]:
            del self._held[each.id]


def _call(form: CallForm) -> ToolCall:
    given = form.arguments
    return ToolCall(form.id, form.name, given if isinstance(given, str) else json.dumps(given))
