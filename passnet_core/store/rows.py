"""What the store answers: small records, made from rows."""

from dataclasses import dataclass

from passnet_core.records import (
    LEVELS,
    Bundle,
    Capture,
    Clock,
    Contender,
    ErrorClass,
    Job,
    Outcome,
    Profile,
    Run,
    SolverKind,
    Speedup,
    Verdict,
)
from passnet_core.records.trajectories import Ending, Opening, Trajectory


@dataclass(frozen=True)
class JobName:
    """Which job stands at one place of a run: enough to answer for it without its code."""

    job_digest: str
    task_id: str
    subgraph_id: str
    subgraph_digest: str
    dtype: str


@dataclass(frozen=True)
class RunSummary:
    """A run in one line. counts: outcomes per verdict; total: jobs asked for; median_speedup: end to end, if timed."""

    run: Run
    counts: tuple[tuple[Verdict, int], ...]
    accepted: int
    total: int
    device: str
    median_speedup: float | None

    @property
    def done(self) -> int:
        return sum(count for _, count in self.counts)


@dataclass(frozen=True)
class Draft:
    """That something was written for a task. slot: the name of the bundle it started from, or "mine"."""

    task_id: str
    slot: str
    saved_at: str


@dataclass(frozen=True)
class KeptTrajectory:
    """owner: the process that holds the conversation, or held it."""

    trajectory: Trajectory
    owner: str


@dataclass(frozen=True)
class TrajectorySummary:
    """A conversation in one line. accepted: subgraphs, by the best of its turns; None: it evaluated nothing."""

    opening: Opening
    owner: str
    ending: Ending | None
    turns: int
    accepted: int | None


@dataclass(frozen=True)
class Unfinished:
    """A run with jobs that have no outcome. owner: the process that judges it."""

    run: Run
    owner: str
    positions: tuple[int, ...]
    jobs: tuple[JobName, ...]


@dataclass(frozen=True)
class RunFile:
    """A run with all that belongs to it: what one exchange file says. One outcome per job, in order."""

    run: Run
    bundles: tuple[Bundle, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class ScoreRow:
    """The newest MEASURE outcome of one solver on one subgraph, device, capture and profile that is a sample.

    device: the device's name; correct_bits: bit i says correct at LEVELS[i]; speedup: end to end; noise: as in Outcome.
    low, high: the 95% interval of the speedup, where there is one.
    """

    run_id: str
    recorded: str
    solver: SolverKind
    bundle_digest: str | None
    author: str
    task_id: str
    subgraph_id: str
    subgraph_digest: str
    dtype: str
    device: str
    capture: Capture
    profile: Profile
    verdict: Verdict
    error_class: ErrorClass | None
    speedup: float | None
    correct_bits: int
    finished_at: str
    noise: float | None
    low: float | None = None
    high: float | None = None

    @property
    def correct_at(self) -> frozenset[int]:
        return levels_of(self.correct_bits)


@dataclass(frozen=True)
class BaselineRow:
    """The newest timed outcome of TorchInductor against eager on one subgraph, device and capture, judged strictly.

    device: its name; speedups: Inductor's, per clock; times: medians in microseconds per call; noise: as in Outcome.
    """

    run_id: str
    recorded: str
    task_id: str
    subgraph_id: str
    dtype: str
    device: str
    capture: Capture
    finished_at: str
    noise: float | None
    speedups: tuple[Speedup, ...]
    times: tuple[tuple[Contender, Clock, float], ...]

    def speedup(self, clock: Clock) -> Speedup | None:
        return next((each for each in self.speedups if each.clock is clock), None)

    def time(self, contender: Contender, clock: Clock) -> float | None:
        return next((time for who, which, time in self.times if (who, which) == (contender, clock)), None)


@dataclass(frozen=True)
class SampleColumns:
    """The scored outcomes of a run, or of all, as columns of equal length.

    speedups: end to end, NaN where nothing was timed; correct_bits as in ScoreRow; error_classes: "" for none.
    """

    speedups: tuple[float, ...]
    correct_bits: tuple[int, ...]
    error_classes: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """What is known of one subgraph, over all runs: how many bundles were judged on it, and how many were right.

    Speedups are end to end, None: not measured. inductor_speedup: the newest; best_speedup: of any bundle's runs.
    """

    task_id: str
    subgraph_id: str
    attempts: int
    right: int
    inductor_speedup: float | None
    best_speedup: float | None
    best_run_id: str | None


def bits_of(outcome: Outcome) -> int:
    """The levels at which all outputs are correct, bit i for LEVELS[i]."""
    if outcome.accuracy is None:
        return 0
    return sum(1 << index for index, t in enumerate(LEVELS) if outcome.accuracy.correct_at(t))


def levels_of(bits: int) -> frozenset[int]:
    """Inverse of bits_of."""
    return frozenset(t for index, t in enumerate(LEVELS) if bits >> index & 1)


def name_of(job: Job) -> JobName:
    subgraph = job.subgraph
    return JobName(job.digest, subgraph.task_id, subgraph.id, subgraph.digest, subgraph.dtype)
