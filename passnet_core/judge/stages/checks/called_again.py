from collections.abc import Iterable
from dataclasses import replace

import torch

from passnet_core.judge.stages.checks.overwritten_results import overwritten_results
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.judge.worker.staging import same_bits
from passnet_core.records import Device

MORE = 2
"""How many more calls there are at most on the same inputs if the bundle prepares weights, which it then does once."""


def called_again(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches passes that compute in another way when they are watched: the same inputs come again in the same tensors,
    and one of the two calls is watched and the other is not. On a CPU both must return the same bits, each in memory of
    its own."""
    if not (session.strict and session.planned.again) or call.returned is None:
        return
    if session.asked.preparations[session.name].weights:
        # a buffer may live as long as prepared weights do, and be one of several that take turns
        for _ in range(session.chance.randint(0, MORE)):
            further = session.returned(f"{session.input_draw}, again", fresh=False)
            yield from overwritten_results(session, replace(call, returned=further))
    if session.asked.job.spec.device is not Device.CPU:
        return
    second = session.returned(f"{session.input_draw}, again", fresh=False, watched=not session.planned.watched)
    yield from overwritten_results(session, replace(call, returned=second))
    for output, (one, other) in enumerate(zip(call.returned.outputs, second.outputs)):
        if call.judged.values[output].verdict is not None:
            continue
        tensors = isinstance(one.value, torch.Tensor) and isinstance(other.value, torch.Tensor)
        if tensors and not same_bits(one.value, other.value):
            problem = "a second call with the same inputs gave different values"
            yield from call.objections_to(f"Output {output}", problem)
