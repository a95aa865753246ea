"""pass@k: the chance that one of k attempts solves a task, by solver, with intervals, and two solvers compared."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from passnet_core.errors import EmptyScore
from passnet_core.leaderboard.grounds import Ground, ground_of
from passnet_core.records import Stage
from passnet_core.records.trajectories import End, Trajectory
from passnet_core.scoring.intervals import Interval, bootstrapped

Attempts = Mapping[str, tuple[int, int]]
"""By task: how many attempts were made, and how many were accepted on every subgraph."""


@dataclass(frozen=True)
class AttemptTally:
    """The attempts of one solver on one ground. stage: how far they were judged."""

    solver: str
    ground: Ground
    stage: Stage
    attempts: Attempts

    @property
    def fewest(self) -> int:
        """The fewest attempts at a task: pass@k is known for k up to it."""
        return min(made for made, _ in self.attempts.values())


def attempt_tallies(found: Iterable[Trajectory]) -> tuple[AttemptTally, ...]:
    """The attempts that ended, by ground and solver. Those in which a model's server failed are left out."""
    counts: dict[tuple[str, Ground, Stage], dict[str, tuple[int, int]]] = {}
    for each in found:
        opening, end = each.opening, each.ending
        if end is None or end.end is End.SERVER:
            continue
        own = counts.setdefault((opening.model, ground_of(opening), opening.spec.stage), {})
        made, solved = own.get(opening.task_id, (0, 0))
        own[opening.task_id] = made + 1, solved + end.solved
    return tuple(AttemptTally(*key, own) for key, own in counts.items())


def chance(made: int, solved: int, k: int) -> float:
    """The unbiased estimate of pass@k for a task: the share of all choices of k attempts with a solved one among them.

    Source: Chen et al., "Evaluating Large Language Models Trained on Code", 2021, equation 1. Raises EmptyScore if
    fewer than k attempts were made."""
    if made < k:
        raise EmptyScore(f"pass@{k} needs at least {k} attempts at every task; one task has {made}.")
    return 1.0 - math.comb(made - solved, k) / math.comb(made, k)


def pass_at(k: int, attempts: Attempts) -> Interval:
    """The mean of pass@k over tasks, with the bootstrap interval over tasks. Raises EmptyScore."""
    return _mean([chance(made, solved, k) for made, solved in attempts.values()])


def gain_at(k: int, before: Attempts, after: Attempts) -> Interval:
    """How much larger pass@k is for `after`, over the tasks that both attempted, paired by task. Raises EmptyScore."""
    both = [task for task in before if task in after]
    return _mean([chance(*after[task], k) - chance(*before[task], k) for task in both])


def _mean(values: Sequence[float]) -> Interval:
    if not values:
        raise EmptyScore("There is no task that was attempted.")
    return bootstrapped(fmean, values)
