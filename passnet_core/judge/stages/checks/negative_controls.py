from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Doubt, Objection, VerifySession
from passnet_core.records import Evidence


def negative_controls(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches subgraphs on which "return the input", "return zeros" or "return uninitialised memory" is right too: such
    subgraphs rank nobody. Tries these controls on every input draw, until each was wrong for an output."""
    if session.strict:
        problem = session.bench.control()
        reason = (
            "Every output is right, but this subgraph needs no computation, so it cannot rank anybody."
            f" These answers would be right too: {problem}."
        )
        session.doubt = Doubt(reason, Evidence("negative control", problem)) if problem else None
    return ()
