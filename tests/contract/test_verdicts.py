"""The verdict for the findings of the stages: the order of precedence."""

from dataclasses import dataclass, replace

import pytest

from passnet_core.judge.protocol.messages import (
    CandidateFault,
    CandidateGone,
    CandidateTimeout,
)
from passnet_core.judge.stages import verdict
from passnet_core.judge.stages.findings import Census, Facts, Measurement, Verification
from passnet_core.records import (
    Accuracy,
    Clock,
    Contender,
    Device,
    Environment,
    EvalSpec,
    Finding,
    Isolation,
    Job,
    MatchReport,
    MissKind,
    NearestMiss,
    Outcome,
    OutputAccuracy,
    PassMatches,
    Speedup,
    Stage,
    Verdict,
)
from tests.contract.judging import bundle, subgraph

ENVIRONMENT = Environment("cpu", "", "3.12", "2.11", "3.6", Isolation.PROCESS, "0")
MATCH = MatchReport((PassMatches("p", (("tmp_0",),)),), "source")
MISS = MatchReport((PassMatches("p", (), NearestMiss(MissKind.LITERAL, "add", "tmp_0", "The literals differ.")),))
OUTPUT = OutputAccuracy(0, (2,), "float32", -5, (-5, 0, 1, 2, 3, 4), 0.0, 0.0)
RIGHT = Verification(Verdict.VALUES_ONLY, "Right.", Accuracy((OUTPUT,), ("recorded",)), ("warned",))
WRONG = Verification(Verdict.WRONG_VALUES, "Wrong.", Accuracy((OUTPUT,), ("recorded",)))
FAST = Measurement(
    Verdict.FASTER, "Fast.", speedups=(Speedup(Contender.PASSES, Clock.END_TO_END, 2.0, 1.9, 2.1),), warnings=("hot",)
)
IDLE = replace(RIGHT, verdict=Verdict.INCONCLUSIVE, reason="Idle.")
FOREIGN = Census(Verdict.LIBRARY, "Foreign.")
SHAKY = Measurement(Verdict.INCONCLUSIVE, "Shaky.")
CAUGHT = Measurement(Verdict.CHEAT, "Caught.")
FATAL = Finding("p.py", 3, 5, "torch-call", "torch.matmul is not allowed.", "Write a kernel.")
REMARK = replace(FATAL, fatal=False)


@dataclass(frozen=True)
class Case:
    verdict: Verdict
    facts: Facts
    stage: Stage = Stage.VERIFY
    said: str = ""
    solver_bundle: bool = True
    device: Device = Device.CPU


def fault(kind: str, who: str = "candidate") -> CandidateFault:
    made = CandidateFault(kind, "what happened", "Traceback: …")
    made.who = who
    return made


CASES = {
    "judge": Case(Verdict.INFRASTRUCTURE, Facts((FATAL,), MATCH, RIGHT, problem="No disk space."), said="No disk"),
    "witness": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH, end=fault("runtime", "witness"), during="verify")),
    "eager": Case(
        Verdict.EAGER_FAILED, Facts(match=MATCH, verification=Verification(Verdict.EAGER_FAILED, "No.", None))
    ),
    "rule": Case(Verdict.REJECTED, Facts((REMARK, FATAL)), said="p.py line 3, rule torch-call"),
    "import": Case(Verdict.DOES_NOT_LOAD, Facts(end=fault("load"), during="load"), said="what happened"),
    "exception at import": Case(Verdict.DOES_NOT_LOAD, Facts(end=fault("runtime"), during="load")),
    "pattern": Case(Verdict.DOES_NOT_LOAD, Facts(end=fault("pattern"), during="load")),
    "segfault at import": Case(Verdict.CRASHED, Facts(end=CandidateGone(-11, "segmentation fault"), during="load")),
    "endless import": Case(Verdict.TIMED_OUT, Facts(end=CandidateTimeout(5, "load the bundle"), during="load")),
    "no match": Case(Verdict.NO_MATCH, Facts(match=MISS), said="p came nearest: The literals differ."),
    "rewrite": Case(Verdict.REWRITE_FAILED, Facts(rewrite_problem="Different parameters.", during="rewrite")),
    "capture": Case(Verdict.REWRITE_FAILED, Facts(match=MATCH, end=fault("rewrite"), during="verify")),
    "compile": Case(Verdict.COMPILE_FAILED, Facts(match=MATCH, end=fault("compile"), during="verify")),
    "raise": Case(Verdict.CRASHED, Facts(match=MATCH, end=fault("runtime"), during="verify"), said="exception"),
    "inline assembly": Case(
        Verdict.NEEDS_GPU,
        Facts(match=MATCH, end=fault("gpu"), during="verify"),
        said="Triton's interpreter, which judges without a GPU, cannot run what happened",
    ),
    "needs a GPU at import": Case(Verdict.DOES_NOT_LOAD, Facts(end=fault("gpu"), during="load")),
    "host code that needs a GPU": Case(
        Verdict.REJECTED, Facts(match=MATCH, end=fault("gpu"), during="verify"), device=Device.CUDA, said="no plan"
    ),
    "memory": Case(Verdict.CRASHED, Facts(match=MATCH, end=fault("memory"), during="verify")),
    "killed": Case(Verdict.CRASHED, Facts(match=MATCH, end=CandidateGone(-9, "killed"), during="verify")),
    "late": Case(Verdict.TIMED_OUT, Facts(match=MATCH, end=CandidateTimeout(5, "run passes"), during="verify")),
    "late measure": Case(
        Verdict.TIMED_OUT,
        Facts(match=MATCH, verification=RIGHT, end=CandidateTimeout(5, "time passes"), during="measure"),
        Stage.MEASURE,
    ),
    "wrong": Case(Verdict.WRONG_VALUES, Facts(match=MATCH, verification=WRONG), Stage.MEASURE, "Wrong."),
    "check": Case(Verdict.MATCHED, Facts((REMARK,), MATCH), Stage.CHECK, "matches in 1 place"),
    "right": Case(Verdict.VALUES_ONLY, Facts(match=MATCH, verification=RIGHT), said="Right."),
    "fast": Case(Verdict.FASTER, Facts(match=MATCH, verification=RIGHT, measurement=FAST), Stage.MEASURE, "Fast."),
    "doubtful subgraph": Case(Verdict.INCONCLUSIVE, Facts(match=MATCH, verification=IDLE), Stage.MEASURE, "Idle."),
    "library": Case(Verdict.LIBRARY, Facts(match=MATCH, verification=RIGHT, census=FOREIGN), said="Foreign."),
    "library before inconclusive": Case(
        Verdict.LIBRARY, Facts(match=MATCH, verification=IDLE, census=FOREIGN, measurement=SHAKY), Stage.MEASURE
    ),
    "cheat before library": Case(
        Verdict.CHEAT, Facts(match=MATCH, verification=RIGHT, census=FOREIGN, measurement=CAUGHT), Stage.MEASURE
    ),
    "wrong before cheat": Case(
        Verdict.WRONG_VALUES, Facts(match=MATCH, verification=WRONG, measurement=CAUGHT), Stage.MEASURE
    ),
    "inconclusive": Case(
        Verdict.INCONCLUSIVE, Facts(match=MATCH, verification=RIGHT, measurement=SHAKY), Stage.MEASURE, "Shaky."
    ),
    "inductor right": Case(Verdict.VALUES_ONLY, Facts(verification=RIGHT), solver_bundle=False),
    "inductor fails": Case(
        Verdict.COMPILE_FAILED, Facts(end=fault("compile", "witness"), during="verify"), solver_bundle=False
    ),
    "unfinished": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH)),
    "unmeasured": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH, verification=RIGHT), Stage.MEASURE),
}


def concluded(facts: Facts, stage: Stage = Stage.VERIFY, job: Job | None = None) -> Outcome:
    asked = job or Job(subgraph(), bundle("#"), EvalSpec(stage=stage))
    return verdict.outcome(
        asked, facts, environment=ENVIRONMENT, wall_s=1.0, finished_at="2026-01-01T00:00:00+00:00", log_tail="log"
    )


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_follows_the_order_of_precedence(name: str) -> None:
    case = CASES[name]
    job = Job(subgraph(), bundle("#") if case.solver_bundle else None, EvalSpec(stage=case.stage, device=case.device))
    outcome = concluded(case.facts, case.stage, job)
    assert outcome.verdict is case.verdict, outcome.reason
    assert case.said in outcome.reason
    assert outcome.job_digest == job.digest
    assert outcome.log_tail == "log"
    assert bool(outcome.speedups) == (outcome.verdict is Verdict.FASTER)
    if outcome.verdict is Verdict.FASTER:
        assert outcome.warnings == ("warned", "hot")
    if isinstance(case.facts.end, CandidateFault):
        assert any(each.topic == "traceback" for each in outcome.evidence)


def test_an_unknown_machine_is_no_verdict_on_the_candidate() -> None:
    job = Job(subgraph(), bundle("#"), EvalSpec())
    facts = Facts(match=MATCH, verification=RIGHT)
    outcome = verdict.outcome(job, facts, environment=None, wall_s=0.0, finished_at="2026", log_tail="")
    assert outcome.verdict is Verdict.INFRASTRUCTURE
