"""VERIFY with real callables in this process, shared by the tests of its checks.

The seam is WorkerProcess; the processes behind it have tests of their own.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, cast

import torch

from passnet_core.fx import modules, tracing
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.graphs.source import parse
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol.messages import (
    CandidateFault,
    Executed,
    Given,
    Preparation,
    Produced,
    Returned,
    Watched,
)
from passnet_core.judge.protocol.reference_bench import BenchPlan, ReferenceBench
from passnet_core.judge.stages import verify
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.planned_candidate import PlannedCandidate
from passnet_core.judge.stages.prepared_job import PreparedJob, preparations
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.judge.worker import building
from passnet_core.judge.worker.staging import Staging
from passnet_core.operations.binding import bind
from passnet_core.records import (
    Device,
    EvalSpec,
    Job,
    Subgraph,
    Verdict,
)
from tests.contract.judging import bundle, subgraph

Function = Callable[..., object]


def relu_of_sum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.relu(a + b)


class Here:
    """A candidate worker in this process, without a child process."""

    who = "candidate"

    def __init__(self, traced: Sequence[TracedPass] = (), functions: dict[str, Function] | None = None) -> None:
        self.traced, self.functions = tuple(traced), functions or {}
        self.hooks: dict[str, modules.Hook] = {}
        self.calls: dict[str, building.Prepared] = {}
        self.staging = Staging(Device.CPU)
        self.inputs: list[object] = []
        self.given: list[list[tuple[int, ...]]] = []
        self.ran: list[str] = []
        """The names of what was called, in order."""

    def prepare(self, name: str, preparation: Preparation) -> None:
        self.calls[name] = building.prepared(preparation, self.traced, self.functions, self.hooks)

    def give(self, inputs: Sequence[torch.Tensor | int | float | bool]) -> None:
        self.inputs = list(inputs)
        self.given.append([tuple(each.shape) for each in inputs if isinstance(each, torch.Tensor)])
        self.staging.give(self.inputs)

    def bench(self, plan: BenchPlan) -> ReferenceBench:
        return LocalReferenceBench(plan, self)

    def run(self, name: str) -> Returned:
        self.ran.append(name)
        try:
            seen = self.staging.call(self.calls[name])
        except Exception as error:  # the call is candidate code
            fault = CandidateFault("runtime", f"{type(error).__name__}: {error}")
            fault.who = self.who
            raise fault from error
        many = isinstance(seen.returned, tuple | list)
        values = seen.returned if many else (seen.returned,)
        return Returned(
            tuple(replace(described(each), shares=shares) for each, shares in zip(values, seen.shares, strict=True)),
            type(seen.returned).__name__ if many else "",
            0.0,
            getattr(self.calls[name], "matches", None),
            changed={index: each.clone() for index, each in seen.changed.items()},
        )


class Witness(Here):
    who = "witness"


class CountingPlans:
    """Stands for a candidate by its plans. It counts the same work for each input element."""

    configurations = 1

    def __init__(self, work_s: float, candidate: Here) -> None:
        self.work_s, self.candidate = work_s, candidate
        self.prepare, self.give = candidate.prepare, candidate.give
        self.plans: dict[str, object] = {}
        self.names: dict[str, str] = {}

    def execute(self, name: str, seed: int | None, **_asked: Any) -> Executed:
        elements = sum(each.numel() for each in self.candidate.inputs if isinstance(each, torch.Tensor))
        returned = self.candidate.run(name)
        work_s = elements * self.work_s if returned.work_s is None else returned.work_s
        return Executed(replace(returned, work_s=work_s), ())

    def watched(self, executed: Executed) -> Watched:
        return Watched(())

    def launch_at(self, name: str, forms: Sequence[Given]) -> tuple[str, ...]:
        """It launches nothing that leaves anything out."""
        return ()

    def recorded_anew(self) -> None:
        """There is nothing to record."""


def described(value: object) -> Produced:
    if not isinstance(value, torch.Tensor):
        return Produced(type(value).__name__, value if isinstance(value, int | float) else None)
    dtype = str(value.dtype).removeprefix("torch.")
    return Produced("torch.Tensor", value.clone(), dtype, tuple(value.shape), value.stride(), str(value.device))


def traced(pattern: Function, arguments: Function) -> TracedPass:
    return TracedPass("p", tracing.trace_pattern(pattern), tracing.trace_arguments(arguments), "replacement_0")


ADD_RELU_PASS = traced(lambda a, b: torch.nn.functional.relu(a + b), lambda a, b: (a, b))


def verified(
    replacement: Function,
    asked: Subgraph | None = None,
    *,
    a_pass: TracedPass = ADD_RELU_PASS,
    spec: EvalSpec | None = None,
    candidate: Here | None = None,
    compiling: Callable[[], AbstractContextManager[None]] = nullcontext,
    work_s: float | None = None,
    planning: Callable[[float, Here], CountingPlans] = CountingPlans,
    hook: modules.Hook | None = None,
) -> Verification:
    """Run VERIFY on one replacement in this process. work_s: the work per input element of plans; None: the
    replacement is called. planning: makes what stands for plans from work_s and the candidate. hook: prepare(weights)
    of the pass."""
    job = Job(asked or subgraph(), bundle("# in this process"), spec or EvalSpec())
    graph = parse(job.subgraph.code)
    rewritten = rewrite(graph, (a_pass,), bind=bind)
    worker = candidate or Here((a_pass,), {"replacement_0": replacement})
    worker.traced, worker.functions = (a_pass,), {"replacement_0": replacement}
    worker.hooks = {"replacement_0": hook} if hook is not None else {}
    prepared = preparations(job, graph, rewritten.graph, Device.CPU, prepares=hook is not None)
    tried, witness = cast(WorkerProcess, worker), cast(WorkerProcess, Witness())
    prepared_job = PreparedJob(job, graph, prepared, tried, witness, seed=11)
    if work_s is not None:
        prepared_job = replace(prepared_job, planned=cast(PlannedCandidate, planning(work_s, worker)))
    return verify.verify(prepared_job, compiling)


def remembering(key: Function) -> Function:
    """A replacement that computes only once for each key and remembers the result."""
    known: dict[object, torch.Tensor] = {}

    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        place = key(a, b)
        if place not in known:
            known[place] = torch.relu(a + b)
        return known[place].clone()

    return replacement


def two_results(second: str) -> tuple[Subgraph, TracedPass]:
    code = f"""
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = torch.relu(in_0)
        b = {second}
        return (a, b)
"""
    a_pass = traced(lambda x: torch.relu(x), lambda x: (x,))
    return replace(subgraph(code=code), inputs=subgraph().inputs[:1]), a_pass


def clearing_its_input(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.relu(a + b)
    a.zero_()
    return out


def assert_wrong(replacement: Function, verdict: Verdict, said: str = "") -> None:
    """Assert that this replacement of ReLU of a sum gets the verdict, with a reason that matches said."""
    found = verified(replacement)
    assert found.verdict is verdict, found.reason
    assert re.search(said, found.reason), found.reason
    assert found.accuracy is not None
    assert not found.accuracy.correct_at(-10)
