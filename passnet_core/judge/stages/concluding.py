"""The conclusion of a verification: its accuracy, the worst objection, and the reason in a sentence."""

from collections.abc import Mapping, Sequence

from passnet_core.judge.numerics import comparing, elements
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.verify_session import CheckedOutput, VerifySession
from passnet_core.records import Accuracy, Evidence, Verdict, base_set


def concluded(session: VerifySession) -> Verification:
    """Decide by the worst objection; without one, by a doubt about the subgraph."""
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
    accuracy = _accuracy(session, order)
    worst = gravest(session.differences, order)
    if worst is not None:
        verdict, reason = _objected(*worst, accuracy)
        if reduced:
            evidence.append(Evidence("sizes", reduced))
    elif session.doubt is not None:
        verdict, reason = Verdict.INCONCLUSIVE, session.doubt.reason
        evidence.append(session.doubt.evidence)
    else:
        count = len(session.compared)
        verdict = Verdict.VALUES_ONLY
        reason = f"All outputs correct on {count} input set{'s' if count != 1 else ''}."
    return Verification(verdict, reason, accuracy, tuple(warnings), tuple(evidence))


def named_in_order(session: VerifySession) -> list[str]:
    """The compared input draws in their usual order, whatever the order of the calls was."""
    usual = {name: turn for turn, name in enumerate(session.input_draws)}
    return sorted(session.compared, key=lambda name: (usual.get(name, len(usual)), name))


def gravest(
    checked: Mapping[int, Sequence[CheckedOutput]], order: Mapping[str, int]
) -> tuple[int, CheckedOutput] | None:
    """The worst difference and the output it belongs to: the one that the record of this output shows. Of equals the
    first by the order of their input draws. None: all outputs are right."""
    wrong = [
        (output, each)
        for output in sorted(checked)
        for each in _in_order(checked[output], order)
        if each.difference.verdict is not None
    ]
    return max(wrong, key=lambda each: comparing.badness(each[1].difference), default=None)


def _in_order(checked: Sequence[CheckedOutput], order: Mapping[str, int]) -> list[CheckedOutput]:
    return sorted(checked, key=lambda each: order.get(base_set(each.inputs), len(order)))


def _accuracy(session: VerifySession, order: Mapping[str, int]) -> Accuracy:
    named = {
        output: [(each.inputs, each.difference) for each in _in_order(checked, order)]
        for output, checked in session.differences.items()
    }
    outputs = tuple(comparing.gather(differences, output) for output, differences in sorted(named.items()))
    return Accuracy(outputs, tuple(named_in_order(session)), session.pace.reduced)


def _objected(output: int, worst: CheckedOutput, accuracy: Accuracy) -> tuple[Verdict, str]:
    """The verdict and the reason for this difference: which output, on which inputs, what is wrong with it, and how
    many input sets fail."""
    found = worst.difference
    assert found.verdict is not None
    subject = found.subject or f"Output {output}"
    how = "less precise than it must be" if found.verdict is Verdict.LOWER_PRECISION else "wrong"
    input_draw, comma, rest = worst.inputs.partition(",")
    said = found.problem.removeprefix(f"{subject}: ")
    failed = next((accuracy.failed_words(each) for each in accuracy.outputs if each.output == output), "")
    sets = f" It is {failed}." if failed and not found.subject else ""
    return found.verdict, f"{subject} is {how} on {input_draw} inputs{comma}{rest}: {said}.{sets}{worst.hint}"
