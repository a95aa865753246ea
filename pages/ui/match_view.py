"""What the passes match: before and after, or where and why they do not."""

import streamlit as st

from pages.ui import resources
from pages.ui.components import match_marks
from pages.ui.graphs import graph_view
from pages.ui.text import code_span, count, plain
from passnet_core.graphs import drawing
from passnet_core.graphs.ir import Graph
from passnet_core.records import Bundle, Outcome, PassMatches, Subgraph


def match_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    match = outcome.match
    if match is None:
        st.info(
            "Inductor compiles the whole graph: there is no pattern to match."
            if bundle is None and outcome.bundle_digest is None
            else "It did not come to matching. The verdict above says why."
        )
        return
    for number, each in enumerate(match.passes, 1):
        st.markdown(f"{drawing.mark(number)} {code_span(each.name)}: {plain(_match_words(each))}")
    before, after = st.columns(2)
    graph = resources.graph(subgraph.code)
    rewritten = resources.graph(match.rewritten) if match.rewritten else None
    with before:
        st.markdown("**Before**" if rewritten else "**The subgraph**")
        gone = changed(graph, rewritten) if rewritten else ()
        graph_view(graph, title="Before", **match_marks(match), removed=gone, inputs=subgraph.inputs)
    with after:
        if rewritten is None:
            _nearest_misses(match.passes)
            return
        st.markdown("**After**")
        graph_view(rewritten, title="After", added=changed(rewritten, graph), inputs=subgraph.inputs)
        _nearest_misses(match.passes)


def changed(graph: Graph, other: Graph) -> set[str]:
    """Nodes of a graph that are not in the other, by name and by what they call: a rewrite may reuse a name."""
    return {
        node.name
        for node in graph.operations
        if node.name not in other.by_name or other.by_name[node.name].target != node.target
    }


def _match_words(each: PassMatches) -> str:
    if each.matches:
        return f"{count(len(each.matches), 'match', 'matches')}, " + "; ".join(
            ", ".join(names) for names in each.matches
        )
    return "no match" + (f" ({each.miss.kind.value})" if each.miss else "")


def _nearest_misses(passes: tuple[PassMatches, ...]) -> None:
    """Why the passes that match nothing do not, in words."""
    for each in passes:
        if each.matches or each.miss is None:
            continue
        miss = each.miss
        with st.container(border=True):
            st.markdown(f"**Nearest miss of {code_span(each.name)}: {plain(miss.kind.value)}**")
            st.markdown(plain(miss.reason))
            place = f"pattern node {code_span(miss.pattern_node)}"
            if miss.graph_node:
                place += f" against graph node {code_span(miss.graph_node)}"
            st.caption(place)
            if miss.matched:
                st.caption(
                    "Fitted before it failed: " + ", ".join(f"{code_span(p)} = {code_span(g)}" for p, g in miss.matched)
                )
