"""The one next step after an outcome, from what this outcome shows: what is seen, what it may mean, what to do.

What is seen is a fact. What it may mean is a guess, and said as one. Where an outcome shows no more than its verdict,
there is no advice of its own.
"""

import re
from collections.abc import Callable, Mapping

from passnet_core.advice.error_shapes import guessed
from passnet_core.advice.memory_floor import memory_floor
from passnet_core.charts.breakdown import Breakdown, Piece, breakdown, lost, quartiles
from passnet_core.charts.places import drawn, where
from passnet_core.records import (
    CONTENDER_NAMES,
    TIMED,
    Capture,
    Clock,
    Contender,
    Evidence,
    MissKind,
    Outcome,
    OutputAccuracy,
    PassMatches,
    SolverKind,
    Timing,
    Verdict,
)

MOST_SHOWN = 160
"""Characters of a name or a number that a stranger's file gave."""
NEAR_FLOOR = 1.5
"""Times the memory floor: kernels that are so near have hardly anything left."""
LITTLE_KERNEL = 0.25
"""Of a call: what kernels save of less hardly shows."""


def next_step(outcome: Outcome) -> str | None:
    """In plain text, one to three sentences; None: nothing beyond what the verdict itself suggests."""
    if outcome.solver is SolverKind.INDUCTOR:
        return _to_beat(outcome)
    adviser = ADVISERS.get(outcome.verdict)
    return adviser(outcome) if adviser is not None else None


def _to_beat(outcome: Outcome) -> str | None:
    """TorchInductor's times are nobody's to mend."""
    own = breakdown(outcome, Contender.BASELINE)
    if outcome.verdict not in TIMED or own is None:
        return None
    kernels = own.parts.get(Piece.KERNELS)
    of_these = f", {kernels:.3g} of them in kernels," if kernels is not None else ""
    return f"Write passes for it: TorchInductor's {own.total_us:.3g} µs a call{of_these} are what they have to beat."


# --- values ----------------------------------------------------------------------------------------------------------


def _wrong(outcome: Outcome) -> str | None:
    output = worst_output(outcome)
    if output is None or outcome.accuracy is None:
        return None
    guess = guessed(output, outcome.accuracy.profiles)
    seen = _seen(output)
    if guess is not None:
        return f"{seen} {guess.meaning} {guess.step}"
    if output.index is None or output.expected is None:
        return None
    place = f"{list(output.index)}" if output.index else "its one element"
    return (
        f"{seen} Compute {place} by hand, where {output.expected:.5g} is expected, and compare with the kernel's steps."
    )


def worst_output(outcome: Outcome) -> OutputAccuracy | None:
    """The output that the verdict is about; of several, the one of which most is wrong."""
    wrong = [each for each in (outcome.accuracy.outputs if outcome.accuracy else ()) if each.problem]
    return max(wrong, key=lambda each: (each.verdict is outcome.verdict, each.wrong_fraction), default=None)


def _seen(output: OutputAccuracy) -> str:
    place = where(output)
    if not place:
        return f"Output {output.output} is wrong."
    how = "imprecise" if output.verdict is Verdict.LOWER_PRECISION else "wrong"
    only = f" on {drawn(output.profile)}" if output.profile else ""
    return f"Output {output.output} is {how}{only}: {place}."


def _form(outcome: Outcome) -> str | None:
    """Wrong type or shape: the problem names both forms."""
    output = worst_output(outcome)
    if output is None:
        return None
    shape = "×".join(map(str, output.shape)) or "a scalar"
    return (
        f"Output {output.output}: {_cut(output.problem)}. Eager gives {shape} of {output.dtype}: allocate that,"
        " and return as many values as pattern does, in its order."
    )


# --- matching and building -------------------------------------------------------------------------------------------

REMEDIES: Mapping[MissKind, str] = {
    MissKind.OPERATOR: "Write the operation there as the graph has it, or leave it out of the pattern.",
    MissKind.LITERAL: "Write the same number or argument into pattern, or hand it over as an input.",
    MissKind.NOT_RETURNED: "Return that value from pattern and from the replacement too.",
    MissKind.USES: "Use each value in pattern exactly as often as the graph does.",
    MissKind.OVERLAP: "Put this pass first in the list, or match less with the pass before it.",
    MissKind.DEAD_INPUT: "Take the input that pattern does not use out of its arguments.",
    MissKind.ABSENT: "This subgraph has no such operation: begin from one that it has, or from the template.",
    MissKind.OTHER: "Begin from the template, which matches, and change it step by step.",
}


def _missed(outcome: Outcome) -> str | None:
    missed = [each for each in (outcome.match.passes if outcome.match else ()) if each.miss is not None]
    if not missed:
        return None
    nearest = max(missed, key=lambda each: len(each.miss.matched) if each.miss else 0)
    return _miss_words(nearest)


def _miss_words(nearest: PassMatches) -> str:
    miss = nearest.miss
    assert miss is not None
    against = f" meets {_cut(miss.graph_node)} of the graph" if miss.graph_node else " finds nothing in the graph"
    fitted = len(miss.matched)
    before = f", after {fitted} {'node' if fitted == 1 else 'nodes'} that fit" if fitted else ""
    place = f"{_cut(nearest.name)}: {_cut(miss.pattern_node)} of pattern{against}{before}"
    if nearest.edit is not None and nearest.edit.words:
        then = "it matches" if nearest.edit.matches else "it comes nearer"
        return f"{place} ({miss.kind.value}). {_cut(' '.join(nearest.edit.words))} Tried: with that {then}."
    return f"{place} ({miss.kind.value}). {REMEDIES[miss.kind]}"


def _rejected(outcome: Outcome) -> str | None:
    fatal = [finding for finding in outcome.findings if finding.fatal]
    if not fatal:
        return None
    first, more = fatal[0], len(fatal) - 1
    rest = f" Then the {'other line' if more == 1 else f'{more} other lines'} named under Code." if more else ""
    return f"{_cut(first.file)}, line {first.line}: {_cut(_sentence(first.remedy))}{rest}"


_FRAME = re.compile(r'File "pass_dir/([^"/\n]+)", line (\d+)')
"""Frames of the passes' own files, as the judge writes their paths."""
_IN_KERNEL = re.compile(r"^[\w.]+: at (\d+):\d+:", re.MULTILINE)


def _failed(outcome: Outcome) -> str | None:
    """Where an exception was raised: the innermost line of the passes' own files, and in it the kernel's."""
    trace = next((each.text for each in outcome.evidence if each.topic == "traceback"), "")
    frames = _FRAME.findall(trace)
    if not frames:
        return None
    (file, line), inside = frames[-1], _IN_KERNEL.search(trace)
    kernel = f", in the kernel launched there, line {inside[1]} from its def on" if inside else ""
    last = trace.rstrip().rpartition("\n")[2]
    said = f" The compiler says: {_cut(last)}." if inside else ""
    return f"{_cut(file)}, line {line}{kernel}: {FAILED[outcome.verdict]}{said}"


FAILED: Mapping[Verdict, str] = {
    Verdict.DOES_NOT_LOAD: "mend what the end of the traceback under Evidence says of it, then Check.",
    Verdict.REWRITE_FAILED: "compare what replacement_args returns with what the replacement takes.",
    Verdict.COMPILE_FAILED: "mend it, then Run.",
    Verdict.CRASHED: "mend what the end of the traceback under Evidence says of it, then Run.",
}


# --- time ------------------------------------------------------------------------------------------------------------

TRY: Mapping[Piece, str] = {
    Piece.HOST: "Launch fewer kernels, allocate less, leave checks, views and autotuning out of the replacement, and"
    " match more operations with one pass.",
    Piece.LAUNCH: "Launch fewer kernels: do in one what several do.",
    Piece.KERNELS: "Read and write everything once, in whole lines of memory, with enough programs for the device;"
    " try other block sizes and num_warps.",
    Piece.DEVICE: "Launch fewer kernels, and read and write everything once.",
    Piece.RETURN: "That is the machine's: run it again.",
}
"""What may help where a part costs most."""


PART_NAMES: Mapping[Piece, str] = {
    Piece.HOST: "the host",
    Piece.LAUNCH: "launching kernel after kernel",
    Piece.KERNELS: "the work of the kernels",
    Piece.DEVICE: "all until the device is done",
    Piece.RETURN: "waiting for the device",
}


def _slower(outcome: Outcome) -> str | None:
    own, eager = breakdown(outcome, Contender.PASSES), breakdown(outcome, Contender.EAGER)
    if own is None or eager is None:
        return None
    part, more = lost(own, eager)[0]
    if more <= 0:
        return None
    cost = own.parts.get(part, 0.0)
    seen = f"Of {own.total_us:.3g} µs a call, {PART_NAMES[part]} takes {cost:.3g} µs, {more:.3g} more than eager's"
    kernels, eagers = own.parts.get(Piece.KERNELS), eager.parts.get(Piece.KERNELS)
    fine = kernels is not None and eagers is not None and part is not Piece.KERNELS and kernels < eagers
    saved = f", while the kernels are quicker ({kernels:.3g} against {eagers:.3g} µs)" if fine else ""
    return f"{seen}{saved}. {_host_words(part, outcome)}{TRY[part]}{_floor_words(outcome, own, part)}"


def _host_words(part: Piece, outcome: Outcome) -> str:
    if part is not Piece.HOST:
        return ""
    guards = ", guards" if outcome.spec.capture is Capture.COMPILED else ""
    return f"That is Python{guards} and dispatch around the kernels. "


def _floor_words(outcome: Outcome, own: Breakdown, part: Piece) -> str:
    floor, kernels = memory_floor(outcome), own.parts.get(Piece.KERNELS, 0.0)
    if floor is None or part is not Piece.KERNELS or not kernels:
        return ""
    return f" The memory floor is {floor.us:.2g} µs."


def _level(outcome: Outcome) -> str | None:
    """No measurable difference: is there anything left that kernels can save?"""
    own = breakdown(outcome, Contender.PASSES)
    if own is None or Piece.KERNELS not in own.parts:
        return None
    share, kernels = own.share(Piece.KERNELS), own.parts[Piece.KERNELS]
    if share < LITTLE_KERNEL:
        return (
            f"The kernels take {kernels:.3g} of {own.total_us:.3g} µs: the rest is the host's work, in which they"
            " hardly show. Match more operations with one pass, so that fewer are dispatched, or try a larger subgraph."
        )
    floor = memory_floor(outcome)
    if floor is not None and kernels <= NEAR_FLOOR * floor.us:
        return (
            f"The kernels take {kernels:.3g} µs and moving the data alone {floor.us:.3g} µs: little is left here."
            " Match more operations, so that less has to be moved in between."
        )
    return None


def _faster(outcome: Outcome) -> str | None:
    own = breakdown(outcome, Contender.PASSES)
    if own is None or Piece.KERNELS not in own.parts:
        return None
    kernels, floor = own.parts[Piece.KERNELS], memory_floor(outcome)
    if own.share(Piece.KERNELS) < LITTLE_KERNEL:
        return (
            f"What is left lies beside the kernels: {own.around_us:.3g} of {own.total_us:.3g} µs. To gain more, match"
            " more operations with one pass; or compare it with others under Scores."
        )
    if floor is not None and floor.us > 0:
        near = kernels / floor.us
        if near > NEAR_FLOOR:
            return (
                f"The kernels take {near:.2g} times the {floor.us:.3g} µs that moving the data takes: there may be more"
                " to gain with other block sizes. Or compare it with others under Scores."
            )
        return (
            f"The kernels are within {near:.2g} times of what moving the data takes ({floor.us:.3g} µs): hardly"
            " anything is left in them. Compare it with others under Scores."
        )
    return None


def _unsure(outcome: Outcome) -> str | None:
    control = next((each for each in outcome.evidence if each.topic == "negative control"), None)
    if control is not None:
        return f"Choose another subgraph: this one takes for right what computes nothing ({_cut(_bare(control))})."
    spreads = [
        (spread(each), each) for each in outcome.timings if each.clock is Clock.END_TO_END and len(each.samples) > 3
    ]
    if not spreads:
        return None
    share, worst = max(spreads, key=lambda each: each[0])
    noise = f", and eager differs from itself by up to {outcome.noise:.0%}" if outcome.noise else ""
    return (
        f"Unsteadiest was {CONTENDER_NAMES[worst.contender]}: the middle half of its calls, end to end, spans"
        f" {share:.0%} of their median{noise}. Run it again when nothing else uses the machine."
    )


def spread(timing: Timing) -> float:
    """What the middle half of the samples spans, of the median."""
    found = quartiles(timing)
    return (found["high"] - found["low"]) / timing.median if timing.median > 0 else 0.0


def _bare(evidence: Evidence) -> str:
    return evidence.text.rstrip(".")


def _sentence(text: str) -> str:
    """The first one."""
    return text.partition(". ")[0].rstrip(".") + "."


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


ADVISERS: Mapping[Verdict, Callable[[Outcome], str | None]] = {
    Verdict.REJECTED: _rejected,
    Verdict.DOES_NOT_LOAD: _failed,
    Verdict.NO_MATCH: _missed,
    Verdict.REWRITE_FAILED: _failed,
    Verdict.COMPILE_FAILED: _failed,
    Verdict.CRASHED: _failed,
    Verdict.WRONG_TYPE: _form,
    Verdict.WRONG_SHAPE: _form,
    Verdict.NON_FINITE: _wrong,
    Verdict.WRONG_VALUES: _wrong,
    Verdict.LOWER_PRECISION: _wrong,
    Verdict.INCONCLUSIVE: _unsure,
    Verdict.SLOWER: _slower,
    Verdict.NO_DIFFERENCE: _level,
    Verdict.FASTER: _faster,
}
GENERAL = frozenset(Verdict) - set(ADVISERS)
"""Verdicts of which every outcome says the same."""
