from collections.abc import Iterable
from dataclasses import replace

from passnet_core.judge.stages.checks.overwritten_results import overwritten_results
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession

MORE = 2
"""How many more calls there are at most on the same inputs if the bundle prepares weights, which it then does once."""


def called_again(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches prepared buffers that calls share: the same inputs come again in the same tensors."""
    if not (session.strict and session.planned.again) or call.returned is None:
        return
    if session.asked.preparations[session.name].weights:
        # a buffer may live as long as prepared weights do, and be one of several that take turns
        for _ in range(session.chance.randint(0, MORE)):
            further = session.returned(f"{session.input_draw}, again", fresh=False)
            yield from overwritten_results(session, replace(call, returned=further))
