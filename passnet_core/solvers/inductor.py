"""TorchInductor as a solver. It writes no bundle, and its result is judged like that of a bundle."""

from dataclasses import dataclass, field

from passnet_core.records import BASELINE_NAMES, Baseline, Task
from passnet_core.records.trajectories import End, Score
from passnet_core.solvers.base import Attempt, Bench, Options, Watch


@dataclass(frozen=True)
class Inductor:
    """The compiler with which passes are compared. name: that of the baseline in the bench's spec."""

    name: str = BASELINE_NAMES[Baseline.INDUCTOR]
    options: Options = field(default_factory=Options)

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        """Have the judge compile every subgraph with TorchInductor, once."""
        outcomes = bench.evaluate(None, watch.cancelled)
        if watch.cancelled.is_set():
            return Attempt(End.STOPPED)
        if (unjudged := next((each for each in outcomes if not each.verdict.judged), None)) is not None:
            return Attempt(End.FAILED, reason=unjudged.reason)
        return Attempt(End.FINISHED, score=Score.of(outcomes, len(task.subgraphs)), outcomes=outcomes)
