"""The rules as a solver: they write a task's bundle in a few ways, and one of them is kept."""

from dataclasses import dataclass, field
from enum import StrEnum

from passnet_core.errors import BadInput
from passnet_core.records import Outcome, Task
from passnet_core.records.trajectories import Alternative, End, Score
from passnet_core.solvers.base import Attempt, Bench, Options, Watch
from passnet_core.solvers.rules.candidates import Candidate, by_measurement, by_model, candidates, worth


class Choice(StrEnum):
    """How one of the candidates is chosen."""

    MEASURE = "measure"
    """Each is judged. Of those that are accepted on most subgraphs, the first is kept unless the aggregate score of
    another is clearly higher."""
    MODEL = "model"
    """The first is kept unless another is clearly faster by the cost model, and only that one is judged."""


@dataclass(frozen=True)
class Rules:
    """Fused kernels by rules, without a language model. The same task always gets the same candidates.

    choose: None: by measurement where the bench takes times, otherwise by the cost model."""

    name: str = "rules"
    options: Options = field(default_factory=Options)
    choose: Choice | None = None

    def solve(self, task: Task, bench: Bench, watch: Watch) -> Attempt:
        """Write the candidates, and choose. The bundle counts even where some subgraphs are not accepted.

        Raises BadInput if it was to choose by measurement and the bench takes no times."""
        timed = bench.surroundings((), 0.0, watch.cancelled).timed
        choose = self.choose or (Choice.MEASURE if timed else Choice.MODEL)
        if choose is Choice.MEASURE and not timed:
            raise BadInput(
                "Candidates are measured only where the judge takes times: on a GPU, with --stage measure. Judge there,"
                " or use --choose model."
            )
        try:
            found = candidates(task)
        except BadInput as problem:
            return Attempt(End.FAILED, reason=str(problem))
        judged: dict[str, tuple[Outcome, ...]] = {}
        for each in found if choose is Choice.MEASURE else (by_model(found),):
            outcomes = bench.evaluate(each.bundle, watch.cancelled)
            if watch.cancelled.is_set():
                return Attempt(End.STOPPED)
            if (unjudged := next((one for one in outcomes if not one.verdict.judged), None)) is not None:
                return Attempt(End.FAILED, reason=unjudged.reason)
            judged[each.bundle.digest] = outcomes
        kept = by_measurement(found, judged)
        outcomes = judged[kept.bundle.digest]
        told = tuple(
            _measured(each, judged[each.bundle.digest], each is kept)
            if choose is Choice.MEASURE
            else Alternative(each.name, each.bundle.digest, each.speedup, measured=False, kept=each is kept)
            for each in found
        )
        score = Score.of(outcomes, len(task.subgraphs))
        return Attempt(End.FINISHED, best=kept.bundle, score=score, outcomes=outcomes, alternatives=told)


def _measured(candidate: Candidate, outcomes: tuple[Outcome, ...], kept: bool) -> Alternative:
    score = Score.of(outcomes, len(outcomes))
    speedup = score.speedup if any(each.speedup() for each in outcomes) else None
    return Alternative(
        candidate.name, candidate.bundle.digest, speedup, True, kept, score.accepted, aggregate=worth(outcomes)
    )
