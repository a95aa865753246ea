"""What a verification comes to: its accuracy, the gravest objection, and the sentence that gives the reason."""

from collections.abc import Mapping, Sequence

from passnet_core.judge.numerics import comparing, elements
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.verify_session import CheckedOutputs, VerifySession
from passnet_core.records import WRONG, Accuracy, Evidence, Verdict

GRAVITY = {verdict: turn for turn, verdict in enumerate(each for each in Verdict if each in WRONG)}


def concluded(session: VerifySession) -> Verification:
    """The gravest objection decides, the earliest of equals; without one, a doubt about the subgraph itself."""
    warnings, evidence = list(session.warnings), []
    reduced = session.pace.reduced
    if reduced:
        warnings.append(reduced)
    if session.exact_problem:
        warnings.append(f"No float64 reference: values are judged by closeness at t = {elements.FALLBACK_T}.")
        evidence.append(Evidence("float64 reference", session.exact_problem))
    for _, remarks in sorted(session.remarks.items()):
        warnings += remarks
        evidence += remarks.values()
    worst = gravest(session.held)
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
        reason = f"Every output is right on {count} drawing{'s' if count != 1 else ''} of inputs."
    return Verification(verdict, reason, _accuracy(session), tuple(warnings), tuple(evidence))


def gravest(held: Mapping[int, Sequence[CheckedOutputs]]) -> tuple[int, CheckedOutputs] | None:
    """The gravest difference with the output it is of, the earliest of equals; None: all is right."""
    wrong = [
        (GRAVITY[each.difference.verdict], turn, output, each)
        for output, differences in held.items()
        for turn, each in enumerate(differences)
        if each.difference.verdict is not None
    ]
    return min(wrong, key=lambda each: each[:3])[2:] if wrong else None


def _accuracy(session: VerifySession) -> Accuracy:
    named = {output: [(each.inputs, each.difference) for each in held] for output, held in session.held.items()}
    outputs = tuple(comparing.gather(differences, output) for output, differences in sorted(named.items()))
    return Accuracy(outputs, tuple(session.compared), session.pace.reduced)


def _objected(output: int, worst: CheckedOutputs) -> tuple[Verdict, str]:
    found = worst.difference
    assert found.verdict is not None
    subject = found.subject or f"Output {output}"
    how = "less precise than it must be" if found.verdict is Verdict.LOWER_PRECISION else "wrong"
    drawing, comma, rest = worst.inputs.partition(",")
    said = found.problem.removeprefix(f"{subject}: ")
    return found.verdict, f"{subject} is {how} on {drawing} inputs{comma}{rest}: {said}.{worst.hint}"
