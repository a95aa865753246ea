"""The rules as a solver: they write one bundle per task, and the judge judges it."""

from dataclasses import dataclass, field

from passnet_core.errors import BadInput
from passnet_core.records import Task
from passnet_core.records.trajectories import End, Score
from passnet_core.solvers.base import Attempt, Bench, Options, Watch
from passnet_core.solvers.rules.explained import explained


@dataclass(frozen=True)
class Rules:
    """Fused kernels by rules, without a model. The same task always gets the same bundle."""

    name: str = "rules"
    options: Options = field(default_factory=Options)

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        """Write the bundle and have it judged once. It counts even where some subgraphs are not accepted."""
        try:
            bundle = explained(task).bundle
        except BadInput as problem:
            return Attempt(End.FAILED, reason=str(problem))
        outcomes = bench.evaluate(bundle, watch.cancelled)
        if watch.cancelled.is_set():
            return Attempt(End.STOPPED)
        if (unjudged := next((each for each in outcomes if not each.verdict.judged), None)) is not None:
            return Attempt(End.FAILED, reason=unjudged.reason)
        score = Score.of(outcomes, len(task.subgraphs))
        return Attempt(End.FINISHED, best=bundle, score=score, outcomes=outcomes)
