"""A conversation in which a language model writes a bundle: it calls tools, reads the results, and calls again.

The best evaluated bundle is the result. Every turn is reported as it ends, so that none is lost."""

import math
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from passnet_core.errors import BadInput
from passnet_core.records import Bundle, Outcome, Task, Verdict
from passnet_core.records.trajectories import (
    DEFAULT_BUDGET,
    FREE,
    Budget,
    End,
    Message,
    Price,
    Role,
    Score,
    Turn,
)
from passnet_core.settings import ASSETS
from passnet_core.solvers.base import Attempt, Bench, Options, Surroundings, Watch
from passnet_core.solvers.llm.chat import (
    PERHAPS_TOO_LONG,
    Model,
    ModelError,
    Reply,
    Stopped,
    ToolProtocol,
    Trouble,
    offered,
)
from passnet_core.solvers.llm.prompting import digest, first_of_sources, how_to_call
from passnet_core.solvers.llm.tools import NUDGE, TOOLS, Done, Workplace, calls_in, replay, told_results

GUIDE = ASSETS / "help"
PAGES = ("contract", "verdicts", "judge", "limits", "glossary")
INSPECT_WITHIN_S = 5.0
"""How many seconds the first message waits for the judge to inspect the subgraphs."""

MOST_NUDGES = 2
"""How many answers in a row may lack a tool call; one more ends the conversation."""
ENDS = {Trouble.TOO_LONG: End.CONTEXT, Trouble.REFUSED: End.FAILED, Trouble.NO_TOOLS: End.FAILED}
"""How a conversation ends that gets no answer; otherwise the server is to blame."""
CUT_OFF = "Your answer was cut off at its length limit, and none of its calls was executed. Write less at once."


@dataclass(frozen=True)
class LanguageModel:
    """A language model as a solver. An attempt is one conversation, until the model finishes or the budget is spent.

    start: a bundle to repair or improve. history: the turns of an earlier conversation to continue; the files are as
    after these turns. note: what a person tells the model before it answers. protocol: how it calls tools. label: the
    name of its results, if not the model's: a model before and after a training may be served under one name."""

    model: Model
    budget: Budget = DEFAULT_BUDGET
    price: Price = FREE
    start: Bundle | None = None
    history: tuple[Turn, ...] = ()
    note: str = ""
    protocol: ToolProtocol = ToolProtocol.AUTO
    label: str = ""

    @property
    def name(self) -> str:
        return self.label or self.model.name

    @property
    def options(self) -> Options:
        tools = () if self.protocol is ToolProtocol.TEXT else tuple(map(offered, TOOLS))
        return Options(self.budget, self.price, self.start, digest(), tools)

    def resumed(self, turns: Sequence[Turn]) -> "LanguageModel":
        """See Resumable."""
        return replace(self, history=tuple(turns), budget=self.budget.after(turns))

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        workplace = Workplace(bench, guide(), self.name)
        if self.start is not None:
            workplace.files.take(self.start)
        # a continued conversation has its first messages already
        wait_s = 0.0 if self.history else INSPECT_WITHIN_S
        surroundings = bench.surroundings(first_of_sources(task.subgraphs), wait_s, watch.cancelled)
        return _Conversation(self, task, workplace, surroundings, watch).hold()


class _Deadline(threading.Event):
    """An event that is set when another event is set, or when the time is over."""

    def __init__(self, event: threading.Event, seconds: float | None) -> None:
        super().__init__()
        self.event = event
        self.until = math.inf if seconds is None else time.monotonic() + seconds

    def is_set(self) -> bool:
        return self.event.is_set() or time.monotonic() >= self.until


class _Conversation:
    def __init__(
        self, solver: LanguageModel, task: Task, workplace: Workplace, surroundings: Surroundings, watch: Watch
    ) -> None:
        self.solver, self.task, self.workplace, self.surroundings = solver, task, workplace, surroundings
        self.watch = watch
        self.ended = _Deadline(watch.cancelled, solver.budget.seconds)
        self.in_text = solver.protocol is ToolProtocol.TEXT
        self.messages: list[Message] = []
        self.turns: list[Turn] = []
        self.writing = ""
        self.before = 0
        self.best: tuple[Score, Bundle, tuple[Outcome, ...]] | None = None

    def hold(self) -> Attempt:
        note = self.solver.note
        if self.solver.history:
            fresh = self._resumed(self.solver.history)
        else:
            self._open()
            fresh = tuple(self.messages)
        if note:
            words = Message(Role.USER, f"A person says:\n\n{note}")
            self.messages.append(words)
            fresh += (words,)
        nudges = 0
        while True:
            if end := self._over():
                return self._attempt(end)
            try:
                reply = self._ask()
            except Stopped:
                continue  # _over() says why
            except ModelError as error:
                if error.trouble is Trouble.NO_TOOLS and self._may_change():
                    self.in_text = True
                    self._open()
                    fresh = tuple(self.messages)
                    continue
                return self._attempt(ENDS.get(error.trouble, End.SERVER), str(error))
            turn, said, finished = self._executed(reply, fresh)
            if not turn.results and self._may_change():
                # a chat template may have left the tools out, so that the model never heard of them
                self.in_text = True
                said = (Message(Role.USER, how_to_call(TOOLS)),)
            self.turns.append(turn)
            self.watch.on_turn(turn)
            if finished:
                return self._attempt(End.FINISHED)
            nudges = 0 if turn.results else nudges + 1
            if nudges > MOST_NUDGES:
                return self._silent()
            fresh = said
            self.messages += said

    def _silent(self) -> Attempt:
        """The attempt of a model that called nothing, however often it was asked."""
        answers = [turn.answer for turn in self.turns[-MOST_NUDGES - 1 :]]
        if any(each.text.strip() or each.reasoning for each in answers):
            return self._attempt(End.SILENT)
        # LiteLLM makes an empty answer of a refusal that llama.cpp's Python server sends within a stream
        said = f"{self.solver.model.name} answered with nothing {len(answers)} times. {PERHAPS_TOO_LONG}"
        return self._attempt(End.CONTEXT, said)

    def _may_change(self) -> bool:
        """Whether the model, which has called no tool yet, may be told to call them in plain text."""
        return not self.in_text and self.solver.protocol is ToolProtocol.AUTO and not _called(self.turns)

    def _open(self) -> None:
        self.messages = list(self.workplace.opening(self.task, self.surroundings, in_text=self.in_text))

    def _resumed(self, history: Sequence[Turn]) -> tuple[Message, ...]:
        """Restore the state after these turns, and return the messages that the model has not answered yet."""
        self.turns, self.before = list(history), len(history)
        if self.solver.protocol is ToolProtocol.AUTO:
            self.in_text = not _called(history)
        for turn in history:
            self.messages += [*turn.said, turn.answer]
            for call in calls_in(turn.answer.text) if self.in_text else turn.answer.calls:
                replay(self.workplace.files, call)
            if turn.score and turn.bundle and (self.best is None or turn.score.order > self.best[0].order):
                self.best = (turn.score, turn.bundle, ())
        last = history[-1]
        calls = calls_in(last.answer.text) if self.in_text else last.answer.calls
        told = any(turn.results for turn in history) or len(history) > 1
        nudge = how_to_call(TOOLS) if self.in_text and not told else NUDGE
        said = told_results(calls, last.results, in_text=self.in_text, nudge=nudge)
        self.messages += said
        return said

    def _over(self) -> End | None:
        """Why the conversation has to end now: it was stopped, or a part of its budget is used up."""
        budget, own = self.solver.budget, self.turns[self.before :]
        if self.watch.cancelled.is_set():
            return End.STOPPED
        if len(own) >= budget.turns:
            return End.TURNS
        if budget.tokens is not None and sum(turn.tokens for turn in own) >= budget.tokens:
            return End.TOKENS
        if budget.money is not None and sum(turn.cost for turn in own) >= budget.money:
            return End.MONEY
        return End.TIME if self.ended.is_set() else None

    def _ask(self) -> Reply:
        def written(text: str) -> None:
            self.writing = text
            self.watch.on_text(text)

        self.writing = ""
        reply = self.solver.model.complete(
            self.messages,
            () if self.in_text else TOOLS,
            cancelled=self.ended,
            on_text=written,
            most_tokens=self.solver.budget.reply_tokens,
        )
        self.writing = ""
        return reply

    def _executed(self, reply: Reply, fresh: tuple[Message, ...]) -> tuple[Turn, tuple[Message, ...], bool]:
        """Execute the calls of a reply. Returns the turn, the next messages, and whether the model has finished."""
        self.messages.append(reply.message)
        calls = calls_in(reply.message.text) if self.in_text else reply.message.calls
        cut_off = reply.finish == "length"
        judged_before = self.workplace.last
        done = [Done(CUT_OFF) if cut_off else self.workplace.do(call, self.ended) for call in calls]
        scores = [self._scored(*each.evaluated) for each in done if each.evaluated is not None]
        said = told_results(
            calls, [each.text for each in done], in_text=self.in_text, nudge=CUT_OFF if cut_off else NUDGE
        )
        prompt_tokens = _estimated(self.messages[:-1]) if reply.prompt_tokens is None else reply.prompt_tokens
        reply_tokens = _estimated([reply.message]) if reply.reply_tokens is None else reply.reply_tokens
        turn = Turn(
            number=len(self.turns) + 1,
            said=fresh,
            answer=reply.message,
            results=tuple(each.text for each in done),
            bundle=next((each.evaluated[0] for each in reversed(done) if each.evaluated is not None), None),
            score=max(scores, key=lambda score: score.order, default=None),
            prompt_tokens=prompt_tokens,
            reply_tokens=reply_tokens,
            cost=self.solver.price.of(prompt_tokens, reply_tokens),
            seconds=round(reply.seconds, 3),
            prompts=digest(),
            restarts=reply.restarts,
            offered=not self.in_text,
            verdicts=None if self.workplace.last is judged_before else _verdicts(self.workplace.last.values()),
        )
        return turn, said, any(each.finished for each in done)

    def _scored(self, bundle: Bundle, outcomes: tuple[Outcome, ...]) -> Score:
        """Score an evaluated bundle, and remember it if it was judged completely and is better than all before."""
        found = Score.of(outcomes, len(self.task.subgraphs))
        whole = all(outcome.verdict.judged for outcome in outcomes)
        if whole and (self.best is None or found.order > self.best[0].order):
            self.best = (found, bundle, outcomes)
        return found

    def _attempt(self, end: End, reason: str = "") -> Attempt:
        found, bundle, outcomes = self.best or (None, None, ())
        own = tuple(self.turns[self.before :])
        return Attempt(end, own, bundle, found, outcomes, reason, unfinished=self.writing)


def _verdicts(outcomes: Iterable[Outcome]) -> tuple[tuple[Verdict, int], ...]:
    """On how many subgraphs the judge gave which verdict."""
    return tuple(Counter(outcome.verdict for outcome in outcomes).items())


def _called(turns: Sequence[Turn]) -> bool:
    """Whether the model has called a tool by the server's tool calls."""
    return any(turn.answer.calls for turn in turns)


def _estimated(messages: Sequence[Message]) -> int:
    """Estimate the tokens, at four characters each, for a server that does not count them."""
    return sum(len(each.text) + sum(len(call.arguments) for call in each.calls) for each in messages) // 4


def guide() -> Mapping[str, str]:
    """The help pages that a model may read, by name. Raises BadInput if one is missing."""
    try:
        return {page: (GUIDE / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    except OSError as error:
        raise BadInput(f"The help page {error.filename} is missing. Install the package again.") from error
