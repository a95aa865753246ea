"""VERIFY: the same inputs to eager and to the candidate, for each input draw, and what the checks say of each call.

Some draws lie at new addresses, others in the very tensors of the call before: which, the seed decides.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph
from passnet_core.judge.numerics.input_draws import dtype_of
from passnet_core.judge.protocol import signatures
from passnet_core.judge.stages.checks.exchanged_in_place import EXTRA_CALLS, exchanged_in_place
from passnet_core.judge.stages.checks.form import form
from passnet_core.judge.stages.checks.inputs_after_call import inputs_after_call
from passnet_core.judge.stages.checks.late_results import late_results
from passnet_core.judge.stages.checks.lower_precision import lower_precision
from passnet_core.judge.stages.checks.negative_controls import negative_controls
from passnet_core.judge.stages.checks.not_finite import not_finite
from passnet_core.judge.stages.checks.other_layout import other_layout
from passnet_core.judge.stages.checks.overlapping_elements import overlapping_elements
from passnet_core.judge.stages.checks.overwritten_results import overwritten_results
from passnet_core.judge.stages.checks.relocated import relocated
from passnet_core.judge.stages.checks.shared_memory import shared_memory
from passnet_core.judge.stages.checks.unmatched_capture import unmatched_capture
from passnet_core.judge.stages.checks.values import values
from passnet_core.judge.stages.concluding import concluded
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.verify_session import Check, Decided, EagerFailed, VerifySession
from passnet_core.records import Subgraph, Verdict

EACH_CALL: tuple[Check, ...] = (
    unmatched_capture,
    form,
    not_finite,
    values,
    lower_precision,
    overlapping_elements,
    shared_memory,
    inputs_after_call,
    overwritten_results,
    late_results,
    other_layout,
)
"""What is said of every call. Of an output the first that objects counts; of all calls the gravest objection."""

EACH_DRAW: tuple[Check, ...] = (negative_controls, exchanged_in_place, relocated)
"""What follows the call on an input draw: what could pass for it, and calls on inputs that are nearly the same."""

CHECKS = (*EACH_CALL, *EACH_DRAW)


def verify(asked: PreparedJob, compiling: Callable[[], AbstractContextManager[None]] = nullcontext) -> Verification:
    """Compares the candidate with eager on every input draw of the job's profile. compiling: entered for a first call,
    which compiles and may take long.

    The candidate's faults pass through as CandidateEnd; eager's become the verdict EAGER_FAILED.
    """
    problem = subgraph_problem(asked.job.subgraph, asked.graph)
    if problem:
        return Verification(Verdict.EAGER_FAILED, f"Eager cannot run this subgraph: {problem}", None)
    session = VerifySession(asked, EACH_CALL, compiling)
    try:
        _try(session)
    except Decided as decided:
        return decided.verification
    except EagerFailed as failure:
        return Verification(Verdict.EAGER_FAILED, f"Eager failed: {failure}", None, tuple(session.warnings))
    return concluded(session)


def _try(session: VerifySession) -> None:
    """Has every input draw called and checked, as long as time lasts."""
    session.prepare_eager()
    session.choose_sizes(EXTRA_CALLS)
    for turn, drawing in enumerate(session.drawings):
        session.asked.report(f"comparing {drawing} inputs ({turn + 1} of {len(session.drawings)})")
        session.pace.begin()
        if session.draw(drawing):
            call = session.call(drawing, fresh=session.fresh[drawing])
            session.compared.append(drawing)
            for check in EACH_DRAW:
                session.add(call, check(session, call))
        if session.pace.ended():
            break
    session.pace.conclude()


def subgraph_problem(subgraph: Subgraph, graph: Graph) -> str:
    """Why this graph of a subgraph cannot be run; empty: it can."""
    problem = signatures.refusal(graph)
    if problem:
        return problem
    names = [node.name for node in graph.inputs]
    if names != [spec.name for spec in subgraph.inputs]:
        return f"its metadata describes {len(subgraph.inputs)} inputs, forward takes {', '.join(names) or 'none'}."
    try:
        for spec in subgraph.inputs:
            dtype_of(spec)
    except BadInput as error:
        return str(error)
    return ""
