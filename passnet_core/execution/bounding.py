"""How much of an outcome is kept: a bundle chooses how much there is to say of it, and everybody's disk holds it."""

from dataclasses import replace

from passnet_core.records import Evidence, Finding, Outcome

MOST_FINDINGS = 50
"""How many findings of a bundle are kept; one more says how many there were."""
MOST_ITEMS = 50
"""How many facts of evidence, how many figures each of them, and how many warnings an outcome may have."""
LONGEST_TEXT = 16_000
"""How many characters each of an outcome's texts may have."""
LONGEST_SENTENCE = 2_000
"""How many characters a finding's message, its remedy and a warning may have."""


def bounded(outcome: Outcome) -> Outcome:
    """Return the outcome with so much of it as is kept: an equal one where nothing is too long."""
    return replace(
        outcome,
        reason=_beginning(outcome.reason, LONGEST_TEXT),
        findings=bounded_findings(outcome.findings),
        warnings=tuple(_beginning(warning, LONGEST_SENTENCE) for warning in outcome.warnings[:MOST_ITEMS]),
        evidence=tuple(map(_bounded_fact, outcome.evidence[:MOST_ITEMS])),
        log_tail=outcome.log_tail[-LONGEST_TEXT:],
    )


def bounded_findings(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the first findings, those that reject the bundle before others, and a last one that says how many more
    there were, at the place of the first of these."""
    # those that reject the bundle come first only if not all can be kept
    kept = findings if len(findings) <= MOST_FINDINGS else sorted(findings, key=lambda finding: not finding.fatal)
    short = [
        replace(
            finding,
            message=_beginning(finding.message, LONGEST_SENTENCE),
            remedy=_beginning(finding.remedy, LONGEST_SENTENCE),
        )
        for finding in kept[: MOST_FINDINGS + 1]
    ]
    if len(findings) <= MOST_FINDINGS:
        return tuple(short)
    more = len(findings) - MOST_FINDINGS
    said = f"There {'is 1 more finding' if more == 1 else f'are {more:,} more findings'}; the first of them is here."
    rest = replace(short[-1], message=said, remedy="Mend what stands before it, then check again.")
    return (*short[:-1], rest)


def _bounded_fact(fact: Evidence) -> Evidence:
    return replace(fact, text=_beginning(fact.text, LONGEST_TEXT), figures=fact.figures[:MOST_ITEMS])


def _beginning(text: str, most: int) -> str:
    """Return the text, or its beginning and how many characters are left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} more characters are left out)"
