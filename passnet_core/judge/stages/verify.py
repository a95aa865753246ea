"""VERIFY: give the same inputs to eager and to the candidate, for each input draw, and check each call."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from passnet_core.errors import BadInput
from passnet_core.fx import signatures
from passnet_core.graphs.ir import Graph
from passnet_core.judge.numerics.draws.drawing import dtype_of
from passnet_core.judge.stages.checks.form import form
from passnet_core.judge.stages.checks.inputs_after_call import inputs_after_call
from passnet_core.judge.stages.checks.lower_precision import lower_precision
from passnet_core.judge.stages.checks.negative_controls import negative_controls
from passnet_core.judge.stages.checks.not_finite import not_finite
from passnet_core.judge.stages.checks.one_sided_errors import one_sided_errors
from passnet_core.judge.stages.checks.other_layout import other_layout
from passnet_core.judge.stages.checks.overlapping_elements import overlapping_elements
from passnet_core.judge.stages.checks.shared_memory import shared_memory
from passnet_core.judge.stages.checks.unmatched_capture import unmatched_capture
from passnet_core.judge.stages.checks.values import values
from passnet_core.judge.stages.compilation import CompilingAhead, refused_kernels
from passnet_core.judge.stages.concluding import concluded, gravest
from passnet_core.judge.stages.executed import executed
from passnet_core.judge.stages.findings import Census, Decided, Verification
from passnet_core.judge.stages.largest_call import largest_call
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.recorded_sizes import full_size, recorded_sizes
from passnet_core.judge.stages.verify_session import Check, Doubt, EagerFailed, VerifySession
from passnet_core.records import Evidence, Subgraph, Verdict

EACH_CALL: tuple[Check, ...] = (
    unmatched_capture,
    form,
    not_finite,
    values,
    lower_precision,
    overlapping_elements,
    shared_memory,
    inputs_after_call,
    other_layout,
)
"""The checks of every call. The first that objects to an output counts; of all calls, the gravest objection."""

CONFIGURATIONS_S = 30.0
"""For how long calls are made for nothing but further configurations of an autotuner."""

EACH_DRAW: tuple[Check, ...] = (one_sided_errors, negative_controls)
"""The checks after the call on an input draw: errors with a direction, and negative controls."""

CHECKS = (*EACH_CALL, *EACH_DRAW)


def verify(asked: PreparedJob, compiling: Callable[[], AbstractContextManager[None]] = nullcontext) -> Verification:
    """Compare the candidate with eager on every input draw of the job's profile.

    compiling: entered for a first call, which compiles and may take long. Raises CandidateEnd if the candidate failed;
    if eager failed, the verdict is EAGER_FAILED."""
    problem = subgraph_problem(asked.job.subgraph, asked.graph)
    if problem:
        return Verification(Verdict.EAGER_FAILED, f"Eager cannot run this subgraph: {problem}", None)
    session = VerifySession(asked, EACH_CALL, compiling)
    try:
        _call_each_draw(session)
        found = concluded(session)
        if found.verdict in (Verdict.VALUES_ONLY, Verdict.INCONCLUSIVE):
            found = replace(found, executed=_shown(session))
    except Decided as decided:
        return decided.verification
    except EagerFailed as failure:
        return Verification(Verdict.EAGER_FAILED, f"Eager failed: {failure}", None, tuple(session.warnings))
    return replace(found, watched=tuple(each.watched for each in session.watched))


def _shown(session: VerifySession) -> Census | None:
    """What the kernels show beside the values. None: nothing is known of them."""
    if session.asked.beside_gpu:
        return executed(session)
    shown = refused_kernels(session, session.watched) or executed(session)
    if shown is None or shown.verdict is not Verdict.VALUES_ONLY:
        return shown
    recorded = session.at_recorded_sizes()
    larger = recorded_sizes(recorded) or Census(Verdict.VALUES_ONLY, "")
    if larger.verdict is Verdict.VALUES_ONLY:
        larger = full_size(recorded) or largest_call(recorded) or larger
    return replace(larger, evidence=(*shown.evidence, *larger.evidence))


def _call_each_draw(session: VerifySession) -> None:
    """Call and check every input draw."""
    session.prepare_eager()
    session.choose_draws()
    session.choose_watched()
    session.choose_sizes()
    with CompilingAhead(session) as ahead:
        for turn, input_draw in enumerate(session.input_draws):
            session.asked.report(f"input set {turn + 1} of {len(session.input_draws)}, {input_draw}")
            session.pace.take_turn(turn)
            if session.draw(input_draw):
                call = session.call()
                ahead.begin()
                session.compared.append(input_draw)
                for check in EACH_DRAW:
                    session.add(call, check(session, call))
        _call_each_configuration(session)


def _call_each_configuration(session: VerifySession) -> None:
    """Call on the inputs of the last input draw until each configuration of an autotuner has had its turn."""
    planned = session.asked.planned
    if planned is None or not session.settled or gravest(session.differences, {}) is not None:
        return
    until = time.monotonic() + CONFIGURATIONS_S
    tried = len(session.planned_calls)
    for turn in range(tried, planned.configurations):
        if time.monotonic() > until:
            reason = (
                f"An autotuner chooses among {planned.configurations} configurations, and {turn} of them were tried in"
                f" {CONFIGURATIONS_S:.0f} s more than a verification takes. List fewer."
            )
            session.doubt = Doubt(reason, Evidence("configurations", reason))
            return
        session.asked.report(f"configuration {turn + 1} of {planned.configurations}")
        session.call()


def subgraph_problem(subgraph: Subgraph, graph: Graph) -> str:
    """Say why this graph of the subgraph cannot be run, or return an empty string."""
    problem = signatures.refusal(graph)
    if problem:
        return problem
    names = [node.name for node in graph.inputs]
    if names != [spec.name for spec in subgraph.inputs]:
        return f"its metadata describes {len(subgraph.inputs)} inputs, but forward takes {', '.join(names) or 'none'}."
    try:
        for spec in subgraph.inputs:
            dtype_of(spec)
    except BadInput as error:
        return str(error)
    return ""
