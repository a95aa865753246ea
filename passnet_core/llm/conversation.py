"""A model writes a bundle for a task: it is asked, does something, hears what came of it, and is asked again.

What is kept is the best bundle that was evaluated. Every turn is told as it ends, so that none is lost.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from passnet_core.llm.chat import Message, Model, ModelError, Reply, Role, Stopped, Trouble
from passnet_core.llm.prompting import digest, opening
from passnet_core.llm.tools import TOOLS, Done, Workplace, calls_in
from passnet_core.records import Bundle, Device, Outcome, Task

MOST_NUDGES = 2
NUDGE = "Use a tool to go on, or finish."
CUT_OFF = "Your answer was cut off at its limit of length, and nothing in it was done. Write less at once."


class End(StrEnum):
    """Why a conversation ended."""

    FINISHED = "finished"
    SILENT = "asked for nothing more"
    TURNS = "out of turns"
    TOKENS = "out of tokens"
    MONEY = "out of money"
    TIME = "out of time"
    STOPPED = "stopped"
    FAILED = "the model did not answer"


@dataclass(frozen=True)
class Price:
    """Of a million tokens, in whatever currency."""

    prompt: float = 0.0
    reply: float = 0.0

    def of(self, prompt_tokens: int, reply_tokens: int) -> float:
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / 1e6


@dataclass(frozen=True)
class Budget:
    """None: no limit."""

    turns: int = 12
    tokens: int | None = None
    money: float | None = None
    seconds: float | None = None
    reply_tokens: int | None = None
    """Of one answer."""


@dataclass(frozen=True)
class Score:
    """How good a bundle is, larger being better. speedup: geometric mean end to end over what was timed; else 1."""

    accepted: int
    total: int
    speedup: float = 1.0

    @property
    def order(self) -> tuple[int, float]:
        return (self.accepted, self.speedup)


@dataclass(frozen=True)
class Turn:
    """said: what was put to the model since its answer before. results: what came of each tool that it asked for.
    score: of what it had evaluated in this turn, the best. tokens as the server counts them, or estimated."""

    number: int
    said: tuple[Message, ...]
    answer: Message
    results: tuple[str, ...]
    bundle: Bundle | None
    score: Score | None
    prompt_tokens: int
    reply_tokens: int
    cost: float
    seconds: float
    prompts: str
    restarts: int = 0


@dataclass(frozen=True)
class Attempt:
    """What came of a conversation. reason: a sentence where the model failed."""

    end: End
    reason: str
    turns: tuple[Turn, ...]
    best: Bundle | None
    score: Score | None
    outcomes: tuple[Outcome, ...]

    @property
    def cost(self) -> float:
        return sum(turn.cost for turn in self.turns)

    @property
    def tokens(self) -> int:
        return sum(turn.prompt_tokens + turn.reply_tokens for turn in self.turns)


def converse(
    model: Model,
    task: Task,
    workplace: Workplace,
    device: Device,
    *,
    budget: Budget,
    price: Price = Price(),
    cancelled: threading.Event,
    on_turn: Callable[[Turn], None] = lambda turn: None,
    on_text: Callable[[str], None] = lambda text: None,
) -> Attempt:
    """Talks until the model is done or the budget is. Never raises for what the model does."""
    return _Conversation(model, task, workplace, device, budget, price, cancelled, on_turn, on_text).held()


class _Deadline(threading.Event):
    """Set when another event is, or when the time is over."""

    def __init__(self, event: threading.Event, seconds: float | None) -> None:
        super().__init__()
        self.event = event
        self.until = math.inf if seconds is None else time.monotonic() + seconds

    def is_set(self) -> bool:
        return self.event.is_set() or time.monotonic() >= self.until


class _Conversation:
    def __init__(
        self,
        model: Model,
        task: Task,
        workplace: Workplace,
        device: Device,
        budget: Budget,
        price: Price,
        cancelled: threading.Event,
        on_turn: Callable[[Turn], None],
        on_text: Callable[[str], None],
    ) -> None:
        self.model, self.task, self.workplace, self.device = model, task, workplace, device
        self.budget, self.price, self.cancelled = budget, price, cancelled
        self.on_turn, self.on_text = on_turn, on_text
        self.ended = _Deadline(cancelled, budget.seconds)
        self.in_text = False
        self.messages: list[Message] = []
        self.turns: list[Turn] = []
        self.best: tuple[Score, Bundle, tuple[Outcome, ...]] | None = None

    def held(self) -> Attempt:
        self._open()
        fresh: tuple[Message, ...] = tuple(self.messages)
        nudges = 0
        while True:
            if end := self._over():
                return self._attempt(end)
            try:
                reply = self._asked()
            except Stopped:
                continue  # it is over then
            except ModelError as error:
                if error.trouble is Trouble.NO_TOOLS and not self.in_text:
                    self.in_text = True
                    self._open()
                    fresh = tuple(self.messages)
                    continue
                return self._attempt(End.FAILED, str(error))
            turn, said, finished = self._taken(reply, fresh)
            self.turns.append(turn)
            self.on_turn(turn)
            if finished:
                return self._attempt(End.FINISHED)
            nudges = 0 if turn.results else nudges + 1
            if nudges > MOST_NUDGES:
                return self._attempt(End.SILENT)
            fresh = said
            self.messages += said

    def _open(self) -> None:
        pages = [name for name in self.workplace.guide if name != "contract"]
        contract = self.workplace.guide.get("contract", "")
        self.messages = list(opening(self.task, self.device, contract, pages, TOOLS if self.in_text else ()))
        if self.workplace.files:
            shown = "\n\n".join(f"{name}:\n```python\n{code}\n```" for name, code in self.workplace.files.items())
            self.messages.append(Message(Role.USER, f"This bundle is there already. Repair or improve it.\n\n{shown}"))

    def _over(self) -> End | None:
        """Which part of the budget is used up."""
        budget, tokens = self.budget, sum(turn.prompt_tokens + turn.reply_tokens for turn in self.turns)
        if self.cancelled.is_set():
            return End.STOPPED
        if len(self.turns) >= budget.turns:
            return End.TURNS
        if budget.tokens is not None and tokens >= budget.tokens:
            return End.TOKENS
        if budget.money is not None and sum(turn.cost for turn in self.turns) >= budget.money:
            return End.MONEY
        return End.TIME if self.ended.is_set() else None

    def _asked(self) -> Reply:
        return self.model.complete(
            self.messages,
            () if self.in_text else TOOLS,
            cancelled=self.ended,
            on_text=self.on_text,
            most_tokens=self.budget.reply_tokens,
        )

    def _taken(self, reply: Reply, fresh: tuple[Message, ...]) -> tuple[Turn, tuple[Message, ...], bool]:
        """The turn, what the model hears next, and whether it has finished."""
        self.messages.append(reply.message)
        calls = calls_in(reply.message.text) if self.in_text else reply.message.calls
        cut_off = reply.finish == "length"
        done = [Done(CUT_OFF) if cut_off else self.workplace.do(call, self.ended) for call in calls]
        scores = [self._kept(*each.evaluated) for each in done if each.evaluated is not None]
        said: tuple[Message, ...]
        if self.in_text or not calls:
            words = "\n\n".join(f"{call.name}: {each.text}" for call, each in zip(calls, done, strict=True))
            said = (Message(Role.USER, words or (CUT_OFF if cut_off else NUDGE)),)
        else:
            said = tuple(Message(Role.TOOL, each.text, answers=call.id) for call, each in zip(calls, done, strict=True))
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
            cost=self.price.of(prompt_tokens, reply_tokens),
            seconds=round(reply.seconds, 3),
            prompts=digest(),
            restarts=reply.restarts,
        )
        return turn, said, any(each.finished for each in done)

    def _kept(self, bundle: Bundle, outcomes: tuple[Outcome, ...]) -> Score:
        """The bundle's score; it is remembered where none before was better, and it was judged to the end."""
        found = score(outcomes, len(self.task.subgraphs))
        whole = all(outcome.verdict.judged for outcome in outcomes)
        if whole and (self.best is None or found.order > self.best[0].order):
            self.best = (found, bundle, outcomes)
        return found

    def _attempt(self, end: End, reason: str = "") -> Attempt:
        found, bundle, outcomes = self.best or (None, None, ())
        return Attempt(end, reason, tuple(self.turns), bundle, found, outcomes)


def score(outcomes: Sequence[Outcome], total: int) -> Score:
    """Of a bundle on a task of so many subgraphs."""
    speedups = [each.value for outcome in outcomes if (each := outcome.speedup()) is not None and each.value > 0]
    mean = math.exp(math.fsum(map(math.log, speedups)) / len(speedups)) if speedups else 1.0
    return Score(sum(outcome.verdict.accepted for outcome in outcomes), total, mean)


def _estimated(messages: Sequence[Message]) -> int:
    """Tokens, for a server that does not count them: about four characters each."""
    return sum(len(each.text) + sum(len(call.arguments) for call in each.calls) for each in messages) // 4
