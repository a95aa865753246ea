"""Panes of code shown side by side, with the subgraph nodes that each line belongs to, as plain data for the page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passnet_core.graphs import aligning
from passnet_core.graphs.aligning import Place, Span, matched_nodes
from passnet_core.graphs.ir import Graph, NodeKind
from passnet_core.graphs.rendering import mark
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.records import BASELINE_NAMES, Baseline, Bundle, CompiledKernel, InductorCode, MatchReport

Facts = Mapping[str, Sequence[str]]
"""Key of a pane -> the facts shown beside it."""

MOST_CHARACTERS = 300_000
"""Most characters of one pane: a browser has to hold them all."""


@dataclass(frozen=True)
class Pane:
    """One text. key: unique among the panes. facts: short sentences shown beside it. note: how far to trust the lines'
    nodes. file: the name by which places in other panes refer to its lines."""

    key: str
    title: str
    text: str
    python: bool = True
    spans: tuple[Span, ...] = ()
    places: tuple[Place, ...] = ()
    file: str = ""
    facts: tuple[str, ...] = ()
    note: str = ""


RECORDED, REWRITTEN, PASSES, INDUCTOR = "recorded", "rewritten", "mine", "inductor"
"""Keys of panes. The key of a bundle's file continues with a colon and the file's name."""
CLAIMED = "Reported by the process that has loaded the passes; the judge does not check it."
BY_NAME = (
    "A ┃ beside a kernel marks nodes that are guessed from the operators in its name: TorchInductor names a kernel's"
    " nodes in comments only for a GPU."
)


def of_passes(graph: Graph, bundle: Bundle | None, match: MatchReport | None, facts: Facts) -> Iterator[Pane]:
    """Show the files of a bundle."""
    if bundle is None:
        return
    spans = aligning.of_bundle(bundle, graph, match)
    for number, file in enumerate(bundle.files, 1):
        sign = mark(number) if number <= len(bundle.passes) else "helper"
        key, title = f"{PASSES}:{file.name}", f"{sign} {file.name}"
        beside = tuple(facts.get(key, ()))
        yield Pane(key, title, file.code, spans=spans[file.name], file=file.name, facts=beside)


def of_subgraph(graph: Graph, code: str, match: MatchReport | None, facts: Facts) -> Iterator[Pane]:
    """Show the rewritten graph, if there is one, and the subgraph as recorded."""
    if match is not None and match.rewritten:
        spans, beside = aligning.of_rewritten(match.rewritten, graph, match), tuple(facts.get(REWRITTEN, ()))
        yield Pane(REWRITTEN, "The subgraph, rewritten", match.rewritten, spans=spans, facts=beside)
    spans, beside = aligning.of_source(code), tuple(facts.get(RECORDED, ()))
    yield Pane(RECORDED, "The subgraph, as recorded", code, spans=spans, facts=beside)


def of_inductor(graph: Graph, code: InductorCode, baseline: Baseline, facts: Facts) -> Pane:
    """Show the code that TorchInductor generates as this baseline."""
    note = BY_NAME if aligning.guesses(code.text) else ""
    spans = aligning.of_inductor(code.text, graph)
    beside = tuple(facts.get(INDUCTOR, ()))
    return Pane(INDUCTOR, f"Code of {BASELINE_NAMES[baseline]}", code.text, spans=spans, facts=beside, note=note)


def of_kernel(number: int, kernel: CompiledKernel, bundle: Bundle, nodes: Sequence[str], fact: str) -> Iterator[Pane]:
    """Show a kernel that replaces these nodes at each stage of Triton's compilation. fact: how it was compiled."""
    files = [file.name for file in bundle.files]
    for stage, (title, text, places) in {
        "ttir": ("Triton IR", kernel.ttir, aligning.of_triton_ir),
        "ttgir": ("Triton GPU IR", kernel.ttgir, aligning.of_triton_ir),
        "ptx": ("PTX", kernel.ptx, aligning.of_ptx),
    }.items():
        if text:
            yield Pane(
                f"kernel:{number}:{stage}",
                f"{title} of {kernel.name}",
                text,
                python=False,
                spans=(Span(1, len(text.splitlines()), tuple(nodes), exact=False),) if nodes else (),
                places=places(text, files),
                facts=(fact,),
                note=CLAIMED,
            )


def picture(panes: Sequence[Pane], graph: Graph, match: MatchReport | None) -> dict[str, Any]:
    """Return plain data for the page's code component. Texts are not escaped: it must not treat them as markup."""
    index = {node.name: number for number, node in enumerate(graph.nodes)}
    marks: dict[str, str] = {}
    for number, each in enumerate(match.passes if match else (), 1):
        marks.update(dict.fromkeys(matched_nodes(each, graph), mark(number)))
    return {
        "nodes": [
            {
                "name": node.name,
                "operator": "input" if node.kind is NodeKind.INPUT else operator_label(node),
                "mark": marks.get(node.name, ""),
            }
            for node in graph.nodes
        ],
        "panes": [
            {
                "key": pane.key,
                "title": pane.title,
                "text": _shortened(pane.text),
                "python": pane.python,
                "spans": [
                    [each.first, each.last, [index[name] for name in each.nodes if name in index], each.exact]
                    for each in pane.spans
                ],
                "places": [[each.line, f"{each.file}:{each.file_line}"] for each in pane.places],
                "file": pane.file,
                "facts": list(pane.facts),
                "note": pane.note,
            }
            for pane in panes
        ],
    }


def _shortened(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n… {len(text) - MOST_CHARACTERS:,} more characters are left out"
