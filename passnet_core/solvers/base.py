"""What a solver is: it writes bundles for a task, asks the judge about them, and hands in the best."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from passnet_core.records import Bundle, Device, Environment, Inspection, Outcome, Subgraph, Task
from passnet_core.records.trajectories import DEFAULT_BUDGET, FREE, Budget, End, Price, Score, Turn


@dataclass(frozen=True)
class Surroundings:
    """The machine that judges, and what was found there. environment: None where nothing is known of it.

    inspections: by subgraph id, for the subgraphs that have been inspected.
    """

    device: Device
    environment: Environment | None = None
    inspections: Mapping[str, Inspection] = field(default_factory=dict)


class Bench(Protocol):
    """The judge as a solver sees it, for all subgraphs of one task. When cancelled, it returns what it has by then."""

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        """Runs the static rules and matching."""

    def evaluate(self, bundle: Bundle | None, cancelled: threading.Event) -> tuple[Outcome, ...]:
        """Judges as far as the spec says: values, or values and time. None stands for TorchInductor."""

    def inspect(self, subgraph_id: str, cancelled: threading.Event) -> Inspection:
        """Returns shapes, dtypes and TorchInductor's code. Raises PlaygroundError where they cannot be had."""

    def surroundings(self, subgraphs: Sequence[Subgraph], within_s: float, cancelled: threading.Event) -> Surroundings:
        """Describes the machine, with those inspections of these subgraphs that are known after so many seconds."""


@dataclass(frozen=True)
class Watch:
    """How somebody follows an attempt and ends it. on_text: gets all of the answer that is being written."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    on_turn: Callable[[Turn], None] = lambda turn: None
    on_text: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Options:
    """What a solver was told, as the record of an attempt keeps it. start: a bundle to repair or improve.

    prompts: the digest of what a language model is told, empty for other solvers.
    """

    budget: Budget = DEFAULT_BUDGET
    price: Price = FREE
    start: Bundle | None = None
    prompts: str = ""


@dataclass(frozen=True)
class Attempt:
    """What a solver arrived at. outcomes: those of the best bundle. reason: one sentence where the solver failed.

    A best bundle from before a branch point has no outcomes here. TorchInductor has outcomes and no bundle.
    """

    end: End
    turns: tuple[Turn, ...] = ()
    best: Bundle | None = None
    score: Score | None = None
    outcomes: tuple[Outcome, ...] = ()
    reason: str = ""

    @property
    def cost(self) -> float:
        return sum(turn.cost for turn in self.turns)

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns)


class Solver(Protocol):
    """A language model, a set of rules, TorchInductor."""

    @property
    def name(self) -> str:
        """The label of its results."""

    @property
    def options(self) -> Options:
        """What it was told."""

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        """Makes one attempt. What goes wrong in a model or a bundle is part of the attempt, and raises nothing."""
