"""Scores straight from samples, for tests and benchmarks: the app computes them from the figures of a curve."""

from collections.abc import Sequence
from typing import Unpack

from passnet_core.scoring.scores import WEIGHTS, Sample, SampleTable, Terms, aggregate, error_aware_score


def aggregate_score(samples: Sequence[Sample], **terms: Unpack[Terms]) -> float:
    """AS, the weighted geometric mean of ES(t) over all t in WEIGHTS. Raises EmptyScore without samples."""
    table = SampleTable.of(samples)
    return aggregate({t: error_aware_score(table, t, **terms) for t in WEIGHTS})
