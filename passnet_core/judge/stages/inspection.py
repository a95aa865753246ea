"""Answers that judge nothing: what eager and TorchInductor make of a subgraph, and Triton and its interpreter of a
bundle's kernels."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from passnet_core.errors import BadInput
from passnet_core.graphs import placement, source
from passnet_core.graphs.ir import Graph
from passnet_core.judge.numerics import input_draws, input_roles
from passnet_core.judge.protocol.messages import CallableName, CandidateEnd, CandidateFault
from passnet_core.judge.stages import check, verify
from passnet_core.judge.stages.job_workers import JobWorkers
from passnet_core.judge.stages.prepared_job import preparations
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import BASELINE_NAMES, Inspection, Job, PassKernels, PassTrace, Subgraph

A = TypeVar("A", PassKernels, PassTrace)


def inspection(job: Job, workers: JobWorkers, *, with_code: bool) -> Inspection:
    """What each node of the job's subgraph gives, and with_code the code of the job's baseline for it.

    Raises BadInput if the subgraph cannot be run, PlaygroundError, and CandidateEnd if the witness failed."""
    environment = workers.find_device()
    subgraph, graph, baseline = job.subgraph, check.parsed(job.subgraph), job.spec.baseline
    _check_runnable(subgraph, graph)
    given = input_draws.without_content(subgraph.inputs, input_roles.roles(graph, subgraph.inputs))
    placed = source.emit(placement.placed(graph, workers.device.value))
    known: Inspection | None = None
    try:
        with contextlib.ExitStack() as running:
            witness = workers.start(running, "witness", compiling=with_code)
            with workers.lock(lambda text: None).shared():
                found = witness.propagate(placed, given)
            known = Inspection(
                subgraph_digest=subgraph.digest,
                environment=environment,
                values=found.values,
                values_problem=found.problem,
                accelerator=witness.accelerator(),
                baseline=baseline,
            )
            code = witness.generate(placed, given, baseline) if with_code else None
    except CandidateEnd as end:
        if known is None:
            raise
        return replace(known, code_problem=f"{BASELINE_NAMES[baseline]} generated no code: {end}")
    return replace(known, code_problem=code) if isinstance(code, str) else replace(known, code=code)


def kernels(job: Job, workers: JobWorkers) -> PassKernels:
    """What Triton makes of the kernels that the job's bundle launches on its subgraph. Raises like inspection."""
    return _of_candidate(
        job,
        workers,
        PassKernels,
        lambda candidate: (candidate.compiled(CallableName.PASSES),),
        "before their kernels were compiled",
    )


def programs(job: Job, workers: JobWorkers) -> PassTrace:
    """What the programs of the kernels access that the job's bundle launches on its subgraph. Raises like inspection.
    The job's device has to be a CPU."""
    names = [each.name for each in job.subgraph.inputs]
    return _of_candidate(
        job,
        workers,
        PassTrace,
        lambda candidate: candidate.traced(CallableName.PASSES, names),
        "in Triton's interpreter",
    )


def _of_candidate(
    job: Job,
    workers: JobWorkers,
    kind: Callable[..., A],
    ask: Callable[[WorkerProcess], tuple[Any, ...]],
    failing: str,
) -> A:
    """What a candidate worker that is used for nothing else finds out about the kernels that the job's bundle launches.

    kind: the answer, made of subgraph, bundle, environment and what was found, or of a problem. ask: asks the worker,
    whose passes and inputs are ready. failing: where the passes fail, if they do."""
    bundle, subgraph, graph = job.bundle, job.subgraph, check.parsed(job.subgraph)
    assert bundle is not None
    known = partial(kind, subgraph.digest, bundle.digest, workers.find_device())
    _check_runnable(subgraph, graph)
    admission = check.admitted(bundle, job.spec)
    if fatal := [each for each in admission.findings if each.fatal]:
        return known(problem=f"A rule rejects the passes, so none of their code is executed: {fatal[0].message}")
    try:
        with contextlib.ExitStack() as running:
            candidate = workers.start(running, "candidate", admission.bundle, alone=True)
            loaded = check.load(admission.bundle, candidate, job.spec)
            matched = check.match(admission.bundle, loaded.passes, graph)
            if matched.graph is None:
                return known(problem=matched.problem or "No pass matches this subgraph.")
            prepared = preparations(job, graph, matched.graph, workers.device, prepares=loaded.prepares)
            candidate.prepare(CallableName.PASSES, prepared[CallableName.PASSES])
            candidate.give(
                input_draws.draw(subgraph.inputs, "recorded", 0, roles=input_roles.roles(graph, subgraph.inputs))
            )
            with workers.lock(lambda text: None).alone():
                found = ask(candidate)
    except CandidateFault as fault:
        return known(problem=f"The passes failed {failing}: {str(fault)[:1000]}")
    return known(*found) if found[0] else known(problem="The replacements launch no Triton kernel here.")


def _check_runnable(subgraph: Subgraph, graph: Graph) -> None:
    """Raise BadInput if this graph of the subgraph cannot be run."""
    if problem := verify.subgraph_problem(subgraph, graph):
        raise BadInput(f"Subgraph {subgraph.id!r} cannot be run: {problem}")
