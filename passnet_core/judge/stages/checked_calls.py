"""Checks of timed calls: what some return is compared with eager, and no time may be below the memory floor."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from passnet_core.judge.numerics import timed_inputs
from passnet_core.judge.protocol.messages import Fills, Returned
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import MEMORY_FLOOR, Evidence, Verdict

CHECKED_LOOPS = 2
"""What the calls of so many loops return is compared, of one call on each input set."""
CHECKED_BYTES = 256 << 20
"""Of each loop, as many calls are compared as have outputs of so many bytes together, and one at least."""

IMPOSSIBLE = 0.5
"""The share of the time to write the outputs, at the speed of a copy, below which a claimed time is impossible."""


@dataclass(frozen=True)
class Picked:
    """A timed call to be checked: its seeds, and what it returned."""

    weights: int
    seed: int
    returned: Returned


def wrong_call(witness: WorkerProcess, fills: Fills, picked: Sequence[Picked]) -> tuple[Verdict, str] | None:
    """Return the verdict and reason for the first of these calls that is wrong, or None if all are right."""
    for each in picked:
        found = witness.checked(fills, each.weights, each.seed, each.returned)
        if found.verdict is not None:
            reason = f"A timed call returned wrong values, though they were right in VERIFY: {found.problem}."
            return found.verdict, reason
    return None


@dataclass(frozen=True)
class MemoryFloor:
    """The time in which a call's bytes can be moved at best. least_us: microseconds in which its outputs can be
    written."""

    evidence: Evidence
    least_us: float

    def impossible(self, candidate_us: float, eager_us: float) -> tuple[Verdict, str] | None:
        """Return CHEAT with a reason if the candidate claims less time than writing its outputs takes, and eager does
        not."""
        if candidate_us >= self.least_us or eager_us < self.least_us:
            return None
        return Verdict.CHEAT, (
            f"Its process claims {candidate_us:.1f} µs per call, but its outputs cannot be written in less than"
            f" {self.least_us:.1f} µs on this device."
        )


def memory_floor(witness: WorkerProcess, fills: Fills, picked: Sequence[Picked]) -> MemoryFloor | None:
    """The memory floor of the calls that these were picked from. None: the device's speed is not known."""
    facts = witness.facts()
    speed, cache = facts.get("bytes_per_us"), facts.get("l2_bytes")
    if not (picked and isinstance(speed, float) and speed > 0 and isinstance(cache, int)):
        return None
    outputs = [each.value for each in picked[0].returned.outputs]
    written = sum(value.nbytes for value in outputs if isinstance(value, torch.Tensor))
    moved = sum(timed_inputs.bytes_of(fill) for fill in fills) + written
    evidence = Evidence(
        MEMORY_FLOOR,
        f"Reading the inputs and writing the outputs once moves {moved / 1e6:.3g} MB. At this device's"
        f" {speed / 1e3:.0f} GB/s, measured by a copy, that takes {moved / speed:.1f} µs.",
        (("moved_bytes", float(moved)), ("bytes_per_us", speed)),
    )
    return MemoryFloor(evidence, IMPOSSIBLE * max(0, written - cache) / speed)
