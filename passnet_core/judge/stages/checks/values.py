from collections.abc import Iterable
from dataclasses import replace

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict


def values(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches outputs that differ from the float64 reference: zeros and other constants, an input passed through, rows
    or a last block left unwritten, work skipped because the recorded statistics make it an identity."""
    for each in call.objections(Verdict.WRONG_VALUES):
        unwritten = each.difference.actual == 0 and each.difference.wrong_fraction < 1
        yield replace(each, hint=" The wrong element is 0: is every element written?") if unwritten else each
