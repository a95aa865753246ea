"""In which order a kernel walks its variables, so that neighbours among the threads read neighbours in memory.

All of it is judged by how tensors lie in the first of the subgraphs. Where they lie otherwise, a kernel is right and
slower. The measure is how many sectors of memory a few neighbours touch."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passnet_core.graphs.rendering import BYTES
from passnet_core.solvers.rules.layouts import row_major, sizes_of, strides_of
from passnet_core.solvers.rules.values import Value

SECTOR = 32
"""Bytes that memory hands out at once."""

NEIGHBOURS = 64
"""So many elements are looked at: those of two warps."""

SIDE = 32
"""A tile of two variables holds so many elements along each, if there are so many."""

GAIN = 0.7
"""Another walk must touch so many of the sectors at most to be worth its place."""

SMALL = 16
"""An access with so many times fewer elements than another one stays in the caches, however it is read."""


@dataclass(frozen=True)
class Lying:
    """Where an access goes in the first subgraph. strides: by variable, in elements of so many bytes."""

    strides: Mapping[str, int]
    width: int

    @staticmethod
    def of(value: Value, factors: Sequence[Mapping[str, int]]) -> "Lying":
        """factors: for each axis, by how much its coordinate grows with a variable."""
        sizes = sizes_of(value)
        steps = strides_of(value) or row_major(sizes)
        found: dict[str, int] = {}
        for size, step, axis in zip(sizes, steps, factors):
            for name, factor in axis.items():
                found[name] = found.get(name, 0) + (step * factor if size != 1 else 0)
        return Lying({name: stride for name, stride in found.items() if stride}, BYTES.get(value.dtype.name, 4))

    def sectors(self, order: Sequence[tuple[str, int]]) -> int:
        """How many sectors the first neighbours touch, if variables are walked to these bounds, the last one inmost."""
        touched = set()
        for place in range(min(NEIGHBOURS, math.prod(bound for _, bound in order))):
            position = 0
            for name, bound in reversed(order):
                place, index = divmod(place, bound)
                position += index * self.strides.get(name, 0)
            touched.add(position * self.width // SECTOR)
        return len(touched)

    def order(self, names: Sequence[str]) -> tuple[str, ...]:
        """The variables as they lie in memory, the inmost last; what it does not depend on comes before them."""
        return tuple(sorted(names, key=lambda name: -abs(self.strides.get(name, 0)) or -math.inf))


@dataclass(frozen=True)
class Walk:
    """order: the variables that programs share out, the inmost last. down, across: the two sides of a tile, whose
    variables are not among those; empty if there is none."""

    order: tuple[str, ...]
    down: tuple[str, ...] = ()
    across: tuple[str, ...] = ()


def walk_of(sizes: Mapping[str, int], accesses: Sequence[Lying]) -> Walk:
    """How a kernel without reductions walks variables of these sizes."""
    names = tuple(sizes)
    large = _large(sizes, accesses, names)
    if not large or not math.prod(sizes.values()):
        return Walk(names)

    def cost(order: Sequence[str]) -> int:
        return sum(each.sectors([(name, sizes[name]) for name in order]) for each in large)

    orders = list(dict.fromkeys(each.order(names) for each in large))
    best = min([names, *orders], key=cost)
    if cost(best) > GAIN * cost(names):
        best = names
    tiles = [
        walk for one in orders for other in orders if one != other and (walk := _crossed(sizes, large, one, other))
    ]
    costs = [(sum(_within_tile(each, sizes, walk) for each in large), place) for place, walk in enumerate(tiles)]
    if costs and min(costs)[0] <= GAIN * cost(best):
        return tiles[min(costs)[1]]
    return Walk(best)


def rows_beside(
    sizes: Mapping[str, int], accesses: Sequence[Lying], rows: Sequence[str], columns: Sequence[str]
) -> tuple[str, ...] | None:
    """The order of rows in which an access finds them side by side in memory, and not the elements of a row; None if
    there is no such access. The others suffer nothing from a tile with several rows."""
    if not math.prod(sizes.values()):
        return None

    def cost(access: Lying, order: Sequence[str]) -> int:
        return access.sectors([(name, sizes[name]) for name in order if name in access.strides])

    turned = [
        (each, min((tuple(rows), each.order(rows)), key=lambda order: cost(each, (*columns, *order))))
        for each in _large(sizes, accesses, (*rows, *columns))
    ]
    turned = [
        (each, order)
        for each, order in turned
        if cost(each, (*columns, *order)) <= GAIN * cost(each, (*rows, *columns))
    ]
    return turned[0][1] if turned else None


def _large(sizes: Mapping[str, int], accesses: Sequence[Lying], names: Sequence[str]) -> list[Lying]:
    """The accesses that count: none of those that the caches hold."""
    elements = [math.prod(sizes[name] for name in each.strides if name in names) for each in accesses]
    return [each for each, own in zip(accesses, elements) if own * SMALL > max(elements)]


def _crossed(
    sizes: Mapping[str, int], accesses: Sequence[Lying], one: Sequence[str], other: Sequence[str]
) -> Walk | None:
    """A tile across what is inmost in one order and down what is inmost in the other; None if that is the same."""
    across = _inmost(sizes, accesses, one, ())
    down = _inmost(sizes, accesses, other, across)
    if not across or not down or set(across) & set(down):
        return None
    return Walk(tuple(name for name in sizes if name not in {*across, *down}), down, across)


def _inmost(
    sizes: Mapping[str, int], accesses: Sequence[Lying], order: Sequence[str], taken: Sequence[str]
) -> tuple[str, ...]:
    """The inmost variables of an order: as many as a tile needs, and more if they follow each other everywhere."""
    found: list[str] = []
    for name in reversed(order):
        if sizes[name] == 1:
            continue
        if name in taken:
            break
        follows = not found or all(
            each.strides.get(name, 0) == each.strides.get(found[0], 0) * sizes[found[0]] for each in accesses
        )
        if not follows and math.prod(sizes[each] for each in found) >= SIDE:
            break
        found.insert(0, name)
    return tuple(found)


def _within_tile(access: Lying, sizes: Mapping[str, int], walk: Walk) -> int:
    """Sectors if the compiler reads a tile along the side that suits the access."""
    down, across = ([*_bounded(sizes, side)] for side in (walk.down, walk.across))
    return min(access.sectors([*down, *across]), access.sectors([*across, *down]))


def _bounded(sizes: Mapping[str, int], side: Sequence[str]) -> list[tuple[str, int]]:
    """The variables of a side with the bounds that they have within a tile."""
    left, found = SIDE, list[tuple[str, int]]()
    for name in reversed(side):
        bound = min(sizes[name], left)
        found.insert(0, (name, bound))
        left = max(left // bound, 1)
    return found
