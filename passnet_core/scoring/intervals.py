"""Bootstrap intervals, in plain Python because the judge's machine may lack numpy."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from passnet_core.errors import EmptyScore

LEVEL = 0.95
RESAMPLES = 2000


@dataclass(frozen=True)
class Interval:
    """A value with the ends of its bootstrap interval: low <= value <= high."""

    value: float
    low: float
    high: float


def median_interval(
    values: Sequence[float], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """The median with its percentile bootstrap interval; equal values and seed give equal intervals.

    A single value is its own interval. Raises EmptyScore without values."""
    if not values:
        raise EmptyScore("There is no value to take the median of.")
    return bootstrapped(median, values, level=level, resamples=resamples, seed=seed)


def bootstrapped(
    figure: Callable[[Sequence[float]], float],
    values: Sequence[float],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """A figure of values, of which there is one at least, with its percentile bootstrap interval."""
    ordered = sorted(values)  # so that the order of measuring has no influence
    draw = random.Random(seed)
    drawn = sorted(figure(draw.choices(ordered, k=len(ordered))) for _ in range(resamples))
    centre = figure(ordered)
    low, high = percentile(drawn, (1 - level) / 2), percentile(drawn, (1 + level) / 2)
    return Interval(centre, min(low, centre), max(high, centre))


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies, interpolated linearly. ordered: ascending."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
