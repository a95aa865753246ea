from collections.abc import Iterable

from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession


def inputs_after_call(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches an input used as scratch memory, and an input that eager changes in place and the candidate leaves as it
    was or changes differently."""
    for each in call.judged.inputs:
        found = each.difference
        if found.verdict is None and (each.by_eager or not found.max_error):
            continue
        problem = found.problem or f"it is off by up to {found.max_error:.3g}"
        if not each.by_eager:
            problem = "it was changed, but eager does not change it: " + problem.replace("eager's", "before")
        elif not each.by_candidate:
            problem = f"it was left unchanged, but eager changes it: {problem}"
        subject = f"Input {session.specs[each.index].name} after the call"
        yield from call.objections_to(subject, f"{subject}: {problem}")
