from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession


def overwritten_results(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches one buffer that several calls return, so that a call overwrites what an earlier call returned."""
    if session.strict and call.returned is not None:
        for output in call.returned.overwrote:
            problem = "this call overwrote what an earlier call had returned, or returned the same memory again"
            yield from call.objections_to(f"Output {output} of a call", problem)
