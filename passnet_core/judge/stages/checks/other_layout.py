from collections.abc import Iterable

from passnet_core.judge.numerics import comparing
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Evidence


def other_layout(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Tells of strides other than eager's, which a consumer may not expect. This is a warning, not an objection: an
    optimiser may choose the layout."""
    for output, eager, actual in call.outputs():
        if strides := comparing.other_strides(eager, actual):
            warning = f"Output {output} does not have eager's strides."
            session.remarks.setdefault(output, {}).setdefault(
                warning, Evidence("strides", f"Output {output}: {strides}.")
            )
    return ()
