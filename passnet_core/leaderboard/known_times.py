"""What a call of one subgraph takes on the machine that knows most of it: eager's, TorchInductor's and the best."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from passnet_core.records import TIMED, Baseline, Capture, Clock, Contender, Outcome
from passnet_core.store.rows import BaselineRow, ScoreRow


@dataclass(frozen=True)
class KnownTime:
    """A median call, in microseconds, end to end. kernels_us: of its kernels, if that was timed. by: who wrote the
    passes; empty for eager and TorchInductor."""

    us: float
    kernels_us: float | None = None
    by: str = ""
    bundle_digest: str = ""

    @property
    def kernels_share(self) -> float:
        """The share of the time in which kernels run."""
        return min((self.kernels_us or 0.0) / self.us, 1.0) if self.us else 0.0


@dataclass(frozen=True)
class KnownTimes:
    """Times on one device with one clock version. day: when eager was timed, as in 2026-11-30."""

    device: str
    clock_version: int
    day: str
    eager: KnownTime
    inductor: KnownTime | None
    best: KnownTime | None


def known_times(
    task: str,
    subgraph: str,
    baselines: Iterable[BaselineRow],
    scores: Sequence[ScoreRow],
    outcomes: Callable[[str], Sequence[Outcome]],
) -> KnownTimes | None:
    """Times in direct capture by the newest clock that has any; None: nobody has timed this subgraph.

    baselines, scores: as the service has them. outcomes: those of a run."""
    rows = [row for row in baselines if (row.task_id, row.subgraph_id) == (task, subgraph)]
    rows = [row for row in rows if row.capture is Capture.DIRECT and row.baseline is Baseline.INDUCTOR]
    row = max(rows, key=lambda each: (each.clock_version, each.finished_at), default=None)
    eager = _of_row(row, Contender.EAGER) if row else None
    if row is None or eager is None:
        return None
    day = row.finished_at[:10]
    alone = KnownTimes(row.device, row.clock_version, day, eager, _of_row(row, Contender.BASELINE), None)
    return _with_best(alone, (task, subgraph), Capture.DIRECT, scores, outcomes)


def times_beside(
    outcome: Outcome, scores: Sequence[ScoreRow], outcomes: Callable[[str], Sequence[Outcome]]
) -> KnownTimes | None:
    """As known_times, on the machine and by the clock of an outcome, with the times that were taken in its run; None:
    it has no times."""
    eager, made = time_of(outcome, Contender.EAGER), outcome.environment
    if eager is None or made is None:
        return None
    day, inductor = outcome.finished_at[:10], time_of(outcome, Contender.BASELINE)
    alone = KnownTimes(made.device, made.clock_version, day, eager, inductor, None)
    return _with_best(alone, (outcome.task_id, outcome.subgraph_id), outcome.spec.capture, scores, outcomes)


def _with_best(
    alone: KnownTimes,
    place: tuple[str, str],
    capture: Capture,
    scores: Sequence[ScoreRow],
    outcomes: Callable[[str], Sequence[Outcome]],
) -> KnownTimes:
    own = [
        each
        for each in scores
        if (each.task_id, each.subgraph_id) == place
        and (each.device, each.capture, each.clock_version) == (alone.device, capture, alone.clock_version)
        and each.verdict in TIMED
        and each.bundle_digest is not None
        and each.speedup is not None
    ]
    best = max(own, key=lambda each: each.speedup or 0.0, default=None)
    return alone if best is None else replace(alone, best=_of_score(best, alone.eager, outcomes))


def time_of(outcome: Outcome, contender: Contender) -> KnownTime | None:
    """The time that an outcome has of somebody."""
    whole, kernels = (outcome.timing(contender, clock) for clock in (Clock.END_TO_END, Clock.KERNEL))
    return KnownTime(whole.median, kernels.median if kernels else None) if whole else None


def _of_row(row: BaselineRow, contender: Contender) -> KnownTime | None:
    whole = row.time(contender, Clock.END_TO_END)
    return None if whole is None else KnownTime(whole, row.time(contender, Clock.KERNEL))


def _of_score(row: ScoreRow, eager: KnownTime, outcomes: Callable[[str], Sequence[Outcome]]) -> KnownTime:
    """The time of passes beside eager's time here: hosts differ, so it is that of eager by the speedup."""
    whole = eager.us / (row.speedup or 1.0)
    found = next((each for each in outcomes(row.run_id) if each.subgraph_id == row.subgraph_id), None)
    own = time_of(found, Contender.PASSES) if found else None
    kernels = min(own.kernels_us, whole) if own and own.kernels_us is not None else None
    return KnownTime(whole, kernels, by=row.author, bundle_digest=row.bundle_digest or "")
