"""The interface of a solver: given a task, it writes bundles, asks the judge about them, and returns the best one.

To write a solver, make a class with `name`, `options` and `solve`:

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        bundle = Bundle((PassFile("fused.py", code_for(task)),))
        outcomes = bench.evaluate(bundle, watch.cancelled)
        score = Score.of(outcomes, len(task.subgraphs))
        return Attempt(End.FINISHED, best=bundle, score=score, outcomes=outcomes)

inductor.py is the smallest solver, llm/conversation.py the largest. `solve` of batch.py runs a solver over many tasks
and keeps its attempts."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from passnet_core.records import (
    Accelerator,
    Bundle,
    Device,
    Environment,
    Inspection,
    NodeValue,
    Outcome,
    Subgraph,
    Task,
)
from passnet_core.records.trajectories import (
    DEFAULT_BUDGET,
    FREE,
    Alternative,
    Budget,
    End,
    OfferedTool,
    Price,
    Score,
    Turn,
)


@dataclass(frozen=True)
class Surroundings:
    """The machine that judges. environment: None if it is not known. values: of the nodes of subgraphs, by subgraph id,
    as far as known. accelerator: the GPU, if it is known. timed: whether right bundles are timed, which takes a GPU and
    a spec that asks for it."""

    device: Device
    environment: Environment | None = None
    values: Mapping[str, Sequence[NodeValue]] = field(default_factory=dict)
    accelerator: Accelerator | None = None
    timed: bool = False


class Bench(Protocol):
    """The judge, as a solver may use it: for all subgraphs of one task.

    Each method blocks. Once `cancelled` is set, it soon returns what it has, or raises as stated."""

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        """Apply the static rules and match the passes. Fast, and needs no GPU."""

    def evaluate(self, bundle: Bundle | None, cancelled: threading.Event) -> tuple[Outcome, ...]:
        """Judge values and, if the spec asks for it, time; one outcome per subgraph. None stands for TorchInductor."""

    def inspect(self, subgraph_id: str, cancelled: threading.Event) -> Inspection:
        """Return shapes, dtypes and the baseline's code. Raises PlaygroundError if they are not available."""

    def surroundings(self, subgraphs: Sequence[Subgraph], within_s: float, cancelled: threading.Event) -> Surroundings:
        """Describe the machine, with the values in these subgraphs that are known within so many seconds."""


@dataclass(frozen=True)
class Watch:
    """How the caller follows an attempt, and stops it. A solver without turns may ignore both callbacks.

    cancelled: when set, the solver returns soon, with End.STOPPED. on_turn: call it with each turn as it ends.
    on_text: call it with the whole text so far of the answer in progress."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    on_turn: Callable[[Turn], None] = lambda turn: None
    on_text: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Options:
    """The settings of a solver, which the record of each attempt keeps. The defaults suit one without settings.

    start: a bundle to repair or improve. prompts: digest of a language model's prompts; empty for other solvers.
    tools: those that its server is offered."""

    budget: Budget = DEFAULT_BUDGET
    price: Price = FREE
    start: Bundle | None = None
    prompts: str = ""
    tools: tuple[OfferedTool, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """The result of a solver on a task. best: the best evaluated bundle; None if there is none, and for TorchInductor.

    turns: the turns of this attempt only. outcomes: those of `best` or of TorchInductor; empty if `best` comes from a
    conversation that this one continues. reason: one sentence where no answer came, otherwise empty. alternatives: what
    `best` was chosen from, itself among it, if the solver wrote several bundles at once. unfinished: the answer that a
    model was writing when the attempt was stopped."""

    end: End
    turns: tuple[Turn, ...] = ()
    best: Bundle | None = None
    score: Score | None = None
    outcomes: tuple[Outcome, ...] = ()
    reason: str = ""
    alternatives: tuple[Alternative, ...] = ()
    unfinished: str = ""

    @property
    def cost(self) -> float:
        return sum(turn.cost for turn in self.turns)

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns)


@runtime_checkable
class Resumable(Protocol):
    """A solver whose interrupted attempts can go on."""

    def resumed(self, turns: Sequence[Turn]) -> "Solver":
        """The solver that goes on after these turns of an attempt, with what is left of its budget."""


class Solver(Protocol):
    """A language model, a set of rules, TorchInductor. solve() must be safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """The label of its results."""

    @property
    def options(self) -> Options:
        """Its settings."""

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        """Make one attempt. Faults of a model or a bundle belong in the attempt: they raise nothing. Raises BadInput if
        the bench cannot do what the solver was set to do."""
