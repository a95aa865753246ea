"""Conversations with language models that write bundles: messages, turns, budgets, trajectories. Plain data."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from passnet_core.records import Bundle, Capture, EvalSpec, Outcome, Profile, Verdict, to_json

FORMAT = 2
"""The version of the trajectory.jsonl format: a line with the opening, one per finished turn, one with the ending."""


class Role(StrEnum):
    """Who a message comes from, by the chat protocol's names."""

    SYSTEM = "system"
    USER = "user"
    MODEL = "assistant"
    TOOL = "tool"
    """The result of a tool call."""


@dataclass(frozen=True)
class ToolCall:
    """A model's request to run a tool. arguments: JSON text as the model wrote it, possibly invalid."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class OfferedTool:
    """A tool as a server of a model was told about it. parameters: a JSON schema of an object, as JSON text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True)
class Message:
    """One message of a conversation. calls: the tools that the model asks for. answers: the id of the tool call whose
    result this is; empty for other messages. reasoning: what a model thought before it answered, if its server says
    so; it is not sent back."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    reasoning: str = ""


class End(StrEnum):
    """Why a conversation ended."""

    FINISHED = "finished"
    SILENT = "asked for nothing more"
    TURNS = "out of turns"
    TOKENS = "out of tokens"
    MONEY = "out of money"
    TIME = "out of time"
    CONTEXT = "out of context"
    """The conversation is longer than the model can read."""
    STOPPED = "stopped"
    FAILED = "the model did not answer"
    SERVER = "the server failed"
    """Not the model's fault: its server cannot be reached, refuses the key, or does not know the model."""
    INTERRUPTED = "interrupted"
    """The process that ran the conversation ended."""


@dataclass(frozen=True)
class Price:
    """Prices of a million prompt tokens and a million reply tokens, in any currency."""

    prompt: float = 0.0
    reply: float = 0.0

    def of(self, prompt_tokens: int, reply_tokens: int) -> float:
        """Return the price of so many tokens."""
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / 1e6


FREE = Price()


@dataclass(frozen=True)
class Budget:
    """Limits of one conversation; None: no limit. Turns inherited from another conversation do not count.
    tokens: of prompts and replies together. money: in the currency of Price."""

    turns: int = 12
    tokens: int | None = None
    money: float | None = None
    seconds: float | None = None
    reply_tokens: int | None = None
    """The most tokens of a single answer."""

    def after(self, turns: "Sequence[Turn]") -> "Budget":
        """What is left of it after these turns."""
        return replace(
            self,
            turns=max(0, self.turns - len(turns)),
            tokens=None if self.tokens is None else max(0, self.tokens - sum(each.tokens for each in turns)),
            money=None if self.money is None else max(0.0, self.money - sum(each.cost for each in turns)),
            seconds=None if self.seconds is None else max(0.0, self.seconds - sum(each.seconds for each in turns)),
        )


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class Score:
    """How good a bundle is on a task.

    accepted: subgraphs with an accepted outcome, of total. speedup: the geometric mean, end to end; 1 if nothing was
    timed."""

    accepted: int
    total: int
    speedup: float = 1.0

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], total: int) -> "Score":
        """Return the score of a bundle's outcomes on a task with `total` subgraphs."""
        speedups = [each.value for outcome in outcomes if (each := outcome.speedup()) is not None and each.value > 0]
        mean = math.exp(math.fsum(map(math.log, speedups)) / len(speedups)) if speedups else 1.0
        return cls(sum(outcome.verdict.accepted for outcome in outcomes), total, mean)

    @property
    def order(self) -> tuple[int, float]:
        """The sort key; larger is better."""
        return (self.accepted, self.speedup)


@dataclass(frozen=True)
class Turn:
    """One request to the model, its answer, and the results of the tools that it called.

    number: from 1. said: the messages sent since the previous answer. results: one per tool call. bundle: the last one
    evaluated in this turn; score: the best of this turn; None: nothing was evaluated. prompt_tokens, reply_tokens: as
    the server counts them, or estimated. cost: in the currency of Price. seconds: until the answer was complete.
    prompts: the digest of the prompt files. restarts: how often the request was repeated because the connection broke.
    offered: whether the request offered the tools of the opening; if not, the messages explain them. None in older
    records, as is verdicts: on how many subgraphs the last check or evaluation of this turn had which verdict, or None
    if there was none."""

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
    offered: bool | None = None
    verdicts: tuple[tuple[Verdict, int], ...] | None = None

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens


@dataclass(frozen=True)
class Opening:
    """How a conversation began.

    operators: the operations of the task's first subgraph. subgraphs: their digests. prompts: the digest of the prompt
    files. attempt: from 1. start: the digest of the bundle to improve; None: the model began from nothing.
    branched_from: the id of the conversation whose first branched_at turns this one continues; empty: none.
    recorded: who made it, and where; empty: this playground. device: the name of the device on which bundles are
    judged; empty if it is not known. clock_version: as in Environment; 1 in older records. tools: those that requests
    offer; empty if the messages explain the tools, in older records, and for solvers that are no language models."""

    id: str
    task_id: str
    split: str
    operators: tuple[str, ...]
    subgraphs: tuple[str, ...]
    model: str
    prompts: str
    spec: EvalSpec
    budget: Budget
    price: Price
    started_at: str
    attempt: int = 1
    start: str | None = None
    branched_from: str = ""
    branched_at: int = 0
    recorded: str = ""
    device: str = ""
    clock_version: int = 1
    tools: tuple[OfferedTool, ...] = ()

    @property
    def capture(self) -> Capture:
        return self.spec.capture

    @property
    def profile(self) -> Profile:
        return self.spec.profile


@dataclass(frozen=True)
class Alternative:
    """One of several bundles that a solver wrote for a task before it kept one.

    name: the way in which it was written. bundle: its digest. speedup: the geometric mean over the subgraphs, in times
    eager's speed; None if none was timed. measured: by the judge; otherwise predicted. accepted: on how many subgraphs
    it was; None if it was not judged. aggregate: the aggregate score; None if none was timed by the judge."""

    name: str
    bundle: str
    speedup: float | None
    measured: bool
    kept: bool
    accepted: int | None = None
    aggregate: float | None = None


@dataclass(frozen=True)
class Ending:
    """The result of a conversation.

    reason: why the model or its server failed, in a sentence; empty otherwise. tokens, cost: of its own turns.
    accepted, total, speedup: the Score of its best bundle, but speedup is None if nothing was timed. verdicts: how many
    subgraphs got which verdict with that bundle. best: its digest; None: no bundle was evaluated. alternatives: what a
    solver chose the best bundle from, if it wrote several at once. unfinished: the answer that the model was writing
    when it was stopped."""

    end: End
    reason: str
    turns: int
    tokens: int
    cost: float
    accepted: int
    total: int
    speedup: float | None
    verdicts: tuple[tuple[Verdict, int], ...]
    best: str | None = None
    alternatives: tuple[Alternative, ...] = ()
    unfinished: str = ""

    @property
    def solved(self) -> bool:
        """Whether the best bundle was accepted on every subgraph."""
        return self.accepted == self.total > 0


@dataclass(frozen=True)
class Trajectory:
    """A whole conversation. turns: inherited ones included. ending: None while it runs, or if it was interrupted."""

    opening: Opening
    turns: tuple[Turn, ...]
    ending: Ending | None

    @property
    def own(self) -> tuple[Turn, ...]:
        """The turns without those inherited from another conversation."""
        return self.turns[self.opening.branched_at :]

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.own)

    @property
    def cost(self) -> float:
        return sum(turn.cost for turn in self.own)

    @property
    def best(self) -> Turn | None:
        """The turn with the best bundle, the first of several that are equally good; None: nothing was evaluated."""
        scored = [turn for turn in self.turns if turn.score is not None and turn.bundle is not None]
        return max(scored, key=lambda turn: turn.score.order if turn.score else (0, 0.0), default=None)


def trajectory_lines(trajectory: Trajectory) -> list[str]:
    """Return the lines of a trajectory.jsonl file."""
    rows: list[dict[str, Any]] = [{"format": FORMAT, "opening": to_json(trajectory.opening)}]
    rows += [{"turn": to_json(turn)} for turn in trajectory.turns]
    rows += [{"ending": to_json(trajectory.ending)}] if trajectory.ending else []
    return [json.dumps(row, allow_nan=False) + "\n" for row in rows]
