"""Say in words where an output is wrong."""

import math
from collections.abc import Sequence

from passnet_core.records import OutputAccuracy, counted, percent

FULL = 0.9
"""A box with this share of wrong elements counts as wrong throughout: some elements are right by accident."""


def where(found: OutputAccuracy) -> str:
    """Count and name the wrong elements of an output on the shown input set, in words that can follow "wrong: "; empty
    without an error map."""
    spots = found.map
    if spots is None:
        return ""
    whole = counted(spots.wrong, found.size)
    if spots.wrong == found.size:
        return whole
    if spots.wrong == 1:
        return f"{whole}, {list(found.index)}" if found.index else whole
    begin, end = spots.flat
    box = _box(spots.spans, found.shape)
    if spots.wrong == _volume(spots.spans) and box:
        return f"{whole}, {box}"
    if spots.wrong == end - begin:
        # a run in memory order that is no box
        return f"{whole}, {_run(begin, end)} in memory order"
    if spots.core is None:
        return f"{whole}, all in {box}" if box else f"{whole}, spread over the whole output"
    core = _box(spots.core, found.shape)
    if spots.core_wrong >= FULL * spots.wrong:
        return f"{whole}, {percent(spots.core_wrong, spots.wrong)} of them in {core}"
    return f"{whole}, with the largest errors in {core}"


def tail_begin(found: OutputAccuracy) -> int | None:
    """The index, on one axis or in memory order, from which on everything is wrong; None if there is none, or 0."""
    spots = found.map
    size = found.size
    if spots is None or spots.wrong == size:
        return None
    spans, wrong = (spots.spans, spots.wrong) if spots.core is None else (spots.core, spots.core_wrong)
    narrow = [(span, whole) for span, whole in zip(spans, found.shape) if span != (0, whole)]
    if len(narrow) == 1 and wrong >= FULL * _volume(spans):
        (begin, end), whole = narrow[0]
        return begin if end == whole and begin else None
    begin, end = spots.flat
    return begin if end == size and spots.wrong == end - begin > 1 else None


def drawn(profile: str) -> str:
    """Name the inputs of a set and their circumstance, as "typical inputs, at another address"."""
    name, comma, rest = profile.partition(",")
    return f"{name} inputs{comma}{rest}"


def _volume(spans: Sequence[tuple[int, int]]) -> int:
    return math.prod(end - begin for begin, end in spans)


def _box(spans: Sequence[tuple[int, int]], shape: Sequence[int]) -> str:
    """Name a box, as "columns 1000 to 1023 of every row"; empty for the whole output."""
    last = len(shape) - 1
    pieces, whole_rows = [], True
    for axis, ((begin, end), size) in enumerate(zip(spans, shape)):
        if (begin, end) == (0, size):
            continue
        name = "element" if last == 0 else {last: "column", last - 1: "row"}.get(axis, "")
        whole_rows = whole_rows and axis == last
        if not name:
            pieces.append(f"{_run(begin, end, 'index', 'indices')} of axis {axis}")
        else:
            pieces.append(_run(begin, end, name))
    pieces.reverse()
    return ", ".join(pieces) + (" of every row" if pieces and whole_rows and last else "")


def _run(begin: int, end: int, name: str = "element", plural: str = "") -> str:
    if end - begin == 1:
        return f"{name} {begin}"
    return f"{plural or name + 's'} {begin} to {end - 1}"


def index_of(place: int, shape: Sequence[int]) -> list[int]:
    """The index, one number per axis, of the element at a row-major position."""
    found: list[int] = []
    for size in reversed(shape):
        place, rest = divmod(place, size)
        found.append(rest)
    return found[::-1]
