"""What the passes match, match by match beside the pattern; or where it was tried, why it failed, and what mends it."""

import functools
from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui import frame, links, resources
from pages.ui.components import match_marks
from pages.ui.graphs import Stepping, graph_view, marked_graph
from pages.ui.text import code_span, count, plain
from passnet_core.graphs import explaining, rendering, stepping
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.stepping import Step
from passnet_core.records import Bundle, LineChange, MatchReport, Outcome, PassMatches, PatternEdit, Subgraph
from passnet_core.reports.comparison import only_in

Apply = Callable[[str, Sequence[LineChange]], None]
"""Puts changed lines into the file of a pass, from a callback."""
HEIGHT = 440
PLACE = "match"
"""Of the link: which step is shown, "2.3" for the third one of the second pass."""


def match_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None, apply: Apply | None = None) -> None:
    """apply: where the passes can be edited, what does that."""
    match = outcome.match
    if match is None:
        st.info(
            "Inductor compiles the whole graph: there is no pattern to match."
            if bundle is None and outcome.bundle_digest is None
            else "It did not come to matching. The verdict above says why."
        )
        return
    for number, each in enumerate(match.passes, 1):
        st.markdown(f"{rendering.mark(number)} {code_span(each.name)}: {plain(_match_words(each))}")
    for each in match.passes:
        if not each.matches and each.miss is not None:
            # where others match, a pass that does not may well be meant for another subgraph
            with _folded(f"Why {code_span(each.name)} matches nothing") if match.count else st.container(border=True):
                _miss_card(each, apply, key=outcome.job_digest)
    _steps(outcome.job_digest, match, subgraph, bundle)
    if match.rewritten:
        with st.expander("Before and after the rewrite", icon=":material/compare:", expanded=True):
            _before_and_after(match, subgraph)


def _folded(title: str) -> DeltaGenerator:
    return st.expander(title, icon=":material/search_off:")


def _match_words(each: PassMatches) -> str:
    if each.matches:
        return count(len(each.matches), "match", "matches")
    return "no match" + (f" ({each.miss.kind.value})" if each.miss else "")


def _before_and_after(match: MatchReport, subgraph: Subgraph) -> None:
    graph, rewritten = resources.graph(subgraph.code), resources.graph(match.rewritten or "")
    before, after = st.columns(2)
    with before:
        st.markdown("**Before**")
        gone = only_in(graph, rewritten)
        graph_view(graph, title="Before", **match_marks(match), removed=gone, inputs=subgraph.inputs)
    with after:
        st.markdown("**After**")
        graph_view(rewritten, title="After", added=only_in(rewritten, graph), inputs=subgraph.inputs)


# --- no match, and what mends it ---


def _miss_card(each: PassMatches, apply: Apply | None, *, key: str) -> None:
    """Why a pass matches nothing, in words, and the edit that was tried."""
    miss = each.miss
    assert miss is not None
    st.markdown(f"**Nearest miss of {code_span(each.name)}: {plain(miss.kind.value)}**")
    st.markdown(plain(miss.reason))
    place = f"pattern node {code_span(miss.pattern_node)}"
    if miss.graph_node:
        place += f" against graph node {code_span(miss.graph_node)}"
    st.caption(place)
    if each.edit is not None:
        _edit(each.name, each.edit, apply, key=f"apply-{key}-{each.name}")


def _edit(name: str, edit: PatternEdit, apply: Apply | None, *, key: str) -> None:
    number = count(edit.matches, "match", "matches")
    effect = f"with it the pattern has {number}" if edit.matches else "with it the pattern comes nearer"
    st.markdown(f"**What would mend it** (tried: {effect})")
    st.markdown("\n".join(f"- {plain(words)}" for words in edit.words))
    if edit.then:
        st.markdown(f"Then this stands in the way: {plain(edit.then)}")
    for each in edit.lines:
        st.caption(f"{plain(name)}, line {each.line}")
        signed = [f"- {line}" for line in each.old.split("\n")] + [f"+ {line}" for line in each.new.split("\n")]
        st.code("\n".join(signed), language="diff", wrap_lines=True)
    if edit.lines and apply is not None:
        st.button(
            "Apply to the editor", key=key, icon=":material/edit:", on_click=apply, args=(name, edit.lines),
            help="Changes these lines of the pass. In the editor, Ctrl+Z takes it back.",
        )  # fmt: skip
    if edit.matches:
        st.caption("The kernel has to compute what the pattern says then: a run compares the values.")


# --- one match or attempt after the other ---


@st.fragment
def _steps(key: str, match: MatchReport, subgraph: Subgraph, bundle: Bundle | None) -> None:
    """A fragment, so that going on redraws nothing else, and focus and place stay where they are."""
    steps = stepping.steps(match)
    graph = resources.graph(subgraph.code)
    if not steps:
        graph_view(graph, title="The subgraph", inputs=subgraph.inputs)
        return
    places = [each.place for each in steps]
    first = next((index for index, each in enumerate(steps) if not each.failed), 0)
    at = _at(key, places, first)
    step = steps[at]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, icon, by in (("Previous", "arrow_back", -1), ("Next", "arrow_forward", 1)):
            st.button(
                label,
                key=f"{label}-{key}",
                icon=f":material/{icon}:",
                on_click=_go,
                args=(key, places, first, by),
                disabled=len(steps) == 1,
                help="In the graphs, the keys n and p go on and back.",
            )
        st.markdown(f"**{_title(step)}**")
    turn = functools.partial(_turn, key, places)
    _why(step, match)
    left, right = st.columns([1.25, 1], gap="medium")
    with left:
        st.markdown("**The subgraph**")
        marked_graph(
            graph,
            stepping.graph_marks(match, step, graph),
            title="The subgraph",
            inputs=subgraph.inputs,
            height=HEIGHT,
            stepping=Stepping(at, len(steps), _title(step, bare=True), turn),
            key=f"steps-{key}",
        )
    with right:
        st.markdown(f"**The pattern of {code_span(step.name)}**")
        with frame.errors_shown():
            _pattern(match, step, bundle, Stepping(at, len(steps), "", turn), key)
    _pairs(step, graph)


def _at(key: str, places: Sequence[str], first: int) -> int:
    """The step that is shown: where one went, else what a cold link names, else the first that tells most."""
    known = st.session_state.get(f"step-{key}")
    if known is None and "stepped" not in st.session_state:
        known = links.selected(PLACE)
    return places.index(known) if known in places else first


def _go(key: str, places: Sequence[str], first: int, by: int) -> None:
    _turn(key, places, (_at(key, places, first) + by) % len(places))


def _turn(key: str, places: Sequence[str], at: int) -> None:
    st.session_state["stepped"] = True
    st.session_state[f"step-{key}"] = places[at]
    links.select(PLACE, places[at])


def _title(step: Step, *, bare: bool = False) -> str:
    """ "Match 2 of 5 of pass x"; bare: as text and not as Markdown."""
    what = "Attempt" if step.failed else "Match"
    name = step.name if bare else code_span(step.name)
    nearest = ", the nearest" if step.failed and step.number == 1 else ""
    return f"{what} {step.number} of {step.total} of pass {name}{nearest}"


def _why(step: Step, match: MatchReport) -> None:
    """How far an attempt got and what differs."""
    if not step.failed:
        return
    tried = match.passes[step.pass_number - 1].tried
    if step.anchor:
        pattern, node = step.anchor
        began = f"Began with {code_span(pattern)} of the pattern" + (f" at {code_span(node)}" if node else "") + "."
        fitted = count(sum(not each.beyond for each in step.pairs), "pair")
        st.markdown(f"{began} {fitted} fitted, then: **{plain(step.failed.reason)}**")
    for each in step.differences[1:]:
        st.markdown(f"- Behind that: {plain(each.reason)}")
    if tried > step.total:
        st.caption(f"There were {tried:,} attempts; these {step.total} came nearest.")


def _pattern(match: MatchReport, step: Step, bundle: Bundle | None, turning: Stepping, key: str) -> None:
    """The pattern as the judge traced it; of older outcomes, as its source reads. Raises BadInput."""
    text = match.passes[step.pass_number - 1].pattern
    title = f"The pattern of {step.name}"
    given = f"pattern-{key}-{step.pass_number}"
    if text:
        marks = stepping.pattern_marks(match, step)
        marked_graph(_traced(text), marks, title=title, height=HEIGHT, stepping=turning, key=given)
        return
    code = next((file.code for file in (bundle.passes if bundle else ()) if _stem(file.name) == _stem(step.name)), None)
    graph = None if code is None else _written(code)
    if graph is None:
        st.info("This outcome was recorded without its pattern.")
        return
    st.caption("Drawn from the pass's source: this outcome was recorded without the traced pattern.")
    marked_graph(graph, rendering.NO_MARKS, title=title, height=HEIGHT, stepping=turning, key=given)


def _stem(name: str) -> str:
    return name.removesuffix(".py")


@functools.lru_cache(maxsize=256)
def _traced(text: str) -> Graph:
    return explaining.pattern_from_text(text)


@functools.lru_cache(maxsize=256)
def _written(code: str) -> Graph | None:
    return explaining.pattern_in_source(code)


def _pairs(step: Step, graph: Graph) -> None:
    """Which is which, as a list."""
    if not step.pairs:
        if not step.failed:
            st.caption("Nodes: " + ", ".join(code_span(name) for name in step.nodes))
        return
    strange = [name for name in step.nodes if name not in graph.by_name]
    if strange:
        made = ", ".join(code_span(name) for name in strange)
        st.caption(f"Not in the subgraph, but made by an earlier pass: {made}")
    with st.expander(count(len(step.pairs), "pair"), icon=":material/compare_arrows:", expanded=True):
        rows = [(plain(each.mark), code_span(each.pattern), code_span(each.graph), each.beyond) for each in step.pairs]
        beyond = any(each.beyond for each in step.pairs)
        st.table(
            [
                {"mark": mark, "pattern": pattern, "graph": node}
                | ({"fits": "behind the difference" if late else "before it"} if beyond else {})
                for mark, pattern, node, late in rows
            ],
            hide_index=True,
        )
