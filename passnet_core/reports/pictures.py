"""The graphs of a report, as pictures of boxes and lines and as lists. Equal graphs share one picture."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.graphs import folding, rendering, source
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.rendering import Marks
from passnet_core.records import MatchReport
from passnet_core.reports.comparison import only_in
from passnet_core.reports.layered import placed

MOST = 150
"""The most operations of a picture. Of a larger graph, only a part is shown."""
LONGEST = 40
"""The most characters of a line in a box."""
LETTER, LINE, PAD = 6.7, 15, 9
"""The width of a letter, the height of a line and the padding, in pixels, for a fixed-width font of 11 pixels."""


@dataclass(frozen=True)
class Box:
    """A node of a picture. x, y: the upper left corner. kind: "input", "result" or the operator's family. mark: signs
    for its match, change and nearest miss; empty: none."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    mark: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """A node of a list: its code, and remarks on it."""

    code: str
    said: str


@dataclass(frozen=True)
class Picture:
    """A graph as a picture and as a list. operations: of the whole graph. lines, tips: SVG paths. note: which part of
    the graph is shown; empty: all of it."""

    number: int
    operations: int
    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: str
    tips: str
    items: tuple[Item, ...]
    note: str


class Album:
    """Collects the pictures of a report: each different one once, numbered from 1."""

    def __init__(self) -> None:
        self.pictures: list[Picture] = []
        self._known: dict[tuple[Any, ...], Picture | None] = {}
        self._graphs: dict[str, Graph | None] = {}

    def before_and_after(self, code: str, match: MatchReport | None) -> tuple[Picture | None, Picture | None]:
        """Return the pictures of a subgraph with its matches, and of the rewritten graph.
        A picture is None if there is no such graph, or if it cannot be read."""
        graph = self._graph(code)
        after = self._graph(match.rewritten) if match and match.rewritten else None
        removed = only_in(graph, after) if graph and after else ()
        added = only_in(after, graph) if graph and after else ()
        before = replace(rendering.marks_of(match), removed=removed)
        return self._picture(graph, before), self._picture(after, Marks(added=added))

    def _graph(self, code: str) -> Graph | None:
        if code not in self._graphs:
            self._graphs[code] = _parsed(code)
        return self._graphs[code]

    def _picture(self, graph: Graph | None, marks: Marks) -> Picture | None:
        key = (
            id(graph), tuple(sorted(marks.groups.items())), tuple(marks.passes), marks.miss, marks.reason,
            frozenset(marks.added), frozenset(marks.removed),
        )  # fmt: skip
        if key not in self._known:
            drawn = _drawn(len(self.pictures) + 1, graph, marks) if graph else None
            self._known[key] = drawn
            self.pictures += [drawn] if drawn else []
        return self._known[key]


def _parsed(code: str) -> Graph | None:
    try:
        return source.parse(code)
    except BadInput:
        return None


def _drawn(number: int, graph: Graph, marks: Marks) -> Picture:
    shown, note = folding.window(graph, MOST, around=tuple(sorted(marks.nodes)))
    data = rendering.picture(shown, marks)
    boxes, links = _boxes(data)
    sizes = [_size(box) for box in boxes]
    where = placed(sizes, links)
    return Picture(
        number=number,
        operations=len(graph.operations),
        width=where.width,
        height=where.height,
        boxes=tuple(
            Box(x - width // 2, y - height // 2, width, height, kind, mark, lines)
            for (kind, mark, lines), (x, y), (width, height) in zip(boxes, where.centres, sizes)
        ),
        lines=where.lines,
        tips=where.tips,
        items=(*(Item(node["code"], _said(node, marks)) for node in data["nodes"]), Item(data["result"]["code"], "")),
        note=note,
    )


Undrawn = tuple[str, str, tuple[str, ...]]
"""The kind, mark and lines of a box that has no position yet."""


def _boxes(data: Mapping[str, Any]) -> tuple[list[Undrawn], list[tuple[int, int]]]:
    """Return boxes and links: one box per operation, one for the result, and one per use of an input."""
    nodes = data["nodes"]
    boxes: list[Undrawn] = []
    links: list[tuple[int, int]] = []
    place: dict[int, int] = {}

    def box_of(node: int) -> int:
        if nodes[node]["family"] != rendering.INPUT:
            return place[node]
        boxes.append(("input", "", (_cut(nodes[node]["name"]),)))
        return len(boxes) - 1

    operations = [number for number, node in enumerate(nodes) if node["family"] != rendering.INPUT]
    for number in operations:
        node = nodes[number]
        begins = [box_of(each) for each in node["inputs"]]
        place[number] = len(boxes)
        boxes.append((node["family"], _mark(node), _lines(node)))
        links += [(begin, place[number]) for begin in begins]
    begins = [box_of(each) for each in data["result"]["inputs"]]
    boxes.append(("result", "", ("return",)))
    return boxes, links + [(begin, len(boxes) - 1) for begin in begins]


def _lines(node: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        _cut(each) for each in (f"{_mark(node)} {node['operator']}".strip(), node["literals"], node["name"]) if each
    )


def _mark(node: Mapping[str, Any]) -> str:
    marks = [
        rendering.mark(node["group"]) if node["group"] else "",
        node["change"],
        "✗ nearest miss" if node["miss"] else "",
    ]
    return " ".join(each for each in marks if each)


def _said(node: Mapping[str, Any], marks: Marks) -> str:
    number = node["group"]
    said = [
        f"matched by {rendering.mark(number)} {marks.passes[number - 1]}" if number else "",
        {"+": "new after the rewrite", "−": "gone after the rewrite"}.get(node["change"], ""),
        f"the nearest miss failed here: {marks.reason}" if node["miss"] else "",
    ]
    return "; ".join(each for each in said if each)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _size(box: Undrawn) -> tuple[int, int]:
    _, _, lines = box
    widest = max(sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line) for line in lines)
    return max(44, round(2 * PAD + LETTER * widest)), 8 + LINE * len(lines)
