"""Make the one outcome of a job from its facts: which finding takes precedence, and the reason in a sentence."""

import signal
from collections.abc import Collection, Mapping, Sequence

from passnet_core.bundles.static_rules.rules import MISTAKES, RETURN
from passnet_core.judge.protocol.messages import (
    REFUSED,
    CandidateEnd,
    CandidateFault,
    CandidateGone,
    CandidateTimeout,
    ErrorPlace,
)
from passnet_core.judge.stages.findings import Facts
from passnet_core.records import (
    RIGHT,
    TIMED,
    WRONG,
    Device,
    Environment,
    Evidence,
    Finding,
    Job,
    MatchReport,
    Outcome,
    Phase,
    SolverKind,
    Stage,
    Verdict,
)

FAULTS: Mapping[str, tuple[Verdict, str]] = {
    "load": (Verdict.DOES_NOT_LOAD, "The bundle does not load"),
    "pattern": (Verdict.DOES_NOT_LOAD, "The bundle does not load"),
    "rewrite": (Verdict.REWRITE_FAILED, "Nothing was replaced"),
    "compile": (Verdict.COMPILE_FAILED, "It does not compile"),
    "runtime": (Verdict.CRASHED, "It raised an exception"),
    "outside": (Verdict.CRASHED, "It uses memory that it was not given"),
    "launch": (Verdict.CRASHED, "A GPU refuses a launch"),
    "memory": (Verdict.CRASHED, "It ran out of memory"),
    "protocol": (Verdict.CRASHED, "Its process sent an invalid answer"),
    "form": (Verdict.WRONG_TYPE, "Its result has the wrong form"),
    "plan": (Verdict.REJECTED, "Its host code leaves no plan"),
    "alone": (Verdict.DOES_NOT_LOAD, "A kernel cannot be loaded without the rest of the bundle"),
    "gpu": (Verdict.NEEDS_GPU, "Triton's interpreter, which judges without a GPU, cannot run"),
}
"""For each kind of fault of the candidate: the verdict, and the first words of the reason."""


NO_PLAN = "plan"
"""The rule that the host code of a replacement breaks if it depends on more than the form of its arguments."""

_LINKS = {"gpu": ""}
"""What stands between the first words of a reason and what the worker said, if not a colon."""

FATAL_SIGNALS = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV}
"""The exit codes of a process that an operation ended: integer overflow in a division, an invalid pivot."""

DOUBTS = (Verdict.CHEAT, Verdict.LIBRARY, Verdict.INCONCLUSIVE)
"""The verdicts that keep right values from being ranked, whichever stage found them, the gravest first."""


def outcome(
    job: Job,
    facts: Facts,
    *,
    environment: Environment | None,
    wall_s: float,
    finished_at: str,
    log_tail: str,
) -> Outcome:
    """The outcome of a job with these facts. finished_at: UTC, as in ISO 8601. log_tail: the end of the candidate's
    log."""
    verdict, reason = decide(job, facts)
    if environment is None and verdict.judged:
        verdict, reason = (
            Verdict.INFRASTRUCTURE,
            f"The judge could not identify the machine that it ran on. Its reason would have been: {reason}",
        )
    measurement = facts.measurement
    shown = measurement is not None and verdict in TIMED | {Verdict.INCONCLUSIVE, Verdict.CHEAT}
    accuracy = facts.verification.accuracy if facts.verification else None
    return Outcome(
        **job.outcome_fields,
        verdict=verdict,
        reason=reason,
        environment=environment,
        wall_s=wall_s,
        finished_at=finished_at,
        findings=_findings(job, facts, verdict),
        match=facts.match,
        accuracy=accuracy,
        timings=measurement.timings if measurement and shown else (),
        speedups=measurement.speedups if measurement and verdict in TIMED else (),
        noise=measurement.noise if measurement and shown else None,
        warnings=_warnings(facts),
        evidence=_evidence(facts),
        log_tail=log_tail,
    )


def decide(job: Job, facts: Facts) -> tuple[Verdict, str]:
    """The verdict, and its reason as one or two sentences for people."""
    fatal = [finding for finding in facts.findings if finding.fatal]
    verification, measurement, match = facts.verification, facts.measurement, facts.match
    if facts.problem:
        return Verdict.INFRASTRUCTURE, facts.problem
    if facts.end is not None and facts.end.who == "witness" and job.solver is SolverKind.PASSES:
        if isinstance(facts.end, CandidateFault) and REFUSED in facts.end.text:
            return Verdict.EAGER_FAILED, f"Eager failed: {_sentence(facts.end)}"
        if isinstance(facts.end, CandidateGone) and facts.end.status in FATAL_SIGNALS:
            return Verdict.EAGER_FAILED, f"Eager failed: an operation ended its process. {_sentence(facts.end)}"
        return Verdict.INFRASTRUCTURE, f"The process that computes eager (the witness) ended: {_sentence(facts.end)}"
    if verification is not None and verification.verdict is Verdict.EAGER_FAILED:
        return verification.verdict, verification.reason
    if fatal:
        return Verdict.REJECTED, _rejected(fatal)
    if facts.end is not None and facts.during == Phase.LOAD:
        return _ended(facts.end, facts.during, _told(job, facts))
    if facts.rewrite_problem:
        return Verdict.REWRITE_FAILED, f"The graph cannot be rewritten: {facts.rewrite_problem}"
    if job.solver is SolverKind.PASSES and match is None:
        return Verdict.INFRASTRUCTURE, "The judge stopped before it matched the passes. Run the job again."
    if match is not None and not match.count:
        mistake = _mistake(facts.findings, [RETURN])
        return Verdict.NO_MATCH, f"{mistake} So the pass does not match." if mistake else _no_match(match)
    if facts.end is not None:
        verdict, reason = _ended(facts.end, facts.during, _told(job, facts))
        if verdict is Verdict.NEEDS_GPU and job.spec.device is Device.CUDA:
            # its kernels have one; its host code, which records plans, has none
            return Verdict.REJECTED, f"Its host code leaves no plan: {_sentence(facts.end)}"
        return verdict, reason
    if verification is not None and verification.verdict in WRONG:
        of_form = verification.verdict in (Verdict.WRONG_TYPE, Verdict.WRONG_SHAPE)
        mistake = _mistake(facts.findings, [RETURN]) if of_form else ""
        return verification.verdict, mistake or verification.reason
    if job.spec.stage is Stage.CHECK:
        return (
            (Verdict.MATCHED, _matched(match))
            if match
            else (Verdict.INFRASTRUCTURE, "Inductor has no passes to check.")
        )
    if verification is None:
        return Verdict.INFRASTRUCTURE, "The judge stopped before it compared values. Run the job again."
    if facts.census is not None and facts.census.verdict in WRONG | {Verdict.COMPILE_FAILED}:
        return facts.census.verdict, facts.census.reason
    doubts = (part for part in facts.parts if part.verdict in DOUBTS)
    doubt = min(doubts, key=lambda part: DOUBTS.index(part.verdict), default=None)
    if doubt is not None:
        return doubt.verdict, doubt.reason
    if measurement is not None and job.spec.stage is Stage.MEASURE:
        return measurement.verdict, measurement.reason
    if job.spec.stage is Stage.MEASURE:
        return (
            Verdict.INFRASTRUCTURE,
            "The values are right, but the judge stopped before it took times. Run the job again.",
        )
    assert verification.verdict in RIGHT
    return verification.verdict, verification.reason


def _rejected(fatal: list[Finding]) -> str:
    """The first fatal finding, and how many more there are."""
    first, more = fatal[0], len(fatal) - 1
    rest = f" ({more} more)" if more else ""
    return f"{first.file} line {first.line}, rule {first.rule}: {first.message}{rest}"


def _no_match(match: MatchReport) -> str:
    """Why no pass matches: the pass that came nearest, and what stopped it."""
    if not match.passes:
        return "The bundle contains no pass."
    missed = [(each.name, each.miss) for each in match.passes if each.miss is not None]
    if not missed:
        return "No pass matches this subgraph."
    name, miss = max(missed, key=lambda each: len(each[1].matched))
    lead = "The pass does not match" if len(match.passes) == 1 else f"None of {len(match.passes)} passes matches"
    return f"{lead}. {name} came nearest: {miss.reason}"


def _matched(match: MatchReport) -> str:
    hits = [each for each in match.passes if each.matches]
    places = f"{match.count} place" + ("s" if match.count != 1 else "")
    if len(match.passes) == 1:
        return f"The pass matches in {places}."
    return f"{len(hits)} of {len(match.passes)} passes match, in {places}."


def _blamed(job: Job, facts: Facts) -> ErrorPlace | None:
    """The line of the bundle at which its worker failed; None if there is none."""
    end = facts.end
    if not isinstance(end, CandidateFault) or end.who == "witness" or end.place is None or job.bundle is None:
        return None
    lines = {file.name: file.code.count("\n") + 1 for file in job.bundle.files}
    return end.place if 0 < end.place.line <= lines.get(end.place.file, 0) else None


def _told(job: Job, facts: Facts) -> str:
    """What an ended worker's reason says after its first words: the mistake that the static rules have found in the
    file that failed, or else the exception and its place."""
    place = _blamed(job, facts)
    if mistake := _mistake(facts.findings, MISTAKES, place.file if place else ""):
        return mistake
    said = _sentence(facts.end) if facts.end is not None else ""
    if place is None:
        return said
    inside = f", in {place.function}" if place.function.isidentifier() else ""
    return f"{place.file} line {place.line}{inside}: {said}"


def _mistake(findings: Sequence[Finding], rules: Collection[str], file: str = "") -> str:
    """The first mistake against these rules in a file, or in any, with its place and remedy; empty if there is none."""
    found = (each for each in findings if each.rule in rules and not each.fatal and file in ("", each.file))
    first = next(found, None)
    return f"{first.file} line {first.line}: {first.message} {first.remedy}" if first else ""


def _findings(job: Job, facts: Facts, verdict: Verdict) -> tuple[Finding, ...]:
    """The findings of the static rules, and the lines at which the bundle failed, which they may not know."""
    if facts.census is not None and verdict is facts.census.verdict:
        return (*facts.findings, *facts.census.findings)
    place, end = _blamed(job, facts), facts.end
    if (
        verdict is Verdict.REJECTED
        and isinstance(end, CandidateFault)
        and end.kind in ("plan", "gpu")
        and job.bundle is not None
    ):
        where = place or ErrorPlace(job.bundle.passes[0].name, 1, "")
        message, remedy = f"No plan can be recorded: {_sentence(end)}.", "Leave what depends on values to kernels."
        return (*facts.findings, Finding(where.file, where.line, 1, NO_PLAN, message, remedy))
    known = place is not None and _mistake(facts.findings, MISTAKES, place.file)
    if place is None or known or verdict not in {each for each, _ in FAULTS.values()} or end is None:
        return facts.findings
    said = _sentence(end).partition("\n")[0]
    return (*facts.findings, Finding(place.file, place.line, 1, verdict.value, said, "", fatal=False))


def _ended(end: CandidateEnd, during: str, told: str) -> tuple[Verdict, str]:
    """The verdict and reason for a candidate worker that ended early. told: what is said of a fault."""
    match end:
        case CandidateTimeout(seconds=seconds, doing=doing):
            still = f"Your passes were still at work after {seconds:.0f} s, and were stopped"
            return Verdict.TIMED_OUT, f"{still}: the worker was to {doing}."
        case CandidateGone():
            return Verdict.CRASHED, _sentence(end)
        case CandidateFault(kind=kind):
            verdict, words = FAULTS.get(kind, (Verdict.CRASHED, "It failed"))
            if during == Phase.LOAD and verdict in (Verdict.CRASHED, Verdict.NEEDS_GPU) and kind != "memory":
                verdict, words = Verdict.DOES_NOT_LOAD, "The bundle does not load"
            return verdict, f"{words}{_LINKS.get(kind, ':')} {_sentence(end) if kind in _LINKS else told}"
    return Verdict.CRASHED, _sentence(end)


def _sentence(end: CandidateEnd) -> str:
    return str(end).strip() or type(end).__name__


def _warnings(facts: Facts) -> tuple[str, ...]:
    found = list(facts.warnings)
    if facts.match is not None and facts.match.count:
        found += [f"{each.name} matches nothing." for each in facts.match.passes if not each.matches]
    for part in facts.parts:
        found += part.warnings
    return tuple(dict.fromkeys(found))


def _evidence(facts: Facts) -> tuple[Evidence, ...]:
    found = list(facts.evidence)
    if isinstance(facts.end, CandidateFault) and facts.end.trace:
        found.append(Evidence("traceback", facts.end.trace))
    for part in facts.parts:
        found += part.evidence
    return tuple(found)
