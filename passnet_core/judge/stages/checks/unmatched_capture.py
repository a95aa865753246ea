from collections.abc import Iterable

from passnet_core.judge.protocol.messages import CandidateFault
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession


def unmatched_capture(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches passes that match the recorded graph, but nothing in what torch.compile captured: the outputs are right
    only because PyTorch's own operations computed them."""
    if call.returned is not None and call.returned.matches == 0:
        raise CandidateFault(
            "rewrite",
            "The passes match the recorded graph, but nothing in the graph that torch.compile captured. "
            "Try direct capture, or write the pattern as torch.compile records it.",
        )
    return ()
