from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession


def late_results(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches work on a side stream that is not joined before returning, so the outputs are unfinished when the stream
    of the call is done. CUDA only."""
    if session.strict and call.returned is not None:
        for output in call.returned.late:
            problem = (
                "it was not complete when the call's stream had finished: wait for all other streams before returning"
            )
            yield from call.objections_to(f"Output {output}", problem)
