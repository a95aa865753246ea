from collections.abc import Iterable, Sequence
from dataclasses import replace

from passnet_core.judge.numerics import bias
from passnet_core.judge.stages.verify_session import ComparedCall, Objection, VerifySession
from passnet_core.records import Verdict

LEAST_DRAWS = 3
"""On so many input draws the errors must have the same direction in the same range of values: an intermediate value
that all elements share, rounded once, gives them a direction too, but each draw another."""

HINT = " Rounding has no direction: look for a factor, a count, a constant or a formula that is not eager's."


def one_sided_errors(session: VerifySession, call: ComparedCall) -> Iterable[Objection]:
    """Catches what the slack for rounding hides in half precision: values that are all one percent too small, a mean
    over one element too many, the tanh form of GELU for the exact one. Their errors have a direction."""
    for output, signed in enumerate(call.judged.signed if session.strict and session.is_candidate else ()):
        seen = session.one_sided.setdefault(output, [])
        seen += bias.one_sided(signed)
        draws = {found.key: [each for each in seen if each.key == found.key] for found in seen}
        alike = [each for each in draws.values() if len(each) >= LEAST_DRAWS]
        if alike:
            worst = max(alike, key=lambda found: abs(bias.joined(found).mean))
            found = replace(
                call.judged.values[output],
                verdict=Verdict.LOWER_PRECISION,
                problem=problem(worst),
                wrong_fraction=min(1.0, worst[-1].count / max(1, sum(each.count for each in signed))),
            )
            yield Objection(output, found, HINT)


def problem(found: Sequence[bias.OneSided]) -> str:
    """Describe the direction of the errors, which several input draws have in common."""
    all_draws = bias.joined(found)
    mean, eager = (_said(each, upwards=all_draws.upwards) for each in (all_draws.mean, all_draws.eager))
    where = _where(all_draws)
    return (
        f"its errors have a direction: on average {mean} over {all_draws.count:,} elements{where}"
        f" of {len(found)} input draws, eager's {eager}"
    )


def _said(mean: float, *, upwards: bool) -> str:
    ways = ("upwards", "downwards") if upwards else ("away from zero", "towards zero")
    return f"{abs(mean):.2f} ulp {ways[mean < 0]}"


def _where(found: bias.OneSided) -> str:
    """The range of values; empty if it is that of all."""
    kind = {0: "", 1: "positive", -1: "negative"}[found.sign]
    if found.large:
        return f" in the larger half of the {kind} values" if kind else " in the larger half of the values"
    if found.binade is None:
        return f" with {kind} values" if kind else ""
    size = f"of size {2.0**found.binade:.3g} to {2.0 ** (found.binade + 1):.3g}"
    return f" with {kind} values {size}" if kind else f" with values {size}"
