"""The small records that the store's questions return, made from rows."""

from dataclasses import dataclass
from functools import cached_property

from passnet_core.records import (
    LEVELS,
    Baseline,
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
    digest_of,
    to_json,
)
from passnet_core.records.trajectories import Ending, Opening, Trajectory


@dataclass(frozen=True)
class JobName:
    """Identifies the job at one place of a run, without its code."""

    job_digest: str
    task_id: str
    subgraph_id: str
    subgraph_digest: str
    dtype: str


@dataclass(frozen=True)
class RunQuery:
    """Which runs are asked for: at most limit, of all that fit, after the first offset. after: only those that come
    after this run; None: from the newest on. task_id, solver, visitor, starred_by: None for any. checks: include runs
    of stage CHECK. visitor: who asked for them. verdicts: a run fits if it has an outcome with one of these; () for
    any. starred_by: only those that this visitor starred. viewer: only this visitor's, and those that are nobody's."""

    limit: int
    task_id: str | None = None
    solver: SolverKind | None = None
    checks: bool = False
    visitor: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    starred_by: str | None = None
    viewer: str | None = None
    offset: int = 0
    after: str | None = None


@dataclass(frozen=True)
class EarlierRun:
    """The run before another one. device: the device's name. same_subgraphs: whether both are on the same subgraphs."""

    run: Run
    device: str
    same_subgraphs: bool


@dataclass(frozen=True)
class RunNote:
    """What one visitor keeps about a run: a note, "" for none, and whether it is starred."""

    run_id: str
    note: str = ""
    starred: bool = False


@dataclass(frozen=True)
class RunSummary:
    """A run in one line. counts: outcomes per verdict. accepted: how many of them are. total: jobs of the run. device:
    the device's name. median_speedup: end to end; None: nothing was timed. visitor: who asked for it; "" for commands
    and for what was recorded or imported. before: the visitor's run before it on the same tasks, of those that the
    query's `checks` lets in; None: there is none, or the run was recorded."""

    run: Run
    counts: tuple[tuple[Verdict, int], ...]
    accepted: int
    total: int
    device: str
    median_speedup: float | None
    visitor: str = ""
    before: EarlierRun | None = None

    @property
    def done(self) -> int:
        """The number of jobs with an outcome."""
        return sum(count for _, count in self.counts)


@dataclass(frozen=True)
class Draft:
    """Names a saved draft of a bundle. slot: the bundle that the draft started from, or "mine"."""

    task_id: str
    slot: str
    saved_at: str


@dataclass(frozen=True)
class SavedDraft:
    """A saved draft of a bundle. place: grows with each saving of any draft, so it tells one saving from another."""

    place: int
    saved_at: str
    bundle: Bundle


@dataclass(frozen=True)
class PassedLesson:
    """A lesson of a certificate, and the run in which all its stars were earned. judge_digest: of the judge."""

    lesson_id: str
    title: str
    run_id: str
    bundle_digest: str
    verdicts: tuple[Verdict, ...]
    judge_digest: str
    finished_at: str


@dataclass(frozen=True)
class Certificate:
    """What somebody has passed in the course. holder: who it is for, in their own words."""

    holder: str
    lessons: tuple[PassedLesson, ...]

    @cached_property
    def id(self) -> str:
        """Told from the content, so that a link to a certificate never shows another one."""
        return digest_of(to_json(self))


@dataclass(frozen=True)
class KeptTrajectory:
    """A stored conversation. owner: the name of the process that runs it, or ran it. visitor: as in RunSummary."""

    trajectory: Trajectory
    owner: str
    visitor: str = ""


@dataclass(frozen=True)
class TrajectorySummary:
    """A conversation in one line. accepted: the most subgraphs that a turn's bundle was accepted on; None: no bundle
    was evaluated. visitor: as in RunSummary."""

    opening: Opening
    owner: str
    ending: Ending | None
    turns: int
    accepted: int | None
    visitor: str = ""


@dataclass(frozen=True)
class Unfinished:
    """A run with jobs that have no outcome: their places and names. owner: the name of the process that judges it."""

    run: Run
    owner: str
    positions: tuple[int, ...]
    jobs: tuple[JobName, ...]


@dataclass(frozen=True)
class RunFile:
    """A run with its bundles and outcomes, one per job in order: the content of one exchange file."""

    run: Run
    bundles: tuple[Bundle, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Scored:
    """How many outcomes may be on boards. nobodys: of runs that everybody sees. own: of those that a viewer sees
    besides."""

    nobodys: int
    own: int


@dataclass(frozen=True)
class ScoreRow:
    """The newest scored MEASURE outcome of one solver on one subgraph, device, capture, profile and clock version;
    where there is none, the newest that PassNet's protocol aborted, with neither a speedup nor an error class.

    recorded: as in Run. device: the device's name. error_class: None: the candidate did not fail. speedup: end to end;
    None: not timed. correct_bits: bit i is set if the values are right at LEVELS[i]. noise: as in Outcome. low, high:
    the speedup's 95% interval, or None. baseline: the one that is the solver; None where passes are."""

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
    clock_version: int
    verdict: Verdict
    error_class: ErrorClass | None
    speedup: float | None
    correct_bits: int
    finished_at: str
    noise: float | None
    low: float | None = None
    high: float | None = None
    baseline: Baseline | None = None

    @property
    def correct_at(self) -> frozenset[int]:
        return levels_of(self.correct_bits)


@dataclass(frozen=True)
class BaselineRow:
    """The newest timed outcome of a baseline on one subgraph, device, capture and clock version, under the strict
    profile.
    device: the device's name. noise: as in Outcome. speedups: Inductor's over eager, per clock. times: (contender,
    clock, median in microseconds per call)."""

    run_id: str
    recorded: str
    task_id: str
    subgraph_id: str
    dtype: str
    device: str
    capture: Capture
    clock_version: int
    finished_at: str
    noise: float | None
    speedups: tuple[Speedup, ...]
    times: tuple[tuple[Contender, Clock, float], ...]
    baseline: Baseline = Baseline.INDUCTOR

    def speedup(self, clock: Clock) -> Speedup | None:
        return next((each for each in self.speedups if each.clock is clock), None)

    def time(self, contender: Contender, clock: Clock) -> float | None:
        return next((time for who, which, time in self.times if (who, which) == (contender, clock)), None)


@dataclass(frozen=True)
class Standing:
    """The results on one subgraph over all runs.

    attempts: outcomes of bundles from VERIFY on. right: how many of them were accepted. eager_us: eager's median time
    per call, in microseconds. inductor_speedup, inductor_run_id: of TorchInductor in its default configuration.
    best_speedup, best_run_id: the best of any bundle. best_by: its author, or the label of the run. Times and speedups
    are end to end; None: not measured. All of a task are of one device, capture, profile and clock version: the newest
    clock version with times for the task; of that direct capture and the strict profile before others, and then the
    device with the most subgraphs."""

    task_id: str
    subgraph_id: str
    attempts: int
    right: int
    eager_us: float | None = None
    inductor_speedup: float | None = None
    inductor_run_id: str | None = None
    best_speedup: float | None = None
    best_run_id: str | None = None
    best_by: str = ""
    device: str = ""
    capture: Capture | None = None
    profile: Profile | None = None
    clock_version: int | None = None


def bits_of(outcome: Outcome) -> int:
    """Return the levels at which all outputs are right, as bits: bit i for LEVELS[i]."""
    if outcome.accuracy is None:
        return 0
    return sum(1 << index for index, t in enumerate(LEVELS) if outcome.accuracy.correct_at(t))


def levels_of(bits: int) -> frozenset[int]:
    """Return the levels of these bits: the inverse of bits_of."""
    return frozenset(t for index, t in enumerate(LEVELS) if bits >> index & 1)


def name_of(job: Job) -> JobName:
    """Return what identifies the job."""
    subgraph = job.subgraph
    return JobName(job.digest, subgraph.task_id, subgraph.id, subgraph.digest, subgraph.dtype)
