"""Lay out a directed graph in layers: the positions of its boxes and the paths of its lines, in whole pixels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP = 18
"""Pixels between the boxes of a layer."""
RISE = 30
"""Pixels between layers."""
PASSING = 8
"""The width in pixels that a line takes in a layer that it passes."""
SWEEPS = 8
"""How often the layers are improved, down and up in turn."""
MARGIN = 4
TIP = 6
"""The height of an arrow's head in pixels."""


@dataclass(frozen=True)
class PlacedNode:
    """The layout of a graph. centres: of each box. lines, tips: SVG paths of all lines, and of their arrowheads."""

    width: int
    height: int
    centres: tuple[tuple[int, int], ...]
    lines: str
    tips: str


def placed(sizes: Sequence[tuple[int, int]], links: Sequence[tuple[int, int]]) -> PlacedNode:
    """Lay out boxes of these sizes, each below every box that links to it. sizes: (width, height). links: (from, to),
    as indices of boxes with from < to. Equal arguments give equal layouts."""
    ranks = _ranks(len(sizes), links)
    cells = [_Cell(rank, width) for rank, (width, _) in zip(ranks, sizes)]
    routes = [_routed(link, ranks, cells) for link in links]
    layers: list[list[int]] = [[] for _ in range(max((cell.rank for cell in cells), default=-1) + 1)]
    for number, cell in enumerate(cells):
        layers[cell.rank].append(number)
    above, below = _neighbours(len(cells), routes)
    _ordered(layers, above, below)
    across = _across(layers, cells, above, below)
    heights = [max((sizes[each][1] for each in layer if each < len(sizes)), default=0) for layer in layers]
    tops = [MARGIN + sum(heights[:rank]) + RISE * rank for rank in range(len(layers))]
    middles = [top + height // 2 for top, height in zip(tops, heights)]
    lines, tips = [], []
    for route in routes:
        first, last = route[0], route[-1]
        begin = middles[cells[first].rank] + sizes[first][1] // 2
        end = middles[cells[last].rank] - sizes[last][1] // 2 - TIP
        points = [(across[first], begin)]
        for each in route[1:-1]:
            top = tops[cells[each].rank]
            points += [(across[each], top), (across[each], top + heights[cells[each].rank])]
        points.append((across[last], end))
        lines.append(_curve(points))
        tips.append(f"M{across[last]} {end + TIP}l-3-{TIP}h6z")
    return PlacedNode(
        width=max((across[each] + cells[each].width // 2 for each in range(len(sizes))), default=0) + MARGIN,
        height=tops[-1] + heights[-1] + MARGIN if layers else 0,
        centres=tuple((across[each], middles[cells[each].rank]) for each in range(len(sizes))),
        lines="".join(lines),
        tips="".join(tips),
    )


@dataclass(frozen=True)
class _Cell:
    """An item of a layer: a box, or the part of a line that passes the layer."""

    rank: int
    width: int


def _ranks(count: int, links: Sequence[tuple[int, int]]) -> list[int]:
    """Return each box's layer: one below the lowest box that links to it. A box without such links stands right above
    the first box that it links to."""
    above, below = _neighbours(count, links)
    ranks = [0] * count
    for each in range(count):
        ranks[each] = max((ranks[other] + 1 for other in above[each]), default=0)
    for each in range(count):
        if not above[each] and below[each]:
            ranks[each] = min(ranks[other] for other in below[each]) - 1
    return ranks


def _routed(link: tuple[int, int], ranks: Sequence[int], cells: list[_Cell]) -> list[int]:
    """Return the link's cells: its two boxes, and between them a new cell in every layer that it passes."""
    begin, end = link
    passed = list(range(ranks[begin] + 1, ranks[end]))
    first = len(cells)
    cells.extend(_Cell(rank, PASSING) for rank in passed)
    return [begin, *range(first, first + len(passed)), end]


def _neighbours(count: int, routes: Sequence[Sequence[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return, for each cell, the cells linked above it and those below it."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for route in routes:
        for upper, lower in pairwise(route):
            below[upper].append(lower)
            above[lower].append(upper)
    return above, below


def _ordered(layers: list[list[int]], above: Sequence[list[int]], below: Sequence[list[int]]) -> None:
    """Sort each layer in place so that every cell is near the middle of its neighbours and few lines cross."""
    place: dict[int, float] = {each: number for layer in layers for number, each in enumerate(layer)}

    def mean(near: Sequence[list[int]]) -> Callable[[int], float]:
        return lambda each: sum(map(place.__getitem__, near[each])) / len(near[each]) if near[each] else place[each]

    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            layer.sort(key=mean(above if down else below))
            # relative to the layer's length, so that wide and narrow layers are comparable
            place.update((each, (number + 0.5) / len(layer)) for number, each in enumerate(layer))


def _across(
    layers: Sequence[Sequence[int]], cells: Sequence[_Cell], above: Sequence[list[int]], below: Sequence[list[int]]
) -> Mapping[int, int]:
    """Return the horizontal middle of each cell: as near to its neighbours as order and gaps allow."""
    found: dict[int, float] = {}
    for layer in layers:
        found.update(_spaced(layer, cells, dict.fromkeys(layer, 0.0)))
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        near = above if down else below
        for layer in layers if down else reversed(layers):
            wanted = {
                each: sum(map(found.__getitem__, near[each])) / len(near[each]) if near[each] else found[each]
                for each in layer
            }
            found.update(_spaced(layer, cells, wanted))
    left = min((found[each] - cells[each].width / 2 for each in found), default=0.0)
    return {each: round(where - left) + MARGIN for each, where in found.items()}


def _spaced(layer: Sequence[int], cells: Sequence[_Cell], wanted: Mapping[int, float]) -> dict[int, float]:
    """Move cells apart: each to the mean of being pushed right by the cell before it and left by the one after it."""

    def apart(one: int, other: int) -> float:
        return (cells[one].width + cells[other].width) / 2 + GAP

    pushed = [wanted[each] for each in layer]
    pulled = list(pushed)
    for at in range(1, len(layer)):
        pushed[at] = max(pushed[at], pushed[at - 1] + apart(layer[at - 1], layer[at]))
    for at in range(len(layer) - 2, -1, -1):
        pulled[at] = min(pulled[at], pulled[at + 1] - apart(layer[at], layer[at + 1]))
    return {each: (one + other) / 2 for each, one, other in zip(layer, pushed, pulled)}


def _curve(points: Sequence[tuple[int, int]]) -> str:
    """Return an SVG path through the points that leaves and enters each one vertically."""
    drawn = [f"M{points[0][0]} {points[0][1]}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) // 2
        drawn.append(f"V{to_y}" if x == to_x else f"C{x} {middle} {to_x} {middle} {to_x} {to_y}")
    return "".join(drawn)
