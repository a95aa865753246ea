"""A small playground for tests of the pages: two tasks, a reference bundle, and outcomes without a judge."""

import json
import os
from dataclasses import replace
from pathlib import Path

from passnet_core.bundles.reading import write_bundle
from passnet_core.corpus.layout import write_task
from passnet_core.execution.jobs import new_run
from passnet_core.records import (
    DISQUALIFIED,
    LEVELS,
    RIGHT,
    Accuracy,
    Baseline,
    Bundle,
    Capture,
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
    Profile,
    SolverKind,
    Speedup,
    Stage,
    Subgraph,
    Task,
    TensorSpec,
    Timing,
    Verdict,
)
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.fake_backend import FAKE_ENVIRONMENT

CODE = """import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.relu(tmp_0)
        tmp_2 = torch.sigmoid(tmp_1)
        return (tmp_2,)
"""
REWRITTEN = """import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        replacement = replacement_0(in_0, in_1)
        tmp_2 = torch.sigmoid(replacement)
        return (tmp_2,)
"""
PASS = '''"""Adds and rectifies in one kernel."""

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    s = tl.load(a_ptr + at, mask=inside) + tl.load(b_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(s < 0, 0.0, s), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = out.numel()
    add_relu_kernel[(triton.cdiv(count, 1024),)](a, b, out, count, BLOCK=1024)
    return out


def replacement_func():
    return add_relu
'''
REFERENCE_NAME = "fused-add-relu"
REFERENCE = Bundle((PassFile("add_relu.py", PASS),), author="reference")
TASK_ID = "add-relu"
OTHER_ID = "add-relu-wide"
TIMED = EvalSpec(stage=Stage.MEASURE, device=Device.CUDA, capture=Capture.DIRECT)
LAUNCHED = "add_relu_kernel: own, 1 per call\naten::add: a library's, 1 per call"
EVIDENCE = {
    Verdict.CHEAT: (
        Evidence("memory floor", "Writing the outputs takes 105.6 µs at this device's bandwidth; a call took 45.0 µs."),
        Evidence("kernels launched", "add_relu_kernel: own, 1 per call"),
    ),
    Verdict.LIBRARY: (Evidence("kernels launched", LAUNCHED),),
    Verdict.INCONCLUSIVE: (Evidence("noise floor", "Eager against itself, end to end: 1.310 (0.820 to 1.740)."),),
    Verdict.FASTER: (Evidence("noise floor", "Eager against itself, end to end: 1.002 (0.991 to 1.012)."),),
}


def task(task_id: str = TASK_ID, sizes: tuple[int, ...] = (48, 96)) -> Task:
    subgraphs = tuple(
        Subgraph(
            id=f"{dtype}/{size}/toy",
            task_id=task_id,
            source_model="toy",
            code=CODE,
            inputs=tuple(TensorSpec(name, (4, size), dtype, mean=0.0, std=1.0) for name in ("in_0", "in_1")),
        )
        for dtype, size in zip(("float32", "float16"), sizes)
    )
    return Task(task_id, Family.FUSIBLE, "develop", subgraphs)


def outcome(job: Job, verdict: Verdict, *, speedup: float = 1.5, device: str = "fake device") -> Outcome:
    """An outcome with this verdict and the fields that belong to it."""
    right = verdict in RIGHT | DISQUALIFIED
    names = [file.name.removesuffix(".py") for file in job.bundle.passes] if job.bundle else []
    miss = NearestMiss(MissKind.OPERATOR, "relu", "tmp_2", "The pattern wants relu, the graph has sigmoid.")
    found = verdict is not Verdict.NO_MATCH
    match = MatchReport(
        tuple(PassMatches(name, (("tmp_0", "tmp_1"),) if found else (), None if found else miss) for name in names),
        REWRITTEN if found else None,
    )
    output = OutputAccuracy(
        output=0,
        shape=(4, 48),
        dtype="float32",
        smallest_t=-6 if right else None,
        correct_at=tuple(t for t in LEVELS if t >= -6) if right else (),
        max_error=1e-7 if right else 2.5,
        mean_error=1e-8 if right else 0.7,
        index=(1, 2),
        expected=1.0,
        actual=1.0 if right else 3.5,
        profile="typical",
    )
    solver = Contender.PASSES if job.bundle else Contender.BASELINE
    timed = verdict is Verdict.FASTER
    return Outcome(
        job_digest=job.digest,
        task_id=job.subgraph.task_id,
        subgraph_id=job.subgraph.id,
        subgraph_digest=job.subgraph.digest,
        dtype=job.subgraph.dtype,
        solver=SolverKind.PASSES if job.bundle else SolverKind.INDUCTOR,
        bundle_digest=job.bundle.digest if job.bundle else None,
        spec=job.spec,
        verdict=verdict,
        reason={
            Verdict.VALUES_ONLY: "All outputs agree with eager.",
            Verdict.WRONG_VALUES: "Output 0 differs from eager by 2.5.",
        }.get(verdict, f"The judge says: {verdict.value}."),
        environment=replace(FAKE_ENVIRONMENT, device=device),
        wall_s=0.4,
        finished_at="2026-02-03T04:05:06+00:00",
        match=match if names else None,
        accuracy=Accuracy((output,), ("recorded", "typical")) if job.spec.stage is not Stage.CHECK else None,
        timings=tuple(
            Timing(who, clock, (time, time * 1.01), 2, time)
            for clock in Clock
            for who, time in ((Contender.EAGER, 30.0), (solver, 30.0 / speedup))
        )
        if timed
        else (),
        speedups=tuple(Speedup(solver, clock, speedup, speedup * 0.97, speedup * 1.03) for clock in Clock)
        if timed
        else (),
        noise=0.012 if timed else None,
        evidence=EVIDENCE.get(verdict, ()),
        log_tail="a line that the pass printed",
    )


def answer(job: Job) -> Outcome:
    """The fake judge: code that contains SIGMOID matches nothing, and code that contains WRONG gets wrong values."""
    code = "".join(file.code for file in job.bundle.files) if job.bundle else ""
    if "SIGMOID" in code:
        return outcome(job, Verdict.NO_MATCH)
    if job.spec.stage is Stage.CHECK:
        return outcome(job, Verdict.MATCHED)
    return outcome(job, Verdict.WRONG_VALUES if "WRONG" in code else Verdict.VALUES_ONLY)


def measured(
    bundle: Bundle | None,
    *,
    speedup: float,
    profile: Profile = Profile.STRICT,
    verdict: Verdict = Verdict.FASTER,
    baseline: Baseline = Baseline.INDUCTOR,
) -> RunFile:
    """A recorded run, as if measured on a GPU of another machine."""
    jobs = tuple(Job(each, bundle, replace(TIMED, profile=profile, baseline=baseline)) for each in task().subgraphs)
    run = replace(
        new_run(jobs, label="reference" if bundle else "TorchInductor", recorded="NVIDIA H200, 2026-02-03"),
        id=f"recorded-{'passes' if bundle else 'inductor'}" + ("" if profile is Profile.STRICT else f"-{profile}"),
    )
    outcomes = tuple(outcome(job, verdict, speedup=speedup, device="NVIDIA H200") for job in jobs)
    return RunFile(run, (bundle,) if bundle else (), outcomes)


def environment_of(folder: Path, **more: str) -> dict[str, str]:
    """Write the data of the small playground below a folder, and return the variables of a process that uses it."""
    return {
        **os.environ, "PASSNET_HOME": str(folder / "home"), "PASSNET_DATA": str(write_data(folder / "data")), **more,
    }  # fmt: skip


def write_data(folder: Path, *, recorded: bool = True) -> Path:
    """Write the data folder of the small playground, and return it."""
    write_task(task(), folder / "tasks" / TASK_ID)
    write_task(task(OTHER_ID, (256, 512)), folder / "tasks" / OTHER_ID)
    place = folder / "bundles" / REFERENCE_NAME
    place.mkdir(parents=True)
    write_bundle(REFERENCE, place)
    about = {"title": "Add and rectify", "description": "One pointwise kernel.", "tasks": [TASK_ID]}
    (place / "about.json").write_text(json.dumps(about), encoding="utf-8")
    for number, lesson_id in enumerate(LESSONS, 1):
        write_lesson(folder / "lessons" / f"{number:02}-{lesson_id}")
    if recorded:
        (folder / "baselines").mkdir()
        files = [measured(REFERENCE, speedup=1.5), measured(None, speedup=0.7)]
        exchange.write_file(folder / "baselines" / "h200.jsonl.gz", files)
    return folder


LESSONS = ("adding", "rectifying")
BEGINNING = PASS.replace("relu(a + b)", "sigmoid(a + b)  # SIGMOID")
LESSON = """
title = "A title"
goal = "Add two tensors."
picture = "steps"
hints = ["Look at the graph.", "What is added?", "Write a + b."]
explains = ["no match", "other operator"]
further = ["rectifying"]
without = ["traffic"]

[[variant]]
id = "small"
task = "add-relu"
subgraph = "float32/48/toy"
shapes = [[2, 5], [2, 5]]

[[variant]]
id = "half"
task = "add-relu"
subgraph = "float16/96/toy"
kept_back = true

[[mistake]]
name = "no_match"
star = "match"
comment = "The pattern has to add."

[[mistake]]
name = "values"
verdicts = ["wrong values"]
comment = "The kernel computes something else."
"""


def write_lesson(folder: Path) -> None:
    """Write a lesson on the task of the small playground."""
    wrong = PASS.replace("s = ", "s = 2 * ") + "# WRONG\n"
    for place, code in (
        ("start", BEGINNING),
        ("solution", PASS),
        ("mistakes/no_match", BEGINNING),
        ("mistakes/values", wrong),
    ):
        (folder / place).mkdir(parents=True)
        write_bundle(Bundle((PassFile("add_relu.py", code),)), folder / place)
    (folder / "lesson.toml").write_text(LESSON, encoding="utf-8")
    (folder / "text.md").write_text("What a *pattern* is.\n", encoding="utf-8")


def hostile(text: str) -> RunFile:
    """A measured run in which every text that another author controls is this one."""
    bundle = Bundle((PassFile(f"{text}.py", text),), (PassFile(f"shared {text}.py", text),), author=text)
    file = measured(bundle, speedup=1.5)
    miss = NearestMiss(MissKind.OPERATOR, text, text, text, ((text, text),))
    spoilt = []
    for number, each in enumerate(file.outcomes):
        match = MatchReport(
            (PassMatches(text, (("tmp_0", "tmp_1", text),)), PassMatches(text, (), miss)),
            REWRITTEN.replace("sigmoid(replacement)", f"sigmoid(replacement, note={text!r})"),
        )
        accuracy = replace(each.accuracy, profiles=(text,), reduced=text) if each.accuracy else None
        if accuracy is not None:
            outputs = tuple(replace(output, dtype=text, profile=text, problem=text) for output in accuracy.outputs)
            accuracy = replace(accuracy, outputs=outputs)
        spoilt.append(
            replace(
                each,
                task_id=each.task_id if number else text,
                subgraph_id=each.subgraph_id if number else text,
                dtype=text,
                reason=text,
                environment=replace(FAKE_ENVIRONMENT, device=text, driver=text, platform=text, torch=text),
                finished_at=text,
                findings=(Finding(text, 1, 1, text, text, text, fatal=False),),
                match=match,
                accuracy=accuracy,
                warnings=(text, text),
                evidence=(Evidence(text, text), Evidence(text, f"{text}\n{text}")),
                log_tail=f"{text}\n{text}",
            )
        )
    run = replace(file.run, id="hostile", label=text, recorded=text, task_ids=(text, TASK_ID), started_at=text)
    return RunFile(run, (bundle,), tuple(spoilt))
