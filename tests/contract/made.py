"""Small tasks, bundles and outcomes for tests of the store and the service."""

from dataclasses import replace

from passnet_core.records import (
    LEVELS,
    RIGHT,
    TIMED,
    WRONG,
    Accuracy,
    Bundle,
    Clock,
    Contender,
    Device,
    EvalSpec,
    Evidence,
    Family,
    Finding,
    Job,
    MatchReport,
    MissKind,
    NearestMiss,
    Outcome,
    OutputAccuracy,
    PassFile,
    PassMatches,
    Run,
    SolverKind,
    Speedup,
    Stage,
    Subgraph,
    Task,
    TensorSpec,
    Timing,
    Verdict,
)
from tests.fake_backend import FAKE_ENVIRONMENT

CODE = """import torch
from torch import device


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.nn.functional.relu(in_0)
        return (tmp_0,)
"""
BUNDLE = Bundle(
    (PassFile("Relu.py", "def pattern(x):\n    return x  # ünïcode\n"),), (PassFile("kernel.py", ""),), "me"
)
MEASURE = EvalSpec(stage=Stage.MEASURE, device=Device.CUDA)


def subgraph(task_id: str = "relu", number: int = 0) -> Subgraph:
    return Subgraph(f"float32/{number}", task_id, "model", CODE, (TensorSpec("in_0", (2, 3 + number), "float32"),))


def task(task_id: str = "relu", subgraphs: int = 3) -> Task:
    return Task(task_id, Family.FUSIBLE, "develop", tuple(subgraph(task_id, number) for number in range(subgraphs)))


def code_of(*lines: str, inputs: int = 2) -> str:
    """The source of a graph with these operations, tmp_0 and so on, the last of which it returns."""
    head = CODE.partition("in_0)")[0] + ", ".join(f"in_{place}" for place in range(inputs)) + "):\n"
    body = "".join(f"        tmp_{place} = {line}\n" for place, line in enumerate(lines))
    return f"{head}{body}        return (tmp_{len(lines) - 1},)\n"


def around_a_product(task_id: str = "relu") -> Task:
    """Three operations before a product of matrices, and a single one behind it, which is slower as a pass."""
    code = code_of(
        "torch.exp(in_0)", "tmp_0 + 1", "tmp_1 * in_0", "torch._C._nn.linear(tmp_2, in_1, None)", "torch.relu(tmp_3)"
    )
    inputs = tuple(TensorSpec(f"in_{place}", shape, "float16") for place, shape in enumerate(((32, 64), (48, 64))))
    one = task(task_id, 1)
    return replace(one, subgraphs=(replace(one.subgraphs[0], code=code, inputs=inputs),))


def job(number: int = 0, *, task_id: str = "relu", bundle: Bundle | None = BUNDLE, spec: EvalSpec = MEASURE) -> Job:
    return Job(subgraph(task_id, number), bundle, spec)


def run_of(*jobs: Job, run_id: str = "run-1") -> Run:
    return Run(
        id=run_id,
        label="",
        started_at="2026-01-02T03:04:05.000+00:00",
        solver=jobs[0].solver,
        bundle_digest=jobs[0].bundle.digest if jobs[0].bundle else None,
        spec=jobs[0].spec,
        task_ids=tuple(dict.fromkeys(each.subgraph.task_id for each in jobs)),
        job_digests=tuple(each.digest for each in jobs),
    )


def of_clock(version: int, outcome: Outcome) -> Outcome:
    """The same outcome, with times of this clock version."""
    assert outcome.environment is not None
    return replace(outcome, environment=replace(outcome.environment, clock_version=version))


def outcome(job: Job, verdict: Verdict = Verdict.VALUES_ONLY, *, speedup: float = 1.5, t: int = -5) -> Outcome:
    """An outcome with this verdict and consistent fields. t: where its values are close, they are correct from t on."""
    level_set = tuple(level for level in LEVELS if level >= t)
    output = OutputAccuracy(0, (2, 3), "float32", t, level_set, 1e-6, float("inf"), (0, 1), 1.0, float("nan"), "wide")
    matches = PassMatches("Relu", (("tmp_0",),))
    miss = NearestMiss(MissKind.LITERAL, "relu", "tmp_0", "other literal")
    close = verdict in RIGHT | {Verdict.LOWER_PRECISION, Verdict.CHEAT, Verdict.LIBRARY}
    timed = verdict in TIMED
    who = Contender.BASELINE if job.solver is SolverKind.INDUCTOR else Contender.PASSES
    bad = replace(output, smallest_t=None, correct_at=())
    return Outcome(
        job_digest=job.digest,
        task_id=job.subgraph.task_id,
        subgraph_id=job.subgraph.id,
        subgraph_digest=job.subgraph.digest,
        dtype="float32",
        solver=job.solver,
        bundle_digest=job.bundle.digest if job.bundle else None,
        spec=job.spec,
        verdict=verdict,
        reason="because",
        environment=FAKE_ENVIRONMENT if verdict.judged else None,
        wall_s=0.25,
        finished_at="2026-01-02T03:04:06.000+00:00",
        findings=(Finding("Relu.py", 1, 1, "syntax", "wrong", "mend it"),) if verdict is Verdict.REJECTED else (),
        match=None
        if job.bundle is None
        else MatchReport((PassMatches("Relu", (), miss),))
        if verdict is Verdict.NO_MATCH
        else MatchReport((matches,), "x = 1"),
        noise=0.02 if timed else None,
        accuracy=Accuracy((output if close else bad,), ("recorded",)) if close or verdict in WRONG else None,
        timings=(Timing(Contender.EAGER, Clock.END_TO_END, (10.25, 10.5, 11.0), 1, 10.5),) if timed else (),
        speedups=(Speedup(who, Clock.END_TO_END, speedup, speedup * 0.9, speedup * 1.1),) if timed else (),
        warnings=("values only",),
        evidence=(Evidence("seed", "7"),),
        log_tail="line\n\x00\x1b[31mred",
    )
