"""Timed calls that are checked: picked at random, compared with eager, and held against what the bytes alone take."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.protocol.clients import CandidateClient
from passnet_core.judge.protocol.messages import Fills, Returned
from passnet_core.records import MEMORY_FLOOR, Evidence, Verdict

CHECKED = 6
"""Timed calls whose outputs are compared, as long as these stay below CHECKED_BYTES together."""
CHECKED_BYTES = 256 << 20

IMPOSSIBLE = 0.5
"""Of the time that writing the outputs takes at the speed of a copy: nothing is done in less."""


@dataclass(frozen=True)
class Picked:
    """A timed call to be checked: its seeds, the digest it sent, and what it says it returned."""

    weights: int
    seed: int
    digest: int
    returned: Returned


def wrong_call(witness: CandidateClient, fills: Fills, picked: Sequence[Picked]) -> tuple[Verdict, str] | None:
    """What is wrong with the first of these calls that is wrong."""
    for each in picked:
        found = witness.checked(fills, each.weights, each.seed, each.returned)
        if found.digest != each.digest:
            reason = "What a timed call returned is not what it sent the digest of: it was computed afterwards."
            return Verdict.CHEAT, reason
        if found.verdict is not None:
            reason = f"A timed call returned something wrong, though the values were right before: {found.problem}."
            return found.verdict, reason
    return None


@dataclass(frozen=True)
class MemoryFloor:
    """What the bytes of a call take at the speed of a copy. least_us: in less, nothing can write its outputs."""

    evidence: Evidence
    least_us: float

    def impossible(self, candidate_us: float, eager_us: float) -> tuple[Verdict, str] | None:
        """A cheat, where the outputs cannot even be written in the time that is claimed, though eager takes it."""
        if candidate_us >= self.least_us or eager_us < self.least_us:
            return None
        return Verdict.CHEAT, (
            f"It claims {candidate_us:.1f} µs a call, but its outputs cannot be written in less than"
            f" {self.least_us:.1f} µs on this device."
        )


def memory_floor(witness: CandidateClient, fills: Fills, picked: Sequence[Picked]) -> MemoryFloor | None:
    """Of the calls that these are some of; None where the device's speed is not known."""
    facts = witness.facts()
    speed, cache = facts.get("bytes_per_us"), facts.get("l2_bytes")
    if not (picked and isinstance(speed, float) and speed > 0 and isinstance(cache, int)):
        return None
    written = bytes_of([picked[0].returned])
    moved = sum(timed_inputs.bytes_of(fill) for fill in fills) + written
    evidence = Evidence(
        MEMORY_FLOOR,
        f"{moved / 1e6:.3g} MB read and written once take {moved / speed:.1f} µs"
        f" at this device's {speed / 1e3:.0f} GB/s, measured by a copy.",
        (("moved_bytes", float(moved)), ("bytes_per_us", speed)),
    )
    return MemoryFloor(evidence, IMPOSSIBLE * max(0, written - cache) / speed)


def bytes_of(returned: Sequence[Returned]) -> int:
    return max(
        sum(output.value.nbytes for output in each.outputs if isinstance(output.value, torch.Tensor))
        for each in returned
    )
