"""Render graphs as plain data for the page and as DOT text. Colours show families; marks show matches and changes."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import graphviz

from passnet_core.errors import BadInput
from passnet_core.graphs import folding
from passnet_core.graphs.emission import expression, written
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Slice, Value, references
from passnet_core.graphs.vocabulary import FAMILIES, operator_family, operator_label
from passnet_core.records import MatchReport, PassMatches

FOLDED_ABOVE = 200
"""Number of operations above which long chains are folded when a graph is first shown."""
INPUT = "input"
"""The family given to a graph's inputs."""
BYTES: Mapping[str, int] = {
    "complex128": 16, "complex64": 8, "float64": 8, "int64": 8, "float32": 4, "int32": 4, "complex32": 4, "float16": 2,
    "bfloat16": 2, "int16": 2, "int8": 1, "uint8": 1, "bool": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip
"""dtype -> bytes of one element."""
_INK = "#1f2328"
_LONGEST_LABEL = 44
_LONGEST_TOOLTIP = 400
_LONGEST_CODE = 2000

_OKABE_ITO = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#f0e442", "#d55e00", "#999999")
FAMILY_COLOUR: Mapping[str, str] = {
    "pointwise": _OKABE_ITO[0],
    "reduction": _OKABE_ITO[1],
    "normalisation": _OKABE_ITO[2],
    "matmul": _OKABE_ITO[3],
    "convolution": _OKABE_ITO[3],
    "attention": _OKABE_ITO[3],
    "layout": _OKABE_ITO[7],
    "indexing": _OKABE_ITO[7],
    "creation": _OKABE_ITO[5],
    "softmax": _OKABE_ITO[6],
    "embedding": _OKABE_ITO[4],
    "other": _OKABE_ITO[7],
}
"""Border colours. Families with the same colour do similar work; the label always names the operator."""
GROUP_COLOUR = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Fill colours of matched nodes, by pass. The numbered mark says the same without colour."""


def mark(number: int) -> str:
    """The mark of a pass, counted from 1: ①, ②, ... up to twenty, then (21)."""
    return chr(0x2460 + number - 1) if 1 <= number <= 20 else f"({number})"


def dot(graph: Graph) -> str:
    """Write a graph as DOT. Names may be any text: they are escaped, so that none is taken for markup."""
    digraph = graphviz.Digraph("graph")
    digraph.attr(
        rankdir="TB", bgcolor="transparent", fontname="sans-serif", fontcolor=_INK, ranksep="0.3", nodesep="0.2"
    )
    digraph.attr(
        "node", shape="box", style="rounded,filled", fillcolor="#ffffff", color=_INK, fontcolor=_INK,
        fontname="sans-serif", fontsize="11", height="0.3", margin="0.12,0.05",
    )  # fmt: skip
    digraph.attr("edge", color="#8b949e", arrowsize="0.6")
    # names are free text, and DOT would read a colon in one as a port
    ids = {node.name: f"n{index}" for index, node in enumerate(graph.nodes)}
    end = {"shape": "ellipse", "style": "filled", "color": "#8b949e"}
    for node in graph.nodes:
        looks = {"color": FAMILY_COLOUR[operator_family(node)], "penwidth": "1.6"}
        digraph.node(
            ids[node.name],
            label=_lines(*_label(node)),
            tooltip=_lines(*_tooltip(node), longest=_LONGEST_TOOLTIP),
            **(end if node.kind is NodeKind.INPUT else looks),
        )
    for node in graph.nodes:
        for name in dict.fromkeys(node.inputs):
            digraph.edge(ids[name], ids[node.name])
    returned = _lines(_or_repr(graph.result), longest=_LONGEST_TOOLTIP)
    digraph.node("result", label=_lines("return"), tooltip=returned, **end)
    for name in dict.fromkeys(references(graph.result)):
        digraph.edge(ids[name], "result")
    return str(digraph.source)


@dataclass(frozen=True)
class PairMark:
    """A node's counterpart in another graph. mark: shown on both nodes. words: its name. group: number of the pass."""

    mark: str
    words: str
    group: int


@dataclass(frozen=True)
class Marks:
    """The marks of a graph's nodes in a rendering.

    groups: node -> number of the pass that matched it, from 1. passes: the names of the passes, in order.
    miss: the node where the nearest miss failed; reason: why. added, removed: nodes that a rewrite adds or removes.
    pairs: node -> its counterpart. faint: nodes in the background. focus: nodes to scroll into view. apart: nodes that
    are marked at other steps, and therefore are never folded."""

    groups: Mapping[str, int] = field(default_factory=dict)
    passes: Sequence[str] = ()
    miss: str | None = None
    reason: str = ""
    added: Collection[str] = ()
    removed: Collection[str] = ()
    pairs: Mapping[str, PairMark] = field(default_factory=dict)
    faint: Collection[str] = ()
    focus: Sequence[str] = ()
    apart: Collection[str] = ()

    @property
    def nodes(self) -> frozenset[str]:
        """All nodes that have a mark, at this step or another."""
        missed = [self.miss] if self.miss else []
        return frozenset({*self.groups, *self.added, *self.removed, *self.pairs, *self.apart, *missed})


NO_MARKS = Marks()


def groups_of(passes: Sequence[PassMatches]) -> dict[str, int]:
    """Node -> number of the pass that matched it, from 1."""
    return {node: number for number, each in enumerate(passes, 1) for nodes in each.matches for node in nodes}


def marks_of(match: MatchReport | None) -> Marks:
    """Mark the nodes that each pass matched. If nothing matched, mark where the first nearest miss failed, and why."""
    passes = match.passes if match else ()
    groups = groups_of(passes)
    missed = None if groups else next((each.miss for each in passes if each.miss and each.miss.graph_node), None)
    return Marks(
        groups, [each.name for each in passes], missed.graph_node if missed else None, missed.reason if missed else ""
    )


def picture(
    graph: Graph, marks: Marks = NO_MARKS, *, values: Mapping[str, tuple[Sequence[int], str]] | None = None
) -> dict[str, Any]:
    """Return the graph as plain data for the page's graph component, which does the layout.

    values: node -> shape and dtype, where known. Texts are not escaped: the component must not treat them as markup."""
    index = {node.name: index for index, node in enumerate(graph.nodes)}
    nodes = [
        {
            "name": node.name,
            "operator": "" if node.kind is NodeKind.INPUT else operator_label(node),
            "family": INPUT if node.kind is NodeKind.INPUT else operator_family(node),
            "literals": _written_literals(node)[:_LONGEST_CODE],
            "code": _statement(node)[:_LONGEST_CODE],
            "line": node.line,
            "inputs": [index[name] for name in dict.fromkeys(node.inputs)],
            "value": _value((values or {}).get(node.name)),
            "group": marks.groups.get(node.name),
            "change": "+" if node.name in marks.added else "−" if node.name in marks.removed else "",
            "miss": node.name == marks.miss,
            "pair": _pair(marks.pairs.get(node.name)),
            "faint": node.name in marks.faint,
        }
        for node in graph.nodes
    ]
    folded = folding.chains(graph, apart=marks.nodes)
    return {
        "nodes": nodes,
        "result": {
            "code": f"return {_or_repr(graph.result)}"[:_LONGEST_CODE],
            "inputs": [index[name] for name in dict.fromkeys(references(graph.result))],
        },
        "families": [{"name": name, "colour": FAMILY_COLOUR[name]} for name in families(graph)],
        "groups": [
            {
                "number": number,
                "mark": mark(number),
                "colour": GROUP_COLOUR[(number - 1) % len(GROUP_COLOUR)],
                "name": marks.passes[number - 1] if number <= len(marks.passes) else f"pass {number}",
            }
            for number in sorted({*marks.groups.values(), *(each.group for each in marks.pairs.values())})
        ],
        "focus": [index[name] for name in marks.focus if name in index],
        "reason": marks.reason,
        "chains": [
            {"nodes": [index[name] for name in each.names], "operators": each.operators, "alike": each.alike}
            for each in folded
        ],
        "folded": len(graph.operations) > FOLDED_ABOVE,
    }


def families(graph: Graph) -> tuple[str, ...]:
    """List the families that occur in a graph, in the order of FAMILIES, for a legend."""
    present = {operator_family(node) for node in graph.operations}
    return tuple(family for family in FAMILIES if family in present)


def _label(node: Node) -> Iterator[str]:
    if node.kind is not NodeKind.INPUT:
        yield operator_label(node)
        if literals := _written_literals(node):
            yield literals
    yield node.name


def _written_literals(node: Node) -> str:
    """Write the literals among a node's arguments, separated by commas."""
    if node.kind is NodeKind.INPUT or node.target == "builtins.getattr":
        return ""
    named = (f"{key}={each}" for key, value in node.kwargs for each in _literals((value,)))
    return ", ".join([*_literals(node.args), *named])


def _literals(values: tuple[Value, ...]) -> Iterator[str]:
    for value in values:
        if not any(references(value)):
            yield ":" if value == Slice() else _short(value)


def _short(value: Value) -> str:
    match value:
        case Slice(start, stop, step):
            ends = ["" if each is None else _short(each) for each in (start, stop)]
            return ":".join(ends if step is None else [*ends, _short(step)])
        case Listed(items):
            return f"[{', '.join(map(_short, items))}]"
        case tuple():
            return f"({', '.join(map(_short, value))})"
    return _or_repr(value)


def _or_repr(value: Value) -> str:
    try:
        return written(value)
    except BadInput:
        return repr(value)


def _tooltip(node: Node) -> Iterator[str]:
    yield _statement(node)
    if node.line is not None:
        yield f"line {node.line}"


def _statement(node: Node) -> str:
    """Write a node as a line of source, for people: it may not be valid code."""
    if node.kind is NodeKind.INPUT:
        return f"input {node.name}"
    try:
        return f"{node.name} = {expression(node)}"
    except BadInput:
        return f"{node.name} = {node.target}(...)"


def _pair(pair: PairMark | None) -> dict[str, Any] | None:
    return None if pair is None else {"mark": pair.mark, "with": pair.words[:_LONGEST_TOOLTIP], "group": pair.group}


def _value(known: tuple[Sequence[int], str] | None) -> dict[str, Any] | None:
    """Shape, dtype and size in bytes of a value; bytes is None for a dtype of unknown size."""
    if known is None:
        return None
    sizes, dtype = known
    each = BYTES.get(dtype)
    return {"shape": list(sizes), "dtype": dtype, "bytes": None if each is None else math.prod(sizes) * each}


def _lines(*lines: str, longest: int = _LONGEST_LABEL) -> str:
    # graphviz takes a label in angle brackets for markup
    return graphviz.nohtml("\\n".join(_text(each, longest) for each in lines))


def _text(text: str, longest: int = _LONGEST_LABEL) -> str:
    """Escape one line of label text: keep backslashes and ampersands literal, turn control characters into blanks."""
    plain = "".join(each if each.isprintable() else " " for each in text)
    if len(plain) > longest:
        plain = plain[: longest - 1] + "…"
    return plain.replace("\\", "\\\\").replace("&", "&amp;")
