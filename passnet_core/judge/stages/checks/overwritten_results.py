from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession


def overwritten_results(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches one buffer returned from every call, so that a call overwrites what the call before had returned."""
    if session.strict and call.returned is not None:
        for output in call.returned.overwrote:
            problem = "what an earlier call had returned was overwritten by this one"
            yield from call.beside(f"Output {output} of a call", problem)
