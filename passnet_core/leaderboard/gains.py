"""How tasks stand: TorchInductor and the best solver beside eager, and in which tasks there is most to gain."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from passnet_core.records import BASELINE_NAMES, Baseline
from passnet_core.store.rows import Standing

INDUCTOR = BASELINE_NAMES[Baseline.INDUCTOR]


@dataclass(frozen=True)
class TaskStanding:
    """The results of a task over its subgraphs.

    attempts: outcomes of passes. right: on how many subgraphs some bundle is right. eager_us: eager's time per call, in
    microseconds. inductor: TorchInductor's speedup over eager. best: the same of the best solver, which may be
    TorchInductor. best_by: its name, or several if they lead on different subgraphs. measured: the subgraphs that these
    figures, all end to end, are geometric means of; all have the same device, capture, profile and clock version."""

    attempts: int = 0
    right: int = 0
    eager_us: float | None = None
    inductor: float | None = None
    best: float | None = None
    best_by: str = ""
    measured: tuple[Standing, ...] = ()

    @property
    def inductor_slower(self) -> bool:
        return self.inductor is not None and self.inductor < 1

    @property
    def lost_us(self) -> float:
        """How many microseconds a call takes longer with TorchInductor than eager; 0 if it is faster or not timed."""
        if self.eager_us is None or self.inductor is None:
            return 0.0
        return max(self.eager_us / self.inductor - self.eager_us, 0.0)


NEVER_TRIED = TaskStanding()


@dataclass(frozen=True)
class Lead:
    """The best speedup over eager on a subgraph, who has it, and in which run."""

    speedup: float
    name: str
    run_id: str


def standing_by_task(standings: Iterable[Standing]) -> dict[str, TaskStanding]:
    """Return how each task with outcomes stands."""
    by_task: dict[str, list[Standing]] = {}
    for each in standings:
        by_task.setdefault(each.task_id, []).append(each)
    return {task_id: _together(each) for task_id, each in by_task.items()}


def lead_of(standing: Standing) -> Lead | None:
    """Return who is best on a subgraph, passes before TorchInductor at equal speed; None if nobody was timed."""
    leads = []
    if standing.best_speedup is not None and standing.best_run_id is not None:
        leads.append(Lead(standing.best_speedup, standing.best_by or "unnamed passes", standing.best_run_id))
    if standing.inductor_speedup is not None and standing.inductor_run_id is not None:
        leads.append(Lead(standing.inductor_speedup, INDUCTOR, standing.inductor_run_id))
    return max(leads, key=lambda lead: lead.speedup, default=None)


def order_by_gain(task_id: str, standing: TaskStanding, models: int) -> tuple[int, float, int, str]:
    """Return a sort key that puts tasks first in which there is most to gain. models: in how many the task occurs.

    First come the tasks that TorchInductor makes slower and on which no solver is faster than eager: those before the
    others where a call loses the most time to it. Then come all others that were measured: the smaller the best
    speedup, the earlier. Last are those never measured, the ones in most models first. Names decide between equals."""
    if standing.best is None:
        return 2, 0.0, -models, task_id
    if standing.inductor_slower and standing.best <= 1:
        return 0, -standing.lost_us, -models, task_id
    return 1, standing.best, -models, task_id


def _together(standings: Sequence[Standing]) -> TaskStanding:
    timed = [each for each in standings if lead_of(each) is not None]
    # where TorchInductor was timed on some subgraphs, only these tell how it compares
    measured = tuple(each for each in timed if each.inductor_speedup is not None) or tuple(timed)
    leads = [lead for each in measured if (lead := lead_of(each))]
    names = Counter(lead.name for lead in leads)
    return TaskStanding(
        attempts=sum(each.attempts for each in standings),
        right=sum(each.right > 0 for each in standings),
        eager_us=_mean([each.eager_us for each in measured]),
        inductor=_mean([each.inductor_speedup for each in measured]),
        best=_mean([lead.speedup for lead in leads]),
        best_by=", ".join(name for name, _ in names.most_common()),
        measured=measured,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the geometric mean; None if there are no values, or if one is missing or not positive."""
    known = [value for value in values if value is not None and value > 0]
    return geometric_mean(known) if known and len(known) == len(values) else None
