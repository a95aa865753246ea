"""Make score reports from outcomes: which outcomes are samples, which are left out and why, and each solver's curve."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import Any, Unpack

from passnet_core import records
from passnet_core.errors import BadInput, EmptyScore
from passnet_core.records import (
    CONTENDER_KEYS,
    ERROR_CLASS,
    TIMED,
    Baseline,
    Capture,
    Device,
    ErrorClass,
    Outcome,
    Profile,
    SolverKind,
    Stage,
    Verdict,
    from_json,
    to_json,
)
from passnet_core.scoring.scores import (
    LEVELS,
    PENALTY_FAILED,
    PENALTY_SLOW,
    Interpretation,
    Sample,
    SampleTable,
    Terms,
    aggregate,
    error_aware_logs,
    error_aware_score,
    parameters,
    score,
    score_interval,
)

VALUES_ONLY = "values only"
NOT_MEASURED = "not measured"
INCONCLUSIVE = "inconclusive"
ABORTED_AS = ErrorClass.RUNTIME
"""The class of error of an outcome that PassNet's protocol aborted, if aborts are asked to count as failures."""


@dataclass(frozen=True)
class ReportEntry:
    """What scoring needs to know of one outcome. sample: None if it is not scored; left_out then says why."""

    solver: SolverKind
    bundle_digest: str | None
    baseline: Baseline | None
    """The baseline that is the solver; None where passes are."""
    device: str
    """The device's name; empty if it is not known."""
    capture: Capture
    profile: Profile
    clock_version: int | None
    """None if it is not known."""
    task_id: str
    subgraph_id: str
    verdict: Verdict
    finished_at: str
    sample: Sample | None
    left_out: str = ""


Line = tuple[SolverKind, str | None, Baseline | None, str, Capture, Profile, int | None]
"""What identifies a curve: solver, bundle or baseline, device, capture, profile and clock version."""


@dataclass(frozen=True)
class LevelScore:
    """The figures at one t, as in GraphNet's tables (see Parameters). low, high: the 95% bootstrap interval of es."""

    t: int
    alpha: float
    beta: float
    correct: float
    """Lambda."""
    slower: float
    """Eta."""
    gamma: float
    s: float | None
    """S(t); None from t = 1 on, where it is not defined."""
    es: float
    low: float
    high: float


@dataclass(frozen=True)
class ScoreReport:
    """One solver's scores on one device, with one capture, profile and clock version (None: no judge answered). Without
    samples, aggregate is None."""

    solver: SolverKind
    bundle_digest: str | None
    baseline: Baseline | None
    device: str
    capture: Capture
    profile: Profile
    clock_version: int | None
    interpretation: Interpretation
    p: float
    b: float
    subgraphs: tuple[tuple[str, str], ...]
    """(task, subgraph) of each sample, sorted."""
    left_out: tuple[tuple[str, int], ...]
    """(reason, number of outcomes) of the outcomes that are not samples."""
    aborts: int
    """How many of the samples were aborted by PassNet's protocol and count as failures, because that was asked for."""
    levels: tuple[LevelScore, ...]
    aggregate: float | None

    @property
    def samples(self) -> int:
        return len(self.subgraphs)

    def at(self, t: int) -> LevelScore | None:
        return next((level for level in self.levels if level.t == t), None)


@dataclass(frozen=True)
class Contribution:
    """What one subgraph contributes to ES(t). factor: what it counts as in the geometric mean of n subgraphs.

    multiplies: factor^(1/n); the product over all subgraphs is ES(t). if_fixed: ES(t) if this subgraph were within
    t and no slower than eager. correct: whether it is within this t."""

    task_id: str
    subgraph_id: str
    verdict: Verdict
    speedup: float | None
    factor: float
    multiplies: float
    if_fixed: float
    correct: bool

    @property
    def said(self) -> str:
        """The verdict, and how ES(t) treats it, in words."""
        if self.correct:
            return self.verdict.value
        why = f"{self.verdict.value}, but not within this t" if self.verdict in TIMED else self.verdict.value
        return f"{why}, tolerated at this t" if self.factor == 1 else why

    @property
    def counted(self) -> str:
        """The verdict and the factor in words."""
        return f"{self.said}, counts as {self.factor:.3g}"

    @property
    def mended(self) -> str:
        """What ES(t) would be after a repair, in words."""
        return f"if within t: {self.if_fixed:.4f}" if self.factor < 1 else "no gain"


def entry_of(outcome: Outcome) -> ReportEntry:
    """The report entry of an outcome."""
    left_out = why_left_out(outcome.verdict, outcome.spec.stage, outcome.spec.device)
    sample = None
    if not left_out:
        speedup = outcome.speedup()
        correct = [t for t in records.LEVELS if outcome.accuracy is not None and outcome.accuracy.correct_at(t)]
        sample = Sample(speedup.value if speedup else None, frozenset(correct), outcome.error_class)
    return ReportEntry(
        solver=outcome.solver,
        bundle_digest=outcome.bundle_digest,
        baseline=outcome.baseline,
        device=outcome.environment.device if outcome.environment else "",
        capture=outcome.spec.capture,
        profile=outcome.spec.profile,
        clock_version=outcome.environment.clock_version if outcome.environment else None,
        task_id=outcome.task_id,
        subgraph_id=outcome.subgraph_id,
        verdict=outcome.verdict,
        finished_at=outcome.finished_at,
        sample=sample,
        left_out=left_out,
    )


def read_entries(lines: Iterable[str]) -> Iterator[ReportEntry]:
    """Read a file of outcomes in the documented form, or an exported run. Raises BadInput that names the line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            if not isinstance(data, dict):
                raise BadInput("it must be a JSON object.")
            if "verdict" in data:
                yield _entry_from_json(data)
            elif "outcome" in data:
                yield entry_of(from_json(Outcome, data["outcome"]))
            elif "run" not in data and "bundle" not in data:
                raise BadInput("it is not an outcome of this project.")
        except (ValueError, KeyError, TypeError, RecursionError, BadInput) as error:
            said = f"it lacks the field {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise BadInput(
                f"Line {number} cannot be scored: {said}. Use a file that evaluate --outcomes or runs export wrote."
            ) from error


def _entry_from_json(data: Mapping[str, Any]) -> ReportEntry:
    verdict = Verdict(data["verdict"])
    left_out = why_left_out(verdict, Stage(data["stage"]), Device(data["device"]))
    solver = SolverKind(data["solver"])
    sample = None
    if not left_out:
        clock = data["speedups"].get(CONTENDER_KEYS[solver.contender], {}).get("end_to_end")
        error_class = data["error_class"]
        sample = Sample(
            speedup=None if clock is None else float(clock["value"]),
            correct_at=frozenset(int(t) for t in data["correct_at"]),
            error_class=None if error_class is None else ErrorClass(error_class),
        )
    environment = data["environment"]
    return ReportEntry(
        solver=solver,
        bundle_digest=data["bundle_digest"],
        baseline=Baseline(data.get("baseline", Baseline.INDUCTOR)) if solver is SolverKind.INDUCTOR else None,
        device=(environment or {}).get("device", ""),
        capture=Capture(data["capture"]),
        profile=Profile(data.get("profile", data["inputs"])),
        clock_version=environment.get("clock_version", 1) if environment else None,
        task_id=str(data["task"]),
        subgraph_id=str(data["subgraph"]),
        verdict=verdict,
        finished_at=str(data["finished_at"]),
        sample=sample,
        left_out=left_out,
    )


def why_left_out(verdict: Verdict, stage: Stage, device: Device) -> str:
    """Say why an outcome is not a sample; empty if it is one.

    Samples are outcomes that a GPU timed, and failures of candidates that were to be timed on one. A failure without a
    GPU is no sample: right results cannot be timed there, so that only failures would count."""
    if verdict in TIMED:
        return ""
    if not verdict.judged:
        return verdict.value
    if verdict is Verdict.VALUES_ONLY:
        return VALUES_ONLY
    if verdict is Verdict.INCONCLUSIVE:
        return INCONCLUSIVE
    if verdict is Verdict.NEEDS_GPU:
        return verdict.value
    if stage is not Stage.MEASURE or device is not Device.CUDA or ERROR_CLASS[verdict] is None:
        return NOT_MEASURED
    return ""


def aborted(verdict: Verdict, profile: Profile) -> bool:
    """Whether PassNet's protocol aborted the outcome, because a clock was too unsteady. By default it is left out, to
    be run again; PassNet counts it as a failure. The strict profile aborts nothing."""
    return verdict is Verdict.INCONCLUSIVE and profile is Profile.PASSNET


def newest(entries: Iterable[ReportEntry]) -> tuple[ReportEntry, ...]:
    """Keep one entry per curve and subgraph: the one that finished last, but a sample rather than any other entry."""
    kept: dict[tuple[Any, ...], ReportEntry] = {}
    for entry in entries:
        key = (*_line_of(entry), entry.task_id, entry.subgraph_id)
        old = kept.get(key)
        if old is None or (entry.sample is not None, entry.finished_at) >= (old.sample is not None, old.finished_at):
            kept[key] = entry
    return tuple(kept.values())


def score_reports(
    outcomes: Iterable[Outcome | ReportEntry], *, aborts_fail: bool = False, **terms: Unpack[Terms]
) -> tuple[ScoreReport, ...]:
    """One report per curve. For each subgraph, the newest outcome counts.

    aborts_fail: count what PassNet's protocol aborted as a runtime failure, where no other outcome is a sample."""
    entries = [each if isinstance(each, ReportEntry) else entry_of(each) for each in outcomes]
    groups: dict[Line, list[ReportEntry]] = {}
    for entry in newest(_with_devices(entries)):
        groups.setdefault(_line_of(entry), []).append(_failed_if_aborted(entry) if aborts_fail else entry)
    return tuple(score_report(group, **terms) for group in groups.values())


def score_report(
    entries: Sequence[ReportEntry],
    *,
    p: float = PENALTY_SLOW,
    b: float = PENALTY_FAILED,
    interpretation: Interpretation | str = Interpretation.DEFAULT,
) -> ScoreReport:
    """The report of entries of one curve. Raises EmptyScore without entries."""
    if not entries:
        raise EmptyScore("There is no outcome to report on. Run an evaluation first.")
    scored = sorted((each for each in entries if each.sample), key=lambda each: (each.task_id, each.subgraph_id))
    samples = [each.sample for each in scored if each.sample]
    table = SampleTable.of(samples) if samples else None
    kind, first = Interpretation(interpretation), entries[0]
    levels = () if table is None else tuple(_level(table, t, p=p, b=b, interpretation=kind) for t in LEVELS[kind])
    return ScoreReport(
        solver=first.solver,
        bundle_digest=first.bundle_digest,
        baseline=first.baseline,
        device=first.device,
        capture=first.capture,
        profile=first.profile,
        clock_version=first.clock_version,
        interpretation=kind,
        p=p,
        b=b,
        subgraphs=tuple((each.task_id, each.subgraph_id) for each in scored),
        left_out=tuple(Counter(each.left_out for each in entries if not each.sample).items()),
        aborts=sum(aborted(each.verdict, each.profile) for each in scored),
        levels=levels,
        aggregate=aggregate({level.t: level.es for level in levels}) if levels else None,
    )


def _level(table: SampleTable, t: int, *, p: float, b: float, interpretation: Interpretation) -> LevelScore:
    of = parameters(table, t, b=b, interpretation=interpretation)
    interval = score_interval(table, t, p=p, b=b, interpretation=interpretation)
    return LevelScore(
        t=t,
        **vars(of),
        s=score(table, t, p=p, b=b) if t < 1 else None,
        es=error_aware_score(table, t, p=p, b=b, interpretation=interpretation),
        low=interval.low,
        high=interval.high,
    )


def contributions(entries: Sequence[ReportEntry], t: int, **terms: Unpack[Terms]) -> tuple[Contribution, ...]:
    """What each sample contributes to one point of a curve, worst first. entries: those of one report."""
    scored = [(each, each.sample) for each in entries if each.sample]
    if not scored:
        return ()
    table = SampleTable.of([sample for _, sample in scored])
    logs = error_aware_logs(table, t, **terms)
    mean = float(logs.mean())
    found = [
        Contribution(
            task_id=entry.task_id,
            subgraph_id=entry.subgraph_id,
            verdict=entry.verdict,
            speedup=sample.speedup,
            factor=exp(contributed),
            multiplies=exp(contributed / len(scored)),
            if_fixed=exp(mean - min(contributed, 0.0) / len(scored)),
            correct=correct,
        )
        for (entry, sample), contributed, correct in zip(scored, logs.tolist(), table.correct_at(min(t, 1)).tolist())
    ]
    return tuple(sorted(found, key=lambda each: (each.factor, each.task_id, each.subgraph_id)))


def others_said(rest: Sequence[Contribution]) -> str:
    """Say in one sentence what the remaining subgraphs count as. rest: worst first; if empty, so is the sentence."""
    if not rest:
        return ""
    if len(rest) == 1:
        return f"The other one counts as {rest[0].factor:.3g}."
    middle = exp(sum(log(each.factor) for each in rest) / len(rest))
    span = f"{rest[0].factor:.3g} to {rest[-1].factor:.3g}"
    return f"The other {len(rest)} count as {span}, with a geometric mean of {middle:.3g}."


CONDITIONS = (
    "solver", "bundle_digest", "baseline", "device", "capture", "profile", "clock_version", "interpretation", "p", "b",
)  # fmt: skip
"""Whose scores a report has, and how they were computed."""


def report_to_json(report: ScoreReport) -> dict[str, Any]:
    """The report in the documented JSON form, with the names of GraphNet's tables."""
    return {
        **{name: to_json(getattr(report, name)) for name in CONDITIONS},
        "samples": report.samples,
        "tasks": len({task for task, _ in report.subgraphs}),
        "left_out": dict(report.left_out),
        "aborts": report.aborts,
        "aggregate_score": report.aggregate,
        "levels": [_level_to_json(level) for level in report.levels],
    }


def _level_to_json(level: LevelScore) -> Mapping[str, float | None]:
    return {
        "t": level.t,
        "alpha": level.alpha,
        "beta": level.beta,
        "lambda": level.correct,
        "eta": level.slower,
        "s": level.s,
        "gamma": level.gamma,
        "es": level.es,
        "low": level.low,
        "high": level.high,
    }


def _failed_if_aborted(entry: ReportEntry) -> ReportEntry:
    if not aborted(entry.verdict, entry.profile):
        return entry
    return replace(entry, sample=Sample(None, frozenset(), ABORTED_AS), left_out="")


def _with_devices(entries: Sequence[ReportEntry]) -> list[ReportEntry]:
    """Fill in missing devices and clock versions: a job whose machine failed has none, and gets those of the solver's
    other entries."""

    def key(entry: ReportEntry) -> Line:
        return _line_of(replace(entry, device="", clock_version=None))

    known = {key(each): (each.device, each.clock_version) for each in reversed(entries) if each.device}
    found = [(each.device, each.clock_version) if each.device else known.get(key(each)) for each in entries]
    return [
        replace(entry, device=device, clock_version=version)
        for entry, (device, version) in zip(entries, (each or ("unknown device", None) for each in found))
    ]


def _line_of(entry: ReportEntry) -> Line:
    """The curve that an entry belongs to."""
    return (
        entry.solver, entry.bundle_digest, entry.baseline,
        entry.device, entry.capture, entry.profile, entry.clock_version,
    )  # fmt: skip
