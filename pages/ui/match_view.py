"""The Match tab: each match beside the pattern; or for no match, the attempts, why they failed, and an edit."""

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
"""A callback that changes lines in the file of a pass."""
HEIGHT = 440
PLACE = "match"
"""The URL parameter with the step shown: "2.3" is the third step of the second pass."""


def match_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None, apply: Apply | None = None) -> None:
    """Draw the tab. apply: applies a suggested edit; None where the passes cannot be edited."""
    match = outcome.match
    if match is None:
        st.info(
            "Inductor compiles the whole graph: there is no pattern to match."
            if bundle is None and outcome.bundle_digest is None
            else "The judge stopped before matching. The verdict above says why."
        )
        return
    for number, each in enumerate(match.passes, 1):
        st.markdown(f"{rendering.mark(number)} {code_span(each.name)}: {plain(_match_words(each))}")
    for each in match.passes:
        if not each.matches and each.miss is not None:
            # if other passes match, this one may well be meant for another subgraph
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
        removed = only_in(graph, rewritten)
        graph_view(graph, title="Before", **match_marks(match), removed=removed, inputs=subgraph.inputs)
    with after:
        st.markdown("**After**")
        graph_view(rewritten, title="After", added=only_in(rewritten, graph), inputs=subgraph.inputs)


# --- no match, and the suggested edit ---


def suggestions(outcome: Outcome, apply: Apply) -> None:
    """If no pass matches: say why, and draw the edits that were tried."""
    match = outcome.match
    if match is None or match.count:
        return
    for each in match.passes:
        if each.miss is None:
            continue
        if each.miss.reason not in outcome.reason:
            st.markdown(f"Nearest miss of {code_span(each.name)}: {plain(each.miss.reason)}")
        if each.edit is not None:
            _edit(each.name, each.edit, apply, key=f"suggest-{outcome.job_digest}-{each.name}")


def _miss_card(each: PassMatches, apply: Apply | None, *, key: str) -> None:
    """Say why a pass matches nothing, and suggest the edit that was tried."""
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
    effect = f"with it the pattern has {number}" if edit.matches else "with it the pattern comes closer to a match"
    st.markdown(f"**Suggested edit** (tried: {effect})")
    st.markdown("\n".join(f"- {plain(words)}" for words in edit.words))
    if edit.then:
        st.markdown(f"The next obstacle is then: {plain(edit.then)}")
    for each in edit.lines:
        st.caption(f"{plain(name)}, line {each.line}")
        signed = [f"- {line}" for line in each.old.split("\n")] + [f"+ {line}" for line in each.new.split("\n")]
        st.code("\n".join(signed), language="diff", wrap_lines=True)
    if edit.lines and apply is not None:
        st.button(
            "Apply to the editor", key=key, icon=":material/edit:", on_click=apply, args=(name, edit.lines),
            help="Changes these lines of the pass. Ctrl+Z in the editor undoes it.",
        )  # fmt: skip
    if edit.matches:
        st.caption("The kernel must then compute what the changed pattern says. A run compares the values.")


# --- one match or attempt after the other ---


@st.fragment
def _steps(key: str, match: MatchReport, subgraph: Subgraph, bundle: Bundle | None) -> None:
    """Draw one step. A fragment, so that the next step redraws nothing else and keeps focus and scroll position."""
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
                help="In the graphs, press n for the next and p for the previous one.",
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
    """Return the index of the step to show: the one turned to, else the one in the URL, else the first match."""
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
    """ "Match 2 of 5 of pass x"; bare: as plain text instead of Markdown."""
    what = "Attempt" if step.failed else "Match"
    name = step.name if bare else code_span(step.name)
    nearest = ", the nearest" if step.failed and step.number == 1 else ""
    return f"{what} {step.number} of {step.total} of pass {name}{nearest}"


def _why(step: Step, match: MatchReport) -> None:
    """Say how far an attempt got and what differs."""
    if not step.failed:
        return
    tried = match.passes[step.pass_number - 1].tried
    if step.anchor:
        pattern, node = step.anchor
        start = f"Started with {code_span(pattern)} of the pattern" + (f" at {code_span(node)}" if node else "")
        matched = count(sum(not each.beyond for each in step.pairs), "pair")
        st.markdown(f"{start}. {matched} matched, then: **{plain(step.failed.reason)}**")
    for each in step.differences[1:]:
        st.markdown(f"- After that: {plain(each.reason)}")
    if tried > step.total:
        st.caption(f"Of {tried:,} attempts, the {step.total} nearest are shown.")


def _pattern(match: MatchReport, step: Step, bundle: Bundle | None, turning: Stepping, key: str) -> None:
    """Show the pattern as the judge traced it; for older outcomes, as parsed from its source. Raises BadInput."""
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
    st.caption("Read from the pass's source, because this outcome was recorded without the traced pattern.")
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
    """List the pairs of a step: which pattern node matched which graph node."""
    if not step.pairs:
        if not step.failed:
            st.caption("Nodes: " + ", ".join(code_span(name) for name in step.nodes))
        return
    made_earlier = [name for name in step.nodes if name not in graph.by_name]
    if made_earlier:
        names = ", ".join(code_span(name) for name in made_earlier)
        st.caption(f"Not in the subgraph, but created by an earlier pass: {names}")
    with st.expander(count(len(step.pairs), "pair"), icon=":material/compare_arrows:", expanded=True):
        rows = [(plain(each.mark), code_span(each.pattern), code_span(each.graph), each.beyond) for each in step.pairs]
        beyond = any(each.beyond for each in step.pairs)
        st.table(
            [
                {"mark": mark, "pattern": pattern, "graph": node}
                | ({"matched": "after the difference" if late else "before it"} if beyond else {})
                for mark, pattern, node, late in rows
            ],
            hide_index=True,
        )
