"""Times of contenders, and speedups over eager."""

from dataclasses import dataclass

from passnet_core.records.enums import Clock, Contender

CLOCK_VERSION = 4
"""The version of the way in which MEASURE takes times, on all clocks. Raise it when times taken before are no longer
comparable: outcomes of different versions are never ranked together. 1: single calls. 2: pairs of bursts of calls. 3:
the same without a tracer in the process, which had slowed every launch. 4: loops of calls with nothing in between, of
passes by their plans."""


@dataclass(frozen=True)
class Timing:
    """The times of one contender on one clock, in microseconds per call.
    samples: raw, block after block. blocks: the number of timed blocks. median: of all samples."""

    contender: Contender
    clock: Clock
    samples: tuple[float, ...]
    blocks: int
    median: float


@dataclass(frozen=True)
class Speedup:
    """A contender's speedup over eager on one clock: eager's time divided by the contender's.
    value: the median of the blocks' ratios. low, high: its 95% bootstrap interval."""

    contender: Contender
    clock: Clock
    value: float
    low: float
    high: float
