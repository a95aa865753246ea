"""Repeat what a bundle's kernels did in a call, on other inputs, in a process that has nothing but the kernels.

What the candidate worker says of its launches need not be trusted: whoever claims launches that compute the right
values on inputs that the candidate has never seen has written kernels that compute them. Work that left no steps (a
library's, the host's, an earlier call's) is missing in the repetition, however it was hidden."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from passnet_core.judge.protocol.messages import (
    CallableName,
    CandidateFault,
    Repeated,
)
from passnet_core.judge.protocol.reference_bench import Judged
from passnet_core.judge.stages.findings import Census
from passnet_core.judge.stages.verify_session import EagerFailed, VerifySession, WatchedCall
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import REPEATED, Evidence, Verdict

UNDEFINED = (
    "the result depends on the order in which programs run, or on the values of lanes that a load masks out,"
    " and neither is defined on a GPU"
)


HIDDEN_SHARE = 0.05
"""The share of an output that may be right without kernels only if nobody watches."""

MOST_KINDS = 4
"""How many calls are repeated at most, each of which launched and moved something else than the others."""


def repetition(session: VerifySession) -> Census | None:
    """Repeat a random call of the verification, or one of each kind if calls differ in what they launch.

    VALUES_ONLY: the kernels alone compute the outputs. LIBRARY: they do not. WRONG_VALUES: they do what is wrong
    whatever the values. INCONCLUSIVE: they cannot be repeated. None: nothing was repeated, because no repeater or no
    suitable call is there."""
    asked = session.asked
    # prepared weights cannot be drawn anew as they were in a call that came after changes
    weights = asked.preparations[CallableName.PASSES].weights
    kinds: dict[tuple[str, ...], list[WatchedCall]] = {}
    for each in session.watched:
        if not (each.changed and weights):
            kinds.setdefault(_kind(each), []).append(each)
    if asked.repeater is None or not kinds:
        return None
    chance = random.Random(asked.seed)
    chosen = [chance.choice(each) for each in chance.sample(list(kinds.values()), min(MOST_KINDS, len(kinds)))]
    found: Census | None = None
    for call in chosen:
        found = _repeated(session, call, asked.repeater)
        if found is None or found.verdict is not Verdict.VALUES_ONLY:
            break
    return found


def _kind(call: WatchedCall) -> tuple[str, ...]:
    """What the replacement functions of a call did, without sizes and places."""
    return tuple(
        f"{step['launch']}" if "launch" in step else "fill" if "fill" in step else "copy"
        for each in call.watched.steps
        for step in each.get("steps", ())
    )


def _repeated(session: VerifySession, call: WatchedCall, worker: Callable[[], WorkerProcess]) -> Census | None:
    """Repeat a call. None: eager fails on the other inputs."""
    asked = session.asked
    asked.report("repeating the kernels of a call alone, on other inputs")
    try:
        repeater = worker()
        repeater.prepare(CallableName.PASSES, asked.without_hooks)
        session.bench.draw(call.input_draw, call.shapes)
        session.bench.redraw(_kept(session, call))
        session.witnessed(lambda: session.bench.refer(exact=session.strict and not session.exact_problem))
        repeater.give(session.bench.taken())
        repeated = repeater.repeat(CallableName.PASSES, call.watched, asked.seed)
        judged = session.bench.judge(repeated.returned)
        if not repeated.problems and wrong_outputs(judged):
            # right in the interpreter's own order, and with its own values in lanes that a mask leaves out?
            plain = repeater.repeat(CallableName.PASSES, call.watched, None)
            if not wrong_outputs(session.bench.judge(plain.returned)):
                repeated = replace(repeated, problems=(UNDEFINED,))
    except EagerFailed:
        return None
    except CandidateFault as fault:
        if fault.who != "repeater":
            raise
        reason = f"The judge cannot repeat the kernels without the rest of the bundle: {fault.text}"
        return Census(Verdict.INCONCLUSIVE, reason, (), (Evidence(REPEATED, fault.trace or fault.text),))
    return _judged(session, call, repeated, judged)


def needless_kernels(session: VerifySession) -> Census | None:
    """LIBRARY, if the outputs were right on every draw on which the bundle's kernels did nothing, or some of them only
    if nobody watched; else None."""
    if len(session.hidden_shares) > 1 and min(session.hidden_shares) > HIDDEN_SHARE:
        reason = (
            "The values are right, but something other than the bundle's own kernels computes them if a call is not"
            f" watched: {min(session.hidden_shares):.0%} of an output is right although no kernel does anything, but"
            " not if the same call is watched."
        )
        return Census(Verdict.LIBRARY, reason, (), (Evidence(REPEATED, reason),))
    if len(session.right_without_kernels) < 2 or not all(session.right_without_kernels):
        return None
    reason = (
        "The values are right, but the bundle's own kernels did not compute them: they are also right if no kernel"
        " of the bundle does anything."
    )
    return Census(
        Verdict.LIBRARY, reason, (), (Evidence(REPEATED, "Calls in which no kernel did anything were right."),)
    )


def _kept(session: VerifySession, call: WatchedCall) -> tuple[int, ...]:
    """The inputs that stay as in the call: those that prepare(weights) may have read, and single numbers, which a
    replacement function may read to pass them to its kernels."""
    weights = session.asked.preparations[CallableName.PASSES].weights
    kept = tuple(
        index
        for index, (spec, shape) in enumerate(zip(session.specs, call.shapes))
        if spec.name in weights or not shape or set(shape) == {1}
    )
    # where all inputs are single numbers, keeping them would repeat the same call
    return kept if len(kept) < len(session.specs) else ()


def wrong_outputs(judged: Judged) -> list[str]:
    """What is wrong with what a call returned, in words."""
    if judged.problem:
        return [judged.problem]
    return [f"output {index}: {each.problem}" for index, each in enumerate(judged.values) if each.verdict is not None]


def _judged(session: VerifySession, call: WatchedCall, repeated: Repeated, judged: Judged) -> Census:
    if repeated.problems:
        reason = f"A kernel is wrong, although the values came out right: {repeated.problems[0].rstrip('.')}."
        return Census(Verdict.WRONG_VALUES, reason, (), (Evidence(REPEATED, "\n".join(repeated.problems)),))
    if repeated.copied:
        reason = (
            "The values are right, but not computed by the bundle's own kernels alone:"
            f" {repeated.copied[0].rstrip('.')}."
        )
        return Census(Verdict.LIBRARY, reason, (), (Evidence(REPEATED, "\n".join(repeated.copied)),))
    wrong = wrong_outputs(judged)
    if not wrong:
        text = f"The launches of a call on {call.input_draw} inputs, repeated on others, computed every output."
        return Census(Verdict.VALUES_ONLY, "", (), (Evidence(REPEATED, text, _traffic(session, call, repeated)),))
    reason = (
        "The values are right, but not computed by the bundle's own kernels alone: its launches, repeated on other"
        f" inputs, differ in {wrong[0].rstrip('.')}."
    )
    return Census(Verdict.LIBRARY, reason, (), (Evidence(REPEATED, "\n".join(wrong)),))


def _traffic(session: VerifySession, call: WatchedCall, repeated: Repeated) -> tuple[tuple[str, float], ...]:
    """The figures of REPEATED, for a call whose steps computed every output; none if the steps are not as they should
    be, which the repeater has not noticed."""
    try:
        steps = [step for each in call.watched.steps for step in each["steps"]]
        moved = sum(size for step in steps for size in _sizes(step).values())
    except (AttributeError, KeyError, TypeError):
        return ()
    made = sum(each.value.nbytes for each in repeated.returned.outputs if isinstance(each.value, torch.Tensor))
    launches = sum("launch" in step for step in steps)
    return (
        ("launches", float(launches)),
        ("moved_bytes", float(moved)),
        ("least_bytes", float(session.input_bytes(call.shapes) + made)),
    )


def _sizes(step: Mapping[str, Any]) -> dict[str, int]:
    """The bytes of each tensor that a step in the form of memory_steps.py is given. One that it is given twice counts
    once."""
    given = [
        *step.get("args", ()),
        *step.get("kwargs", {}).values(),
        step.get("copy"),
        step.get("to"),
        step.get("fill"),
    ]
    tensors = [each.get("tensor", each) for each in given if each and ("tensor" in each or "strides" in each)]
    return {f"{each}": math.prod(each["shape"]) * int(getattr(torch, each["dtype"]).itemsize) for each in tensors}
