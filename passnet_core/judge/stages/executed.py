"""What the executions of a verification's plans showed beside the values."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from passnet_core.judge.plan.describe import COPIED_SHARE, described, distinct_elements, flat, tensors_of
from passnet_core.judge.stages.findings import Census
from passnet_core.judge.stages.verify_session import ExecutedCall, VerifySession
from passnet_core.records import EXECUTED, Evidence, Verdict

MOST_REPEATED = 2
"""How often copies may put the same elements into a result."""


def executed(session: VerifySession) -> Census | None:
    """VALUES_ONLY: the plans of all calls were executed, and nothing is wrong with them. WRONG_VALUES: kernels do what
    is wrong whatever the values. LIBRARY: copies do their work. CHEAT: another recording gives another plan. None:
    there are no plans."""
    planned = session.asked.planned
    if planned is None or not session.planned_calls:
        return None
    for call in session.planned_calls:
        if call.executed.problems:
            reason = f"A kernel is wrong, although the values came out right: {call.executed.problems[0].rstrip('.')}."
            return Census(Verdict.WRONG_VALUES, reason, (), (Evidence(EXECUTED, "\n".join(call.executed.problems)),))
        # without a GPU it is known what kernels have stored; on one, values may be equal by chance
        if call.executed.copied and (
            session.asked.interpreted or all(each.executed.copied for each in session.planned_calls)
        ):
            reason = (
                "The values are right, but not computed by the bundle's own kernels alone:"
                f" {call.executed.copied[0].rstrip('.')}."
            )
            return Census(Verdict.LIBRARY, reason, (), (Evidence(EXECUTED, "\n".join(call.executed.copied)),))
    for repeated in _repeated(plan for each in session.planned_calls for plan in each.watched.watched.plans):
        reason = f"The values are right, but not computed by the bundle's own kernels alone: {repeated}."
        return Census(Verdict.LIBRARY, reason, (), (Evidence(EXECUTED, repeated),))
    if (other := planned.recorded_anew()) is not None:
        return other
    call = next((each for each in session.planned_calls if each.watched.input_draw == "typical"), call)
    count = len(planned.plans)
    text = (
        f"{'One plan' if count == 1 else f'{count} plans'} computed every output of {len(session.planned_calls)} calls."
    )
    text = "\n".join((text, *_described(call, planned.names)))
    return Census(Verdict.VALUES_ONLY, "", (), (Evidence(EXECUTED, text, _traffic(session, call)),))


def _repeated(plans: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Say which results torch's copies have filled with the same elements several times."""
    for plan in plans:
        try:
            copies = [step for step in flat(plan["steps"]) if "copy" in step]
            for index, place in enumerate(tensors_of(plan["returned"])):
                into = [(each["copy"]["tensor"], each["to"]["tensor"]) for each in copies]
                pairs = [(source, target) for source, target in into if target["in"] == place["in"]]
                filled = sum(math.prod(target["shape"]) for _, target in pairs)
                distinct = {json.dumps(source): distinct_elements(source) for source, _ in pairs}
                whole = COPIED_SHARE * math.prod(place["shape"])
                if filled > whole and filled >= MOST_REPEATED * sum(distinct.values()) and filled > 1:
                    yield f"copies by PyTorch, not kernels, put the same elements into result {index} again and again"
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            # the planner has told it in another form
            continue


def _described(call: ExecutedCall, names: Mapping[str, str]) -> Iterator[str]:
    """The plans of a call, each once."""
    plans = {json.dumps(each): each for each in call.watched.watched.plans}
    for plan in plans.values():
        try:
            yield from described(plan, names.get(str(plan["function"]), "a replacement"))
        except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError):
            yield "a plan in an unknown form"


def _traffic(session: VerifySession, call: ExecutedCall) -> tuple[tuple[str, float], ...]:
    """The figures of EXECUTED, for a call whose steps computed every output."""
    try:
        steps = [step for each in call.watched.watched.plans for step in flat(each["steps"])]
        moved = sum(size for step in steps for size in _sizes(step).values())
        made = [each for plan in call.watched.watched.plans for each in plan["made"]]
        moved += sum(int(each["bytes"]) for each in made if each["fill"] is not None)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        # the planner has told it in another form
        return ()
    outputs = call.executed.returned.outputs
    returned = sum(each.value.nbytes for each in outputs if isinstance(each.value, torch.Tensor))
    launches = sum("launch" in step for step in steps)
    return (
        ("launches", float(launches)),
        ("moved_bytes", float(moved)),
        ("least_bytes", float(session.input_bytes(call.watched.shapes) + returned)),
    )


def _sizes(step: Mapping[str, Any]) -> dict[str, int]:
    """The bytes of each tensor that a step is given. One that it is given twice counts once."""
    given = [
        *step.get("args", ()),
        *step.get("kwargs", {}).values(),
        step.get("copy"),
        step.get("to"),
        step.get("fill"),
    ]
    tensors = [each.get("tensor", each) for each in given if each and ("tensor" in each or "strides" in each)]
    return {f"{each}": math.prod(each["shape"]) * int(getattr(torch, each["dtype"]).itemsize) for each in tensors}
