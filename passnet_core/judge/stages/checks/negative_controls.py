from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Doubt, Objection, VerifySession
from passnet_core.records import Evidence


def negative_controls(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches subgraphs on which "return the input", "return zeros" or "return uninitialised memory" would be right
    too: they can rank nobody. Tried on every input draw, until an output has told them all apart."""
    if session.strict:
        problem = session.bench.control()
        reason = (
            "Every output is right, but no computation is needed for that, so that this subgraph cannot rank"
            f" anybody. As right would be: {problem}."
        )
        session.doubt = Doubt(reason, Evidence("negative control", problem)) if problem else None
    return ()
