"""Advise one next step after an outcome: what was seen, what it may mean, and what to do.

What was seen is a fact. What it may mean is a guess, and worded as one. An outcome that shows no more than its verdict
gets no advice of its own."""

import re
from collections.abc import Callable, Mapping

from passnet_core.advice.error_shapes import guessed
from passnet_core.advice.memory_floor import memory_floor
from passnet_core.charts.breakdown import Piece, breakdown, lost, quartiles
from passnet_core.charts.places import drawn, where
from passnet_core.records import (
    TIMED,
    Capture,
    Clock,
    Contender,
    MissKind,
    Outcome,
    OutputAccuracy,
    SolverKind,
    Timing,
    Verdict,
)

MOST_SHOWN = 160
"""At most this many characters of a name or a message from a stranger's file are shown."""
NEAR_FLOOR = 1.5
"""Kernels that take at most this many times the memory floor have hardly anything left to gain."""
LITTLE_KERNEL = 0.25
"""If kernels take less than this share of a call, faster ones hardly shorten it."""


def next_step(outcome: Outcome) -> str | None:
    """The next step as plain text of a few sentences; None if the outcome suggests no more than its verdict does."""
    if outcome.solver is SolverKind.INDUCTOR:
        return _to_beat(outcome)
    adviser = ADVISERS.get(outcome.verdict)
    return adviser(outcome) if adviser is not None else None


def _to_beat(outcome: Outcome) -> str | None:
    """Nobody here can improve TorchInductor, so name its times as what passes have to beat."""
    own = breakdown(outcome, Contender.BASELINE)
    if outcome.verdict not in TIMED or own is None:
        return None
    kernels = own.parts.get(Piece.KERNELS)
    of_these = f", of which kernels take {kernels:.3g} µs" if kernels is not None else ""
    name = outcome.spec.names[Contender.BASELINE]
    return f"Write passes that beat {name}: it takes {own.total_us:.3g} µs per call{of_these}."


# --- values ----------------------------------------------------------------------------------------------------------


def _wrong(outcome: Outcome) -> str | None:
    output = worst_output(outcome)
    if output is None or outcome.accuracy is None:
        return None
    guess = guessed(output, outcome.accuracy.profiles)
    seen = _seen(output, outcome)
    if guess is not None:
        return f"{seen} {guess.meaning} {guess.step}"
    if output.index is None or output.expected is None:
        return None
    place = f"element {list(output.index)}" if output.index else "its one element"
    return (
        f"{seen} Compute {place} by hand, which should give {output.expected:.5g}, and compare with the kernel's steps."
    )


def worst_output(outcome: Outcome) -> OutputAccuracy | None:
    """The output that the verdict is about; if there are several, the one with the largest share of wrong elements."""
    wrong = [each for each in (outcome.accuracy.outputs if outcome.accuracy else ()) if each.problem]
    return max(wrong, key=lambda each: (each.verdict is outcome.verdict, each.wrong_share), default=None)


def _seen(output: OutputAccuracy, outcome: Outcome) -> str:
    place = where(output) or (output.wrong_words if output.wrong_elements else "")
    if not place:
        return f"Output {output.output} is wrong."
    how = "imprecise" if output.verdict is Verdict.LOWER_PRECISION else "wrong"
    only = f" on {drawn(output.profile)}" if output.profile else ""
    sets = outcome.accuracy.failed_words(output) if outcome.accuracy else ""
    # the reason is shown beside this
    return f"Output {output.output} is {how}{only}: {place}." + (
        f" It is {sets}." if sets not in outcome.reason else ""
    )


def _form(outcome: Outcome) -> str | None:
    """Advise on a wrong type or shape, which the problem names."""
    output = worst_output(outcome)
    if output is None:
        return None
    shape = f"{'×'.join(map(str, output.shape))} elements" if output.shape else "a scalar"
    return (
        f"Output {output.output}: {_cut(output.problem)}. Eager returns {shape} of {output.dtype}: allocate that,"
        " and return as many values as pattern does, in the same order."
    )


# --- matching and building -------------------------------------------------------------------------------------------

REMEDIES: Mapping[MissKind, str] = {
    MissKind.OPERATOR: "Write this operation as the graph does, or leave it out of the pattern.",
    MissKind.LITERAL: "Write the graph's number or argument into pattern, or make it an input of pattern.",
    MissKind.NOT_RETURNED: "Return this value from both pattern and the replacement.",
    MissKind.USES: "Use each value in pattern exactly as often as the graph does.",
    MissKind.OVERLAP: "Put this pass first in the list, or match less with an earlier pass.",
    MissKind.DEAD_INPUT: "Remove the argument that pattern does not use.",
    MissKind.ABSENT: "This subgraph has no such operation: start from one that it has, or from the template.",
    MissKind.OTHER: "Start from the template, which matches, and change it step by step.",
}


def _missed(outcome: Outcome) -> str | None:
    missed = [(each, each.miss) for each in (outcome.match.passes if outcome.match else ()) if each.miss is not None]
    if not missed:
        return None
    nearest, miss = max(missed, key=lambda each: len(each[1].matched))
    against = f"cannot match {_cut(miss.graph_node)}" if miss.graph_node else "matches nothing"
    fitted = len(miss.matched)
    before = f", after {fitted} {'node' if fitted == 1 else 'nodes'} that matched" if fitted else ""
    place = f"{_cut(nearest.name)}: {_cut(miss.pattern_node)} in pattern {against} in the graph{before}"
    if nearest.edit is not None and nearest.edit.words:
        then = "matches" if nearest.edit.matches else "comes nearer to a match"
        return f"{place} ({miss.kind.value}). {_cut(' '.join(nearest.edit.words))} Tried: the pattern then {then}."
    return f"{place} ({miss.kind.value}). {REMEDIES[miss.kind]}"


def _rejected(outcome: Outcome) -> str | None:
    fatal = [finding for finding in outcome.findings if finding.fatal]
    if not fatal:
        return None
    first, more = fatal[0], len(fatal) - 1
    rest = f" Then correct the {'other line' if more == 1 else f'{more} other lines'} named under Code." if more else ""
    return f"{_cut(first.file)}, line {first.line}: {_cut(_sentence(first.remedy))}{rest}"


_FRAME = re.compile(r'File "pass_dir/([^"/\n]+)", line (\d+)')
"""A traceback's frames in the passes' own files, with paths as the judge writes them."""
_IN_KERNEL = re.compile(r"^[\w.]+: at (\d+):\d+:", re.MULTILINE)


def _failed(outcome: Outcome) -> str | None:
    """Name the innermost line of the passes' own files in a traceback, and the line of the kernel launched there."""
    trace = next((each.text for each in outcome.evidence if each.topic == "traceback"), "")
    frames = _FRAME.findall(trace)
    if not frames:
        return None
    (file, line), inside = frames[-1], _IN_KERNEL.search(trace)
    kernel = (
        f": it launches a kernel, and the error is in line {inside[1]} of the kernel, counted from its def"
        if inside
        else ""
    )
    last = trace.rstrip().rpartition("\n")[2]
    said = f" {'The compiler says' if inside else 'It says'}: {_cut(last)}." if last else ""
    return f"Fix the error at line {line} of {_cut(file)}{kernel}. {FAILED[outcome.verdict]}{said}"


FAILED: Mapping[Verdict, str] = {
    Verdict.DOES_NOT_LOAD: "Then press Check.",
    Verdict.REWRITE_FAILED: "Compare the values that replacement_args returns with the parameters of the replacement.",
    Verdict.COMPILE_FAILED: "Then press Run.",
    Verdict.CRASHED: "Then press Run.",
}


# --- time ------------------------------------------------------------------------------------------------------------

TRY: Mapping[Piece, str] = {
    Piece.HOST: "Launch fewer kernels, allocate less, keep checks, views and autotuning out of the replacement, and"
    " match more operations with one pass.",
    Piece.LAUNCH: "Launch fewer kernels: merge several into one.",
    Piece.KERNELS: "Read and write every value once, at contiguous addresses, with enough programs to fill the device;"
    " try other block sizes and num_warps.",
    Piece.DEVICE: "Launch fewer kernels, and read and write every value once.",
    Piece.RETURN: "This depends on the machine, not on the passes: run it again.",
}
"""What may help if this part costs most."""

PART_NAMES: Mapping[Piece, str] = {
    Piece.HOST: "the host",
    Piece.LAUNCH: "launching the kernels",
    Piece.KERNELS: "the work of the kernels",
    Piece.DEVICE: "everything until the device is done",
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
    seen = f"Of {own.total_us:.3g} µs per call, {PART_NAMES[part]} takes {cost:.3g} µs, {more:.3g} more than in eager"
    kernels, eagers = own.parts.get(Piece.KERNELS), eager.parts.get(Piece.KERNELS)
    fine = kernels is not None and eagers is not None and part is not Piece.KERNELS and kernels < eagers
    saved = f", while the kernels are faster ({kernels:.3g} instead of {eagers:.3g} µs)" if fine else ""
    guards = ", guards" if outcome.spec.capture is Capture.COMPILED else ""
    host = f"This is Python{guards} and dispatch around the kernels. " if part is Piece.HOST else ""
    floor = memory_floor(outcome) if part is Piece.KERNELS and kernels else None
    least = f" The memory floor is {floor.us:.2g} µs." if floor is not None else ""
    return f"{seen}{saved}. {host}{TRY[part]}{least}"


def _level(outcome: Outcome) -> str | None:
    """Advise on a call that is no faster than eager: say whether faster kernels could still show."""
    own = breakdown(outcome, Contender.PASSES)
    if own is None or Piece.KERNELS not in own.parts:
        return None
    share, kernels = own.share(Piece.KERNELS), own.parts[Piece.KERNELS]
    if share < LITTLE_KERNEL:
        return (
            f"The kernels take {kernels:.3g} of {own.total_us:.3g} µs: the host takes the rest, so faster kernels"
            " hardly show. Match more operations with one pass, so that fewer are dispatched, or try a larger subgraph."
        )
    floor = memory_floor(outcome)
    if floor is not None and kernels <= NEAR_FLOOR * floor.us:
        return (
            f"The kernels take {kernels:.3g} µs, and moving the data alone takes {floor.us:.3g} µs: little is left to"
            " gain in them. Match more operations, so that fewer intermediate results are moved."
        )
    return None


def _faster(outcome: Outcome) -> str | None:
    own = breakdown(outcome, Contender.PASSES)
    if own is None or Piece.KERNELS not in own.parts:
        return None
    kernels, floor = own.parts[Piece.KERNELS], memory_floor(outcome)
    if own.share(Piece.KERNELS) < LITTLE_KERNEL:
        return (
            f"Most of the call is spent outside the kernels: {own.around_us:.3g} of {own.total_us:.3g} µs. To gain"
            " more, match more operations with one pass. Or compare the result with others under Scores."
        )
    if floor is not None and floor.us > 0:
        near = kernels / floor.us
        if near > NEAR_FLOOR:
            return (
                f"The kernels take {near:.2g} times the {floor.us:.3g} µs that moving the data takes: other block sizes"
                " may gain more. Or compare the result with others under Scores."
            )
        return (
            f"The kernels take only {near:.2g} times the {floor.us:.3g} µs that moving the data takes: hardly anything"
            " is left to gain in them. Compare the result with others under Scores."
        )
    return None


def _unsure(outcome: Outcome) -> str | None:
    control = next((each for each in outcome.evidence if each.topic == "negative control"), None)
    if control is not None:
        right = _cut(control.text.rstrip("."))
        return f"Choose another subgraph: here, passes that compute nothing are also right ({right})."
    spreads = [
        (spread(each), each) for each in outcome.timings if each.clock is Clock.END_TO_END and len(each.samples) > 3
    ]
    if not spreads:
        return None
    share, worst = max(spreads, key=lambda each: each[0])
    noise = f", and eager differs from itself by up to {outcome.noise:.0%}" if outcome.noise else ""
    return (
        f"The times of {outcome.spec.names[worst.contender]} vary most: the middle half of the calls, end to end, spans"
        f" {share:.0%} of the median{noise}. Run it again when nothing else uses the machine."
    )


def spread(timing: Timing) -> float:
    """The interquartile range of the samples as a share of their median; 0 without a median."""
    found = quartiles(timing)
    return (found["high"] - found["low"]) / timing.median if timing.median > 0 else 0.0


def _sentence(text: str) -> str:
    """The first sentence."""
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
"""Verdicts for which next_step always returns None."""
