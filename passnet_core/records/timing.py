"""What was timed, and how it compares with eager."""

from dataclasses import dataclass

from passnet_core.records.enums import Clock, Contender


@dataclass(frozen=True)
class Timing:
    """One contender on one clock: raw samples in microseconds per call, block after block, and their median."""

    contender: Contender
    clock: Clock
    samples: tuple[float, ...]
    blocks: int
    median: float


@dataclass(frozen=True)
class Speedup:
    """Eager time over the contender's, dimensionless: median of block ratios with a bootstrap 95% interval."""

    contender: Contender
    clock: Clock
    value: float
    low: float
    high: float
