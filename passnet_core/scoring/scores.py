"""The scores S(t), ES(t) and AS of GraphNet (arXiv 2510.24035), per sample and in aggregate form."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from statistics import NormalDist
from typing import TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from passnet_core.errors import BadInput, EmptyScore
from passnet_core.records import ErrorClass
from passnet_core.scoring.intervals import LEVEL, RESAMPLES, Interval

PENALTY_SLOW = 0.0
"""p: a speedup s below 1 counts as s^(p+1)."""
PENALTY_FAILED = 0.1
"""b: what a sample contributes that is not correct and not tolerated."""
LOWEST, HIGHEST = -10, 5


class Interpretation(StrEnum):
    """Which table says from which t on each class of error is tolerated."""

    DEFAULT = "default"
    EXTENDED = "extended"


class Terms(TypedDict, total=False):
    """What scores depend on besides samples. p, b: the penalties of slow and of failed samples, by default PENALTY_SLOW
    and PENALTY_FAILED. interpretation: by default Interpretation.DEFAULT."""

    p: float
    b: float
    interpretation: Interpretation | str


NEVER = math.inf
THRESHOLDS: Mapping[Interpretation, Mapping[ErrorClass, float]] = {
    Interpretation.DEFAULT: {
        ErrorClass.ACCURACY: 1,
        ErrorClass.TYPE: 3,
        ErrorClass.RUNTIME: 3,
        ErrorClass.COMPILE: 3,
        ErrorClass.CHEAT: NEVER,
        ErrorClass.EAGER: NEVER,
    },
    Interpretation.EXTENDED: {
        ErrorClass.ACCURACY: 1,
        ErrorClass.TYPE: 2,
        ErrorClass.RUNTIME: 3,
        ErrorClass.COMPILE: 4,
        ErrorClass.CHEAT: NEVER,
        ErrorClass.EAGER: NEVER,
    },
}
LEVELS: Mapping[Interpretation, tuple[int, ...]] = {
    Interpretation.DEFAULT: tuple(range(-10, 5)),
    Interpretation.EXTENDED: tuple(range(-10, 6)),
}
WEIGHTS: Mapping[int, float] = {
    **dict.fromkeys(range(-10, -5), 0.001),
    **dict.fromkeys((-5, -4, -3), 1.0),
    -2: 0.8,
    -1: 0.64,
    0: 0.512,
    1: 0.4096,
    2: 0.32768,
    3: 0.262144,
    4: 0.001,
}
"""The weight of each t in the aggregate score, before normalising. t = 5 has no weight."""


@dataclass(frozen=True)
class Sample:
    """One subgraph. speedup: eager time / time, dimensionless; None if nothing was timed, and then it is never correct.

    correct_at: every t at which the values are close. error_class: of the failure; None means accuracy, at all other t.
    """

    speedup: float | None
    correct_at: frozenset[int] = frozenset()
    error_class: ErrorClass | None = None

    def __post_init__(self) -> None:
        if self.speedup is not None and not (self.speedup > 0 and math.isfinite(self.speedup)):
            raise BadInput(f"A speedup must be a finite number above 0, not {self.speedup}.")


@dataclass(frozen=True)
class Parameters:
    """The aggregate form of GraphNet: S = alpha^lambda beta^(lambda eta p) b^(1-lambda); in ES, gamma replaces b."""

    alpha: float
    """The geometric mean speedup of the correct samples; 1 if there are none."""
    beta: float
    """The geometric mean speedup of the correct samples with a speedup below 1; 1 if there are none."""
    correct: float
    """Lambda: the fraction of samples that are correct."""
    slower: float
    """Eta: the fraction of the correct samples with a speedup below 1."""
    gamma: float
    """The geometric mean of what the samples that are not correct contribute."""


_CLASSES = tuple(ErrorClass)
_CODES = {each: code for code, each in enumerate(_CLASSES)}


class SampleTable:
    """Samples as numpy columns, so that scoring hundreds of thousands of them is instant."""

    def __init__(
        self, log_speedup: npt.NDArray[np.float64], correct: npt.NDArray[np.int64], error: npt.NDArray[np.int8]
    ) -> None:
        self.log_speedup = log_speedup
        """The natural logarithm of each speedup; 0 without one."""
        self.correct = correct
        """A bit mask: bit t + 10 says whether the sample is correct at t."""
        self.error = error
        """The index of the error class in ErrorClass."""

    @classmethod
    def of(cls, samples: "Sequence[Sample] | SampleTable") -> "SampleTable":
        """The table of these samples. Raises EmptyScore without samples."""
        if len(samples) == 0:
            raise EmptyScore("There is no sample to score. Run an evaluation with --stage measure first.")
        if isinstance(samples, SampleTable):
            return samples
        accuracy = _CODES[ErrorClass.ACCURACY]
        speedup = np.array([1.0 if each.speedup is None else each.speedup for each in samples], dtype=np.float64)
        correct = np.array([0 if each.speedup is None else _mask(each.correct_at) for each in samples], dtype=np.int64)
        error = np.array(
            [accuracy if each.error_class is None else _CODES[each.error_class] for each in samples], dtype=np.int8
        )
        return cls(np.log(speedup), correct, error)

    def __len__(self) -> int:
        return len(self.log_speedup)

    def correct_at(self, t: int) -> npt.NDArray[np.bool_]:
        return (self.correct >> (t - LOWEST)) & 1 == 1


@lru_cache(maxsize=4096)
def _mask(levels: frozenset[int]) -> int:
    return sum(1 << (t - LOWEST) for t in levels if LOWEST <= t <= HIGHEST)


def score(
    samples: Sequence[Sample] | SampleTable, t: int, *, p: float = PENALTY_SLOW, b: float = PENALTY_FAILED
) -> float:
    """S(t), the geometric mean of the rectified speedups (GraphNet, arXiv 2510.24035). A sample that is not correct at
    t contributes b. Raises EmptyScore without samples."""
    _check(t, p, b)
    table = SampleTable.of(samples)
    logs = np.where(table.correct_at(t), _rectified_logs(table, p), math.log(b))
    return math.exp(float(logs.mean()))


def error_aware_score(samples: Sequence[Sample] | SampleTable, t: int, **terms: Unpack[Terms]) -> float:
    """ES(t), the geometric mean of the error-aware rectified speedups (GraphNet, arXiv 2510.24035).

    samples: one per subgraph. For t < 1, ES(t) is S(t). For t >= 1, a sample that is not correct at 1 contributes 1 if
    its class of error is tolerated at t, and otherwise b. Raises EmptyScore without samples."""
    return math.exp(float(error_aware_logs(samples, t, **terms).mean()))


def error_aware_logs(
    samples: Sequence[Sample] | SampleTable,
    t: int,
    *,
    p: float = PENALTY_SLOW,
    b: float = PENALTY_FAILED,
    interpretation: Interpretation | str = Interpretation.DEFAULT,
) -> npt.NDArray[np.float64]:
    """The natural logarithm of what each sample contributes to ES(t), in the order of the samples."""
    _check(t, p, b)
    table = SampleTable.of(samples)
    # a failure contributes b, or 1 if it is tolerated
    failed = np.where(_tolerated(table, t, interpretation), 0.0, math.log(b))
    return np.where(table.correct_at(min(t, 1)), _rectified_logs(table, p), failed)


def parameters(
    samples: Sequence[Sample] | SampleTable,
    t: int,
    *,
    b: float = PENALTY_FAILED,
    interpretation: Interpretation | str = Interpretation.DEFAULT,
) -> Parameters:
    """Alpha, beta, lambda, eta and gamma of ES(t). For t < 1 they are those of S(t), because gamma is b."""
    _check(t, 0.0, b)
    table = SampleTable.of(samples)
    correct = table.correct_at(min(t, 1))
    slower = correct & (table.log_speedup < 0)
    wrong = ~correct
    untolerated = wrong & ~_tolerated(table, t, interpretation)
    share = float(untolerated.sum() / wrong.sum()) if wrong.any() else float(t < 1)
    return Parameters(
        alpha=math.exp(float(table.log_speedup[correct].mean())) if correct.any() else 1.0,
        beta=math.exp(float(table.log_speedup[slower].mean())) if slower.any() else 1.0,
        correct=float(correct.mean()),
        slower=float(slower.sum() / correct.sum()) if correct.any() else 0.0,
        gamma=b**share,
    )


def aggregate(scores: Mapping[int, float]) -> float:
    """AS from ES(t) by t. Raises BadInput if a t of WEIGHTS is missing."""
    missing = [t for t in WEIGHTS if t not in scores]
    if missing:
        raise BadInput(f"The aggregate score needs ES(t) at t = {missing[0]} as well.")
    total = sum(WEIGHTS.values())
    return 10 ** sum(weight / total * math.log10(scores[t]) for t, weight in WEIGHTS.items())


def score_interval(
    samples: Sequence[Sample] | SampleTable,
    t: int,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **terms: Unpack[Terms],
) -> Interval:
    """ES(t) with its percentile bootstrap interval over the samples; equal samples and seed give equal intervals.

    Up to 5000 samples share one set of resamples, so that a curve draws them once and not once per t. Of more samples,
    draw how often each distinct contribution occurs, which is equivalent and faster if many subgraphs contribute alike.
    """
    logs = error_aware_logs(samples, t, **terms)
    values, counts = np.unique(logs, return_counts=True)
    centre = float(logs.mean())
    if len(values) == 1:
        return Interval(math.exp(centre), math.exp(centre), math.exp(centre))
    if len(values) > 5000:
        # the mean of so many values is normal, to well below the width of a line in the chart
        half = NormalDist().inv_cdf((1 + level) / 2) * float(logs.std()) / math.sqrt(len(logs))
        return Interval(math.exp(centre), math.exp(centre - half), math.exp(centre + half))
    if len(logs) <= 5000:
        sums = (_draws(len(logs), resamples, seed) @ np.sort(logs).astype(np.float32)).astype(np.float64)
    else:
        sums = np.random.default_rng(seed).multinomial(len(logs), counts / len(logs), size=resamples) @ values
    means = sums / len(logs)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(math.exp(centre), math.exp(min(float(low), centre)), math.exp(max(float(high), centre)))


@lru_cache(maxsize=1)
def _draws(samples: int, resamples: int, seed: int) -> npt.NDArray[np.float32]:
    """How often each sample occurs in each resample, as (resamples, samples)."""
    drawn = np.random.default_rng(seed).integers(0, samples, size=(resamples, samples), dtype=np.int32)
    drawn += np.arange(0, resamples * samples, samples, dtype=np.int32)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * samples)
    return counts.reshape(resamples, samples).astype(np.float32)


def _rectified_logs(table: SampleTable, p: float) -> npt.NDArray[np.float64]:
    return np.where(table.log_speedup < 0, (p + 1) * table.log_speedup, table.log_speedup)


def _tolerated(table: SampleTable, t: int, interpretation: Interpretation | str) -> npt.NDArray[np.bool_]:
    """Whether an error of each sample's class is tolerated at t."""
    try:
        thresholds = THRESHOLDS[Interpretation(interpretation)]
    except ValueError:
        known = " or ".join(each.value for each in Interpretation)
        raise BadInput(f"The interpretation is {interpretation!r}; it must be {known}.") from None
    return (np.array([t >= thresholds[each] for each in _CLASSES]))[table.error]


def _check(t: int, p: float, b: float) -> None:
    if not LOWEST <= t <= HIGHEST:
        raise BadInput(f"The level t must lie between {LOWEST} and {HIGHEST}, not {t}.")
    if not (0 < b <= 1):
        raise BadInput(f"The failure penalty b must be above 0 and at most 1, not {b}.")
    if not (p >= 0 and math.isfinite(p)):
        raise BadInput(f"The slowdown penalty p must be 0 or more, not {p}.")
