"""TorchInductor as a solver: it needs no bundle, and its one answer is judged like any other."""

from dataclasses import dataclass, field

from passnet_core.records import CONTENDER_NAMES, Contender, Task
from passnet_core.records.trajectories import End, Score
from passnet_core.solvers.base import Attempt, Bench, Options, Watch


@dataclass(frozen=True)
class Inductor:
    """The compiler that passes are compared with."""

    name: str = CONTENDER_NAMES[Contender.BASELINE]
    options: Options = field(default_factory=Options)

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        """Has every subgraph judged once, compiled by TorchInductor."""
        outcomes = bench.evaluate(None, watch.cancelled)
        end = End.STOPPED if watch.cancelled.is_set() else End.FINISHED
        return Attempt(end, score=Score.of(outcomes, len(task.subgraphs)), outcomes=outcomes)
