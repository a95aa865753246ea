"""Where the time of a call goes: what the differences between the clocks are.

    kernels    the kernel clock: the durations of the kernels, by the device's trace
    launch     a replay of the call as a captured graph, less its kernels: one launch for all, and gaps between them
    host       the event clock less that replay: Python, dispatch and launching, in compiled capture the guards as well,
               as far as the kernels do not hide them
    return     the end-to-end clock less the event clock: until the host knows that the device is done

Each clock has calls of its own, so that a difference of medians is an estimate; the whole is what the end-to-end clock
says, and no part is less than nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from passnet_core.records import REPLAY, Capture, Clock, Contender, Outcome, Speedup, Timing


def speedup_words(speedup: Speedup | None) -> str:
    """ "1.42× (1.38 to 1.47)", the value and its 95% interval, or nothing."""
    return f"{speedup.value:.2f}× ({speedup.low:.2f} to {speedup.high:.2f})" if speedup else ""


class Piece(StrEnum):
    KERNELS = "kernels"
    LAUNCH = "launch"
    HOST = "host"
    """With the launch, where nothing tells the two apart."""
    DEVICE = "until the device is done"
    """Everything but the return, where the kernel clock saw nothing."""
    RETURN = "return"


@dataclass(frozen=True)
class Breakdown:
    """One contender's median call, end to end, in microseconds, and its parts, which make up the whole."""

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
    """None: there is no end-to-end time of it to take apart."""
    found = {clock: timing.median for clock in Clock if (timing := outcome.timing(contender, clock)) is not None}
    total = found.get(Clock.END_TO_END)
    if total is None or total <= 0:
        return None
    kernels, replay = found.get(Clock.KERNEL), replays(outcome).get(contender)
    # the ends of the parts, each no earlier than the one before and none beyond the whole
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
    """Of every contender that has one, eager first."""
    return tuple(found for who in Contender if (found := breakdown(outcome, who)) is not None)


def replays(outcome: Outcome) -> Mapping[Contender, float]:
    """Microseconds of a replay of each contender's call, where it could be captured."""
    found = outcome.figures(REPLAY)
    return {each: found[each.value] for each in Contender if each.value in found}


def meaning(part: Piece, capture: Capture, *, replayed: bool) -> str:
    """What a part is, in a sentence. replayed: whether the launch is told apart."""
    host = "guards, Python and dispatch" if capture is Capture.COMPILED else "Python and dispatch"
    launching = "" if replayed else ", and starting the kernels"
    return {
        Piece.KERNELS: "the device computes: the sum of the kernels' durations in its trace.",
        Piece.LAUNCH: "what replaying the call as a captured graph takes beyond its kernels: one launch for all of "
        "them, and the gaps between them.",
        Piece.HOST: f"{host}{launching}: what the device waits for, as far as the kernels do not hide it (the event "
        "clock less what stands before).",
        Piece.DEVICE: "all that happens before the device is done, by the event clock: the kernel clock saw nothing.",
        Piece.RETURN: "until the host knows that the device is done: the end-to-end clock less the event clock.",
    }[part]


def lost(own: Breakdown, eager: Breakdown) -> Sequence[tuple[Piece, float]]:
    """By how many microseconds each part is longer than eager's, the worst first."""
    parts = dict.fromkeys((*own.parts, *eager.parts))
    found = [(part, own.parts.get(part, 0.0) - eager.parts.get(part, 0.0)) for part in parts]
    return sorted(found, key=lambda each: -each[1])


def quartiles(timing: Timing) -> dict[str, float]:
    """The median, and between what the middle half of the samples lies."""
    ordered = sorted(timing.samples)
    last = len(ordered) - 1
    return {"median": timing.median, "low": ordered[round(last * 0.25)], "high": ordered[round(last * 0.75)]}
