"""The conclusion of a verification: its accuracy, the gravest objection, and the reason in a sentence."""

from collections.abc import Mapping, Sequence

from passnet_core.judge.numerics import comparing, elements
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.verify_session import CheckedOutput, VerifySession
from passnet_core.records import WRONG, Accuracy, Evidence, Verdict

GRAVITY = {verdict: turn for turn, verdict in enumerate(each for each in Verdict if each in WRONG)}
"""How grave each wrong verdict is: the smallest number is the gravest."""


def concluded(session: VerifySession) -> Verification:
    """Decide by the gravest objection, the earliest of equals; without one, by a doubt about the subgraph."""
    warnings, evidence = list(session.warnings), list(session.evidence)
    reduced = session.pace.reduced
    if reduced:
        warnings.append(reduced)
    if session.exact_problem:
        warnings.append(
            f"There is no float64 reference, so values are judged by closeness to eager at t = {elements.FALLBACK_T}."
        )
        evidence.append(Evidence("float64 reference", session.exact_problem))
    for _, remarks in sorted(session.remarks.items()):
        warnings += remarks
        evidence += remarks.values()
    order = {name: turn for turn, name in enumerate(named_in_order(session))}
    worst = gravest(session.differences, order)
    if worst is not None:
        verdict, reason = _objected(*worst)
        if reduced:
            evidence.append(Evidence("sizes", reduced))
    elif session.doubt is not None:
        verdict, reason = Verdict.INCONCLUSIVE, session.doubt.reason
        evidence.append(session.doubt.evidence)
    else:
        count = len(session.compared)
        verdict = Verdict.VALUES_ONLY
        reason = f"Every output is right on {count} input draw{'s' if count != 1 else ''}."
    return Verification(verdict, reason, _accuracy(session, order), tuple(warnings), tuple(evidence))


def named_in_order(session: VerifySession) -> list[str]:
    """The compared input draws in their usual order, whatever the order of the calls was."""
    usual = {name: turn for turn, name in enumerate(session.input_draws)}
    return sorted(session.compared, key=lambda name: (usual.get(name, len(usual)), name))


def gravest(
    checked: Mapping[int, Sequence[CheckedOutput]], order: Mapping[str, int]
) -> tuple[int, CheckedOutput] | None:
    """The gravest difference and the output it belongs to, the first of equals by the order of their input draws. None:
    all outputs are right."""
    wrong = [
        (GRAVITY[each.difference.verdict], order.get(each.inputs.partition(",")[0], len(order)), turn, output, each)
        for output, outputs in checked.items()
        for turn, each in enumerate(outputs)
        if each.difference.verdict is not None
    ]
    return min(wrong, key=lambda each: each[:4])[3:] if wrong else None


def _accuracy(session: VerifySession, order: Mapping[str, int]) -> Accuracy:
    def turn(checked: CheckedOutput) -> int:
        return order.get(checked.inputs.partition(",")[0], len(order))

    named = {
        output: [(each.inputs, each.difference) for each in sorted(checked, key=turn)]
        for output, checked in session.differences.items()
    }
    outputs = tuple(comparing.gather(differences, output) for output, differences in sorted(named.items()))
    return Accuracy(outputs, tuple(named_in_order(session)), session.pace.reduced)


def _objected(output: int, worst: CheckedOutput) -> tuple[Verdict, str]:
    """The verdict and the reason for this difference: which output, on which inputs, and what is wrong with it."""
    found = worst.difference
    assert found.verdict is not None
    subject = found.subject or f"Output {output}"
    how = "less precise than it must be" if found.verdict is Verdict.LOWER_PRECISION else "wrong"
    input_draw, comma, rest = worst.inputs.partition(",")
    said = found.problem.removeprefix(f"{subject}: ")
    return found.verdict, f"{subject} is {how} on {input_draw} inputs{comma}{rest}: {said}.{worst.hint}"
