"""Measure how alike tasks are, by the stretches of operations that they share. Pure."""

import math
from collections import defaultdict
from collections.abc import Sequence

LONGEST = 3
"""The most operations of a stretch."""

Gram = tuple[str, ...]


def grams(operators: Sequence[str]) -> frozenset[Gram]:
    """Return all stretches of one to three consecutive operations."""
    return frozenset(
        tuple(operators[start : start + length])
        for length in range(1, LONGEST + 1)
        for start in range(len(operators) - length + 1)
    )


def likeness(left: frozenset[Gram], right: frozenset[Gram]) -> float:
    """Return the share of stretches that both have among those that either has, from 0 to 1."""
    either = len(left | right)
    return len(left & right) / either if either else 0.0


class Neighbours:
    """Finds tasks that are alike. A stretch that few tasks have counts more than one that most have."""

    def __init__(self, sequences: Sequence[Sequence[str]]) -> None:
        """sequences: the operations of each task. A task is named by its index in this sequence."""
        self._grams = [grams(each) for each in sequences]
        self._holding: dict[Gram, list[int]] = defaultdict(list)
        for place, each in enumerate(self._grams):
            for gram in each:
                self._holding[gram].append(place)
        self._weight = {gram: math.log(1 + len(sequences) / len(held)) for gram, held in self._holding.items()}
        self._whole = [sum(map(self._weight.__getitem__, sorted(each))) for each in self._grams]

    def of(self, place: int, most: int) -> list[tuple[int, float]]:
        """Return the indices of the `most` tasks most like this one with their likeness from 0 to 1, best first."""
        shared: dict[int, float] = defaultdict(float)
        for gram in sorted(self._grams[place]):
            for other in self._holding[gram]:
                shared[other] += self._weight[gram]
        alike = [
            (other, weight / (self._whole[place] + self._whole[other] - weight))
            for other, weight in shared.items()
            if other != place
        ]
        return sorted(alike, key=lambda each: (-each[1], each[0]))[:most]
