"""Break the time of a call down into parts, which are differences between clocks.

    kernels    the kernel clock: the sum of the kernels' durations in the device trace
    launch     a replay of the call as a captured CUDA graph, minus its kernels: one launch for all, and their gaps
    host       the event clock minus that replay: Python, dispatch and launches (compiled capture: also guards), as far
               as the kernels do not hide them
    return     the end-to-end clock minus the event clock: until the host knows that the device is done

Each clock times its own calls, so each part is an estimate from medians. The total is the median of the end-to-end
clock, and no part is negative."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from passnet_core.records import REPLAY, Capture, Clock, Contender, Outcome, Speedup, Timing, Verdict


def speedup_words(speedup: Speedup | None) -> str:
    """The speedup with its 95% interval, as "1.42× (1.38 to 1.47)"; empty for None."""
    return f"{speedup.value:.2f}× ({speedup.low:.2f} to {speedup.high:.2f})" if speedup else ""


MEDIANS_SAID = (
    "Medians, end to end. The speedup is that of calls that take turns, and need not be the quotient of two of these."
)


def times_words(outcome: Outcome) -> str:
    """The solver's time per call beside the others', as "14.2 µs per call; eager 31.0 µs, TorchInductor 25.3 µs": the
    medians, end to end. Empty if the solver has none, or if the evidence contradicts it."""
    own = outcome.timing(outcome.solver.contender, Clock.END_TO_END)
    if own is None or outcome.verdict is Verdict.CHEAT:
        return ""
    others = ", ".join(
        f"{outcome.spec.names[each.contender]} {each.median:.1f} µs"
        for each in outcome.timings
        if each.clock is Clock.END_TO_END and each.contender is not own.contender
    )
    return f"{own.median:.1f} µs per call" + (f"; {others}" if others else "")


class Piece(StrEnum):
    KERNELS = "kernels"
    LAUNCH = "launch"
    HOST = "host"
    """Includes the launch if there is no replay to tell the two apart."""
    DEVICE = "until the device is done"
    """Everything but the return, if the kernel clock measured nothing."""
    RETURN = "return"


@dataclass(frozen=True)
class Breakdown:
    """One contender's median time per call, end to end, in microseconds, and the parts that it is the sum of."""

    contender: Contender
    total_us: float
    parts: Mapping[Piece, float]

    def share(self, part: Piece) -> float:
        return self.parts.get(part, 0.0) / self.total_us if self.total_us > 0 else 0.0

    @property
    def around_us(self) -> float:
        """Everything but the kernels."""
        return self.total_us - self.parts.get(Piece.KERNELS, 0.0)


def breakdown(outcome: Outcome, contender: Contender) -> Breakdown | None:
    """The breakdown of one contender's call; None if the outcome has no end-to-end time of it."""
    found = {clock: timing.median for clock in Clock if (timing := outcome.timing(contender, clock)) is not None}
    total = found.get(Clock.END_TO_END)
    if total is None or total <= 0:
        return None
    kernels, replay = found.get(Clock.KERNEL), replays(outcome).get(contender)
    # where each part ends: no earlier than the part before, and within the total
    ends: list[tuple[Piece, float]] = []
    if kernels is not None and kernels > 0:
        ends.append((Piece.KERNELS, kernels))
        if replay is not None:
            ends.append((Piece.LAUNCH, replay))
    if Clock.EVENT in found:
        ends.append((Piece.HOST if ends else Piece.DEVICE, found[Clock.EVENT]))
        ends.append((Piece.RETURN, total))
    else:
        ends.append((Piece.HOST if ends else Piece.DEVICE, total))
    parts, before = {}, 0.0
    for part, end in ends:
        end = min(max(end, before), total)
        parts[part] = end - before
        before = end
    return Breakdown(contender, total, parts)


def breakdowns(outcome: Outcome) -> tuple[Breakdown, ...]:
    """The breakdowns of all contenders that have one, eager first."""
    return tuple(found for who in Contender if (found := breakdown(outcome, who)) is not None)


def replays(outcome: Outcome) -> Mapping[Contender, float]:
    """Microseconds that a replay of each contender's call as a CUDA graph takes, if it could be captured."""
    found = outcome.figures(REPLAY)
    return {each: found[each.value] for each in Contender if each.value in found}


def meaning(part: Piece, capture: Capture, *, replayed: bool) -> str:
    """Explain a part in a sentence. replayed: whether the launch is a part of its own."""
    host = "guards, Python and dispatch" if capture is Capture.COMPILED else "Python and dispatch"
    launching = "" if replayed else ", and starting the kernels"
    return {
        Piece.KERNELS: "the device computes: the sum of the kernels' durations in the device trace.",
        Piece.LAUNCH: "the time of replaying the call as a captured CUDA graph, minus its kernels: one launch for all "
        "of them, and the gaps between them.",
        Piece.HOST: f"{host}{launching}, as far as the device has to wait for them: the event clock minus the parts "
        "before.",
        Piece.DEVICE: "everything until the device is done, by the event clock; the kernel clock measured nothing.",
        Piece.RETURN: "until the host knows that the device is done: the end-to-end clock minus the event clock.",
    }[part]


def lost(own: Breakdown, eager: Breakdown) -> Sequence[tuple[Piece, float]]:
    """By how many microseconds each part is longer than in eager, the largest difference first."""
    parts = dict.fromkeys((*own.parts, *eager.parts))
    found = [(part, own.parts.get(part, 0.0) - eager.parts.get(part, 0.0)) for part in parts]
    return sorted(found, key=lambda each: -each[1])


def quartiles(timing: Timing) -> dict[str, float]:
    """The median, and the lower and upper quartile of the samples, as median, low and high."""
    ordered = sorted(timing.samples)
    last = len(ordered) - 1
    return {"median": timing.median, "low": ordered[round(last * 0.25)], "high": ordered[round(last * 0.75)]}
