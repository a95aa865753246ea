"""What is said while a model writes a bundle: messages, turns, budgets, and the whole of a conversation. Plain data."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records import Bundle, EvalSpec, Outcome, Verdict, from_json, to_json

FORMAT = 2
"""Of a trajectory.jsonl: a line with what it began with, one per turn as it ends, and one with the end."""


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    MODEL = "assistant"
    TOOL = "tool"
    """The answer to a tool call."""


@dataclass(frozen=True)
class ToolCall:
    """arguments: JSON, as the model wrote it, which may be none."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """answers: the id of the tool call that this answers."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


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
    INTERRUPTED = "interrupted"
    """The process that held it ended."""


@dataclass(frozen=True)
class Price:
    """Of a million tokens, in whatever currency."""

    prompt: float = 0.0
    reply: float = 0.0

    def of(self, prompt_tokens: int, reply_tokens: int) -> float:
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / 1e6


FREE = Price()


@dataclass(frozen=True)
class Budget:
    """None: no limit. Of a conversation that goes on from another's turn, what comes after that turn."""

    turns: int = 12
    tokens: int | None = None
    money: float | None = None
    seconds: float | None = None
    reply_tokens: int | None = None
    """Of one answer."""


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class Score:
    """How good a bundle is on a task; larger is better. speedup: geometric mean end to end, 1 if nothing was timed."""

    accepted: int
    total: int
    speedup: float = 1.0

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], total: int) -> "Score":
        """The score of a bundle's outcomes on a task of so many subgraphs."""
        speedups = [each.value for outcome in outcomes if (each := outcome.speedup()) is not None and each.value > 0]
        mean = math.exp(math.fsum(map(math.log, speedups)) / len(speedups)) if speedups else 1.0
        return cls(sum(outcome.verdict.accepted for outcome in outcomes), total, mean)

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

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens


@dataclass(frozen=True)
class Opening:
    """What a conversation began with. operators: of the task's first subgraph; subgraphs: their digests; prompts: the
    digest of the prompt files; start: of the bundle that was there already. branched_from: the conversation whose
    turns up to branched_at are its own first ones. recorded: who made it where, empty: this playground."""

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


@dataclass(frozen=True)
class Ending:
    """What came of it. verdicts: how many subgraphs got which, of the best bundle; speedup: None where nothing was
    timed; best: that bundle's digest. reason: a sentence where the model failed."""

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


@dataclass(frozen=True)
class Trajectory:
    """All that was said and done. ending: None while it lasts, and where it was interrupted."""

    opening: Opening
    turns: tuple[Turn, ...]
    ending: Ending | None

    @property
    def own(self) -> tuple[Turn, ...]:
        """The turns that are not another conversation's."""
        return self.turns[self.opening.branched_at :]

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.own)

    @property
    def cost(self) -> float:
        return sum(turn.cost for turn in self.own)

    @property
    def best(self) -> Turn | None:
        """The first of the turns whose bundle nothing later surpassed."""
        scored = [turn for turn in self.turns if turn.score is not None and turn.bundle is not None]
        return max(scored, key=lambda turn: turn.score.order if turn.score else (0, 0.0), default=None)


def trajectory_lines(trajectory: Trajectory) -> list[str]:
    """The lines of a trajectory.jsonl."""
    rows: list[dict[str, Any]] = [{"format": FORMAT, "opening": to_json(trajectory.opening)}]
    rows += [{"turn": to_json(turn)} for turn in trajectory.turns]
    rows += [{"ending": to_json(trajectory.ending)}] if trajectory.ending else []
    return [json.dumps(row, allow_nan=False) + "\n" for row in rows]


def read_trajectory(path: Path) -> Trajectory:
    """Raises BadInput where it cannot be read. A last line that is not whole is left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
        if rows[0].get("format") != FORMAT:
            raise BadInput(f"{path} has another format; this version reads {FORMAT}.")
        turns = tuple(from_json(Turn, row["turn"]) for row in rows if "turn" in row)
        endings = [from_json(Ending, row["ending"]) for row in rows if "ending" in row]
        return Trajectory(from_json(Opening, rows[0]["opening"]), turns, endings[0] if endings else None)
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is no trajectory: {type(error).__name__}: {error}") from error
