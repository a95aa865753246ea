"""Draw what one step of a program accesses: on the tensors of its launch, and in the block of its lanes."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passnet_core.charts.library import alt, data_of, framed
from passnet_core.charts.places import index_of
from passnet_core.charts.steps import DONE, words
from passnet_core.records import MemoryAccess, TracedLaunch, TracedProgram, TracedTensor

WRAP = 64
"""What is one long row is drawn in rows of so many elements."""
MOST_ROWS = 32
"""Of a tensor with more rows, those around what the program touches are drawn."""
FEW_COLUMNS = 512
"""A tensor with more columns is drawn around what the program touches, if that is an eighth of them or less."""
COLUMNS, CELLS = 128, 1100
"""With so many columns and elements at most, each is a cell with its value; else neighbours are drawn as one."""
MOST_MARKS = 400
"""How many rectangles stand for elements of one kind at most. Streamlit draws more than 2,000 marks as a bitmap, in
which words do not have the colour of the page's."""
TALL, SHORT, LOW = 192, 12, 30
"""The most pixels of a drawing, of a row in it, and the least of a drawing."""

MASKED, OUTSIDE = "left out by mask", "outside of it"
STEPS, PROGRAMS, NOTHING = "other steps", "other programs", "not accessed"
COLOURS = {
    "loaded": "#3d8fd1",
    "stored": "#e08a1e",
    "changed atomically": "#b05cc6",
    MASKED: "#8a8a8a",
    OUTSIDE: "#d1354b",
    STEPS: "#5b9e8f",
    PROGRAMS: "#9a9a9a99",
    NOTHING: "#9a9a9a55",
}
FILLS = {**COLOURS, MASKED: "transparent", STEPS: "#5b9e8f88", PROGRAMS: "#9a9a9a66", NOTHING: "#9a9a9a18"}
"""The page shines through what a step does not access; the lanes that a mask leaves out are hollow."""


@dataclass(frozen=True)
class Table:
    """A tensor or a block laid out in rows and columns. wrapped: whether it is one long row, broken into several."""

    rows: int
    columns: int
    size: int
    wrapped: bool


@dataclass(frozen=True)
class Window:
    """The part of a table that is drawn: rows and columns, each from the first to before the last."""

    top: int
    bottom: int
    left: int
    right: int


def table_of(shape: Sequence[int]) -> Table:
    """Lay a shape out: the last axis as columns, all others as rows; what would be one long row is wrapped."""
    size = math.prod(shape)
    columns = max(1, shape[-1]) if shape else 1
    if size <= columns and columns > WRAP:
        return Table(math.ceil(size / WRAP), WRAP, size, True)
    return Table(size // columns, columns, size, False)


def window_of(table: Table, touched: Collection[int]) -> Window:
    """The part of a table around the touched elements, or all of it. It moves in steps, so neighbours look alike."""
    columns = {element % table.columns for element in touched}
    top, bottom = _range(table.rows, {element // table.columns for element in touched}, MOST_ROWS)
    width = table.columns
    if columns and width > FEW_COLUMNS and (span := max(columns) - min(columns) + 1) * 8 <= width:
        width = max(WRAP, 1 << (4 * span - 1).bit_length())
    left, right = _range(table.columns, columns, width)
    return Window(top, bottom, left, right)


def _range(size: int, touched: Collection[int], most: int) -> tuple[int, int]:
    """So many indices below size that hold what is touched, or where it begins."""
    first, last = min(touched, default=0), max(touched, default=0)
    begin = first // (most // 2 or 1) * (most // 2)
    if last >= begin + most:
        begin = first
    begin = max(0, min(begin, size - most))
    return begin, min(size, begin + most)


def rectangles(elements: Iterable[int], table: Table, window: Window, most: int) -> list[tuple[int, int, int, int]]:
    """Rectangles (left, right, top, bottom) that cover these elements in the window, row by row; equal ones in rows
    that follow each other are one. Where there would be more than most, gaps are covered too."""
    by_row: dict[int, list[int]] = defaultdict(list)
    for element in sorted(set(elements)):
        row, column = divmod(element, table.columns)
        if window.top <= row < window.bottom and window.left <= column < window.right:
            by_row[row].append(column)
    gap = 1
    while True:
        found = _stacked({row: _runs(columns, gap) for row, columns in by_row.items()})
        if len(found) <= most or gap > table.columns:
            return found
        gap *= 2


def _runs(columns: Sequence[int], gap: int) -> tuple[tuple[int, int], ...]:
    """Ranges that cover sorted columns. gap: one more than how many columns in a row may be missing in a range."""
    found: list[tuple[int, int]] = []
    for column in columns:
        if found and column - found[-1][1] < gap:
            found[-1] = (found[-1][0], column + 1)
        else:
            found.append((column, column + 1))
    return tuple(found)


def _stacked(runs: Mapping[int, Sequence[tuple[int, int]]]) -> list[tuple[int, int, int, int]]:
    """The ranges of each row, where equal ones of rows that follow each other are one."""
    done: list[tuple[int, int, int, int]] = []
    growing: dict[tuple[int, int], tuple[int, int]] = {}
    for row, ranges in runs.items():
        before, growing = growing, {}
        for each in ranges:
            top, bottom = before.get(each, (row, row))
            growing[each] = (top if bottom == row else row, row + 1)
        done += [(*each, *rows) for each, rows in before.items() if growing.get(each, (-1, -1))[0] != rows[0]]
    return done + [(*each, *rows) for each, rows in growing.items()]


# --- drawings --------------------------------------------------------------------------------------------------------


def tensor_chart(
    launch: TracedLaunch, program: TracedProgram, step: int, tensor: TracedTensor, *, legend: bool
) -> alt.Chart:
    """Draw the elements of a tensor that a step of a program accesses, and faintly those of its other steps and of
    other programs. step: from 0. legend: whether to say which colour means what, on all tensors of the launch."""
    table = table_of(tensor.shape)
    access = program.accesses[step]
    here = access if access.tensor == tensor.name else None
    own = _touched(program.accesses, tensor)
    window = window_of(table, own)
    if own and here and not _shows(window, table, here.touched):
        window = window_of(table, [each for each in here.touched if each >= 0])
    others = _touched((each for other in launch.programs if other is not program for each in other.accesses), tensor)
    marks = [_mark(each, PROGRAMS, table, tensor.shape) for each in rectangles(others - own, table, window, MOST_MARKS)]
    now = _cells(here) if here else {}
    earlier = own - now.keys()
    marks += [_mark(each, STEPS, table, tensor.shape) for each in rectangles(earlier, table, window, MOST_MARKS)]
    marks += _drawn(now, table, window, tensor.shape)
    kinds = dict.fromkeys(DONE[each.kind] for other in launch.programs for each in other.accesses)
    shown = [*kinds, MASKED, STEPS, PROGRAMS, NOTHING] if legend else []
    said = words(launch, program, step) if here else f"This step does not access {tensor.name}."
    return _chart(marks, table, window, _axes(table, tensor.shape), shown, f"Tensor {tensor.name}. {said}")


def lanes_chart(access: MemoryAccess, said: str) -> alt.Chart:
    """Draw the block of lanes of a step: what each lane does, or whether the mask leaves it out. said: in words."""
    table = table_of(access.shape)
    most = math.ceil(len(access.elements) / table.columns)
    window = Window(0, max(1, most), 0, table.columns)
    cells = {lane: (lane_state(access, lane), value) for lane, value in enumerate(access.values)}
    marks = _drawn(cells, table, window, access.shape)
    states = list(dict.fromkeys(state for state, _ in cells.values()))
    return _chart(
        marks,
        table,
        window,
        (f"lanes, {WRAP} in each row" if table.wrapped else "lane", ""),
        states if len(states) > 1 else (),
        f"Block of lanes. {said}",
    )


def lane_state(access: MemoryAccess, lane: int) -> str:
    """What a lane of an access does, in a word that the legend has too."""
    if access.masked[lane]:
        return MASKED
    return OUTSIDE if access.elements[lane] < 0 else DONE[access.kind]


def _cells(access: MemoryAccess) -> dict[int, tuple[str, str]]:
    """What happens to each element that an access addresses, and the value. One that the mask leaves out in some lanes
    only is accessed."""
    found: dict[int, tuple[str, str]] = {}
    for lane, element in enumerate(access.elements):
        if element >= 0 and (not access.masked[lane] or element not in found):
            found[element] = lane_state(access, lane), access.values[lane]
    return found


def _touched(accesses: Iterable[MemoryAccess], tensor: TracedTensor) -> set[int]:
    found: set[int] = set()
    for each in accesses:
        if each.tensor == tensor.name:
            found.update(each.touched)
    return found - {-1}


def _shows(window: Window, table: Table, elements: Iterable[int]) -> bool:
    """Whether a window shows any of these elements. Of none it shows all."""
    places = [divmod(each, table.columns) for each in elements if each >= 0]
    return not places or any(
        window.top <= row < window.bottom and window.left <= column < window.right for row, column in places
    )


def _drawn(
    cells: Mapping[int, tuple[str, str]], table: Table, window: Window, shape: Sequence[int]
) -> list[dict[str, Any]]:
    """The marks of what happens now: a cell per element, or rectangles if cells would be too narrow."""
    if window.right - window.left <= COLUMNS and len(cells) <= CELLS:
        found = []
        for place, (state, value) in cells.items():
            row, column = divmod(place, table.columns)
            if window.top <= row < window.bottom and window.left <= column < window.right:
                found.append(_mark((column, column + 1, row, row + 1), state, table, shape, value))
        return found
    by_state: dict[str, list[int]] = defaultdict(list)
    for place, (state, _) in cells.items():
        by_state[state].append(place)
    return [
        _mark(each, state, table, shape)
        for state, places in by_state.items()
        for each in rectangles(places, table, window, MOST_MARKS)
    ]


def _mark(
    edges: tuple[int, int, int, int], state: str, table: Table, shape: Sequence[int], value: str = ""
) -> dict[str, Any]:
    left, right, top, bottom = edges
    first, last = index_of(top * table.columns + left, shape), index_of((bottom - 1) * table.columns + right - 1, shape)
    # a gap between cells shows them as such
    inset = 0.06 if value else 0.0
    return {
        "x": left + inset,
        "x2": right - inset,
        "y": top + inset,
        "y2": bottom - inset,
        "state": state,
        "index": str(first) if first == last else f"{first} to {last}",
        "value": value or "–",
    }


def _axes(table: Table, shape: Sequence[int]) -> tuple[str, str]:
    """The titles of the axes of a tensor's drawing, across and down."""
    if table.wrapped:
        return f"elements, {WRAP} in each row", ""
    last = len(shape) - 1
    leading = [axis for axis in range(last) if shape[axis] > 1]
    if table.rows == 1 or not leading:
        return f"axis {max(last, 0)}", ""
    return f"axis {last}", f"axis {leading[0]}" if len(leading) == 1 else f"axes {leading[0]} to {leading[-1]}"


def _chart(
    marks: Sequence[Mapping[str, Any]],
    table: Table,
    window: Window,
    titles: tuple[str, str],
    states: Sequence[str],
    said: str,
) -> alt.Chart:
    """Draw marks on a window of a table. states: those that the legend shows; none: no legend."""
    rows = window.bottom - window.top
    height = max(LOW, min(TALL, SHORT * rows))
    numbers = alt.Axis(format="d", grid=False, tickMinStep=1, labelExpr=_labels(table), tickCount=height // 40 or 1)
    x = alt.X(
        "x:Q",
        title=titles[0],
        axis=alt.Axis(format="d", grid=False, tickMinStep=1, tickCount=6),
        scale=alt.Scale(domain=[window.left, window.right], nice=False),
    )
    y = alt.Y(
        "y:Q",
        title=(titles[1] or None) if height >= 100 else None,
        axis=numbers if rows > 1 else None,
        scale=alt.Scale(domain=[window.bottom, window.top], nice=False),
    )
    legend = alt.Legend(orient="top", columns=2, rowPadding=0, values=list(states)) if states else None

    def scale(colours: Mapping[str, str]) -> alt.Scale:
        # the same in all charts, so that a colour has one meaning
        return alt.Scale(domain=list(colours), range=list(colours.values()))

    drawn = (
        alt.Chart(data_of([*_ground(table, window), *marks]))
        .mark_rect(clip=True, strokeWidth=0.8)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            fill=alt.Fill("state:N", title=None, scale=scale(FILLS), legend=legend),
            stroke=alt.Stroke("state:N", title=None, scale=scale(COLOURS), legend=legend),
            tooltip=[alt.Tooltip(f"{name}:N", title=name) for name in ("index", "value", "state")],
        )
    )
    return framed(drawn, height=height, width="container", description=said)


def _labels(table: Table) -> str:
    return f"format(datum.value * {table.columns}, ',d')" if table.wrapped else "format(datum.value, ',d')"


def _ground(table: Table, window: Window) -> list[dict[str, Any]]:
    """The marks of what exists of a table in the window: its last row may be shorter."""
    full, rest = divmod(table.size, table.columns)
    mark = {"state": NOTHING, "index": "–", "value": "–"}
    found = []
    if bottom := min(window.bottom, full):
        found.append({"x": window.left, "x2": window.right, "y": window.top, "y2": bottom, **mark})
    if rest and window.top <= full < window.bottom:
        found.append({"x": window.left, "x2": min(rest, window.right), "y": full, "y2": full + 1, **mark})
    return found
