"""The judge's outcomes in words for a language model: what is wrong, where, by how much, and what to do."""

from collections import Counter
from collections.abc import Sequence

from passnet_core.records import (
    BASELINE_NAMES,
    LAUNCHED,
    MEMORY_FLOOR,
    NOISE_FLOOR,
    RESTS_ON_EVIDENCE,
    TIMED_CALLS,
    Accuracy,
    Clock,
    Contender,
    Evidence,
    Finding,
    Inspection,
    Outcome,
    OutputAccuracy,
    PassMatches,
    Verdict,
)

MOST_FINDINGS = 8
TRACE_LINES = 12
"""How many lines of a piece of evidence are shown, from its end."""
MOST_OF_CODE = 12_000
"""How many characters of Inductor's code are shown."""
RUN_BY_HAND = "\n\ndef get_args():"
"""The start of the part of Inductor's code that only serves to run it by hand."""
EVIDENCE = (LAUNCHED, TIMED_CALLS, MEMORY_FLOOR, NOISE_FLOOR)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Describe the outcomes of a task: the number of subgraphs per verdict, and the first outcome of each in full."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    firsts = {outcome.verdict: outcome for outcome in reversed(outcomes)}
    if not outcomes:
        return "Nothing was judged."
    lines = []
    if len(outcomes) > 1:
        lines.append("; ".join(f"{count} of {len(outcomes)}: {verdict}" for verdict, count in counts.items()) + ".")
    # failures first
    for verdict in sorted(counts, key=lambda each: each.accepted):
        lines.append(f"{firsts[verdict].subgraph_id}: {explained(firsts[verdict])}")
    return "\n\n".join(lines)


def explained(outcome: Outcome) -> str:
    """Describe one outcome: its verdict, reason, matches, values, times and evidence, as far as they matter."""
    misses = [_miss(each) for each in outcome.match.passes if each.miss is not None] if outcome.match else []
    if outcome.verdict is Verdict.REJECTED:
        parts = [f"{outcome.verdict}:", *map(_finding, outcome.findings[:MOST_FINDINGS])]
    elif outcome.verdict is Verdict.NO_MATCH and misses:
        parts = [f"{outcome.verdict}. The nearest misses:", *misses]
    else:
        parts = [f"{outcome.verdict}. {outcome.reason}"]
    if outcome.verdict is Verdict.MATCHED and outcome.match is not None and outcome.match.rewritten:
        parts.append(f"The subgraph becomes:\n{outcome.match.rewritten.strip()}")
    if outcome.accuracy is not None and not outcome.verdict.accepted:
        parts += _values(outcome.accuracy)
    if outcome.timings:
        parts.append(_times(outcome))
    wanted = [each for each in outcome.evidence if _is_shown(each, outcome.verdict)]
    parts += [_cut(f"{each.topic}: {each.text}") for each in wanted]
    parts += [f"Note: {warning}" for warning in outcome.warnings[:4]]
    return "\n".join(parts)


def inductor_code(subgraph: str, inspection: Inspection) -> str:
    """The code that a baseline generates for a subgraph, shortened for a model, or why there is none."""
    if inspection.code is None:
        return inspection.code_problem
    code = inspection.code
    place = f"{inspection.environment.device}, torch {inspection.environment.torch}"
    launches = f"{code.launches} kernel {'launch' if code.launches == 1 else 'launches'}"
    calls = f" and {code.library_calls} library {'call' if code.library_calls == 1 else 'calls'}"
    whose = f"Code of {BASELINE_NAMES[inspection.baseline]} for {subgraph} on {place}"
    head = f"{whose}: {launches}{calls if code.library_calls else ''} per call."
    text, found, by_hand = code.text.partition(RUN_BY_HAND)
    if len(text) > MOST_OF_CODE:
        left_out = f"\n[… {len(text) - MOST_OF_CODE} characters left out …]\n"
        # keep both ends: the kernels come first, the code that calls them last
        text = text[: MOST_OF_CODE // 2] + left_out + text[-MOST_OF_CODE // 2 :]
    end = f"\n[{len(found + by_hand)} characters left out: they only run this code by hand.]" if found else ""
    return f"{head}\n\n{text.strip()}{end}"


def _finding(finding: Finding) -> str:
    return f"- {finding.file} line {finding.line}, rule {finding.rule}: {finding.message} {finding.remedy}"


def _miss(found: PassMatches) -> str:
    if found.miss is None:
        return f"- {found.name} matches nothing."
    matched = ", ".join(f"{pattern} = {node}" for pattern, node in found.miss.matched) or "nothing"
    return f"- {found.name}: {found.miss.reason} Matched up to there: {matched}."


def _values(accuracy: Accuracy) -> list[str]:
    wrong = [each for each in accuracy.outputs if each.smallest_t is None or each.problem]
    return [_output(each) for each in (wrong or list(accuracy.outputs))[:2]]


def _output(output: OutputAccuracy) -> str:
    parts = [f"Output {output.output}, {output.dtype} {list(output.shape)}:"]
    if output.problem:
        parts.append(f"{output.problem}.")
    if output.index is not None:
        place = f"worst element {list(output.index)}: expected {output.expected}, got {output.actual}"
        parts.append(f"{place} (input set {output.profile!r}).")
    if output.max_error is not None:
        parts.append(f"Largest error {output.max_error:.3g}, mean error {output.mean_error or 0.0:.3g}.")
        parts.append(f"Wrong: {output.wrong_words or 'nothing'}.")
    return " ".join(parts)


def _times(outcome: Outcome) -> str:
    """The times of all contenders by all clocks, with the noise floor."""
    # the passes are the model's own
    names = {**outcome.spec.names, Contender.PASSES: "yours"}
    lines = []
    for clock in Clock:
        told = [
            f"{name} {timing.median:.1f} µs"
            for contender, name in names.items()
            if (timing := outcome.timing(contender, clock)) is not None
        ]
        if told:
            lines.append(f"- {clock.value}: {', '.join(told)}")
    noise = "" if outcome.noise is None else f" Noise floor: eager differs from itself by up to {outcome.noise:.0%}."
    return "Median time per call:\n" + "\n".join(lines) + noise


def _is_shown(evidence: Evidence, verdict: Verdict) -> bool:
    return evidence.topic == "traceback" or (verdict in RESTS_ON_EVIDENCE and evidence.topic in EVIDENCE)


def _cut(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(lines if len(lines) <= TRACE_LINES else ["[…]", *lines[-TRACE_LINES:]])
