"""What an outcome says in detail: match, values, time, code, evidence."""

from typing import Literal

import streamlit as st

from pages.ui import resources
from pages.ui.components import evidence_list, match_marks, speedup_text
from pages.ui.graphs import graph_view
from pages.ui.plots import NAMES, samples_chart
from pages.ui.text import code_span, count, figure, plain, shape
from passnet_core.errors import PlaygroundError
from passnet_core.graphs import drawing
from passnet_core.graphs.ir import Graph
from passnet_core.records import (
    RIGHT,
    WRONG,
    Bundle,
    Clock,
    Contender,
    Finding,
    Outcome,
    OutputAccuracy,
    PassMatches,
    Subgraph,
    Verdict,
)

MATCH, VALUES, TIME, CODE, EVIDENCE = "Match", "Values", "Time", "Code", "Evidence"
OF_TIME = ("noise floor", "the judge's own clock", "timed calls", "replay of a captured graph")
"""Topics of evidence that explain figures."""
LOOK_S = 1.0
OPENS: dict[Verdict, str] = {
    **dict.fromkeys(Verdict, EVIDENCE),
    **dict.fromkeys(RIGHT | {Verdict.NO_MATCH, Verdict.MATCHED}, MATCH),
    **dict.fromkeys(WRONG, VALUES),
    Verdict.REJECTED: CODE,
    Verdict.INCONCLUSIVE: EVIDENCE,
}


def result_tabs(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None, *, key: str) -> None:
    """The five tabs of an outcome; the one that explains the verdict is open."""
    names = (MATCH, VALUES, TIME, CODE, EVIDENCE)
    drawn = (match_tab, values_tab, time_tab, code_tab, evidence_tab)
    opened = OPENS[outcome.verdict]
    # the key holds the verdict: another verdict opens another tab, the same one leaves the reader where he is
    for tab, draw in zip(st.tabs(names, default=opened, key=f"{key}-{opened}"), drawn):
        with tab:
            draw(outcome, subgraph, bundle)


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


def values_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    accuracy = outcome.accuracy
    if accuracy is None:
        st.info("Values were not compared. Run does that, once the passes match.")
        return
    if accuracy.reduced:
        st.caption(f":material/photo_size_select_small: {plain(accuracy.reduced)}")
    st.markdown(
        f"{count(len(accuracy.outputs), 'output')}, each compared with eager and with float64 on "
        f"{count(len(accuracy.profiles), 'drawing')} of inputs: {plain(', '.join(accuracy.profiles))}."
    )
    st.dataframe([_output_row(output) for output in accuracy.outputs], hide_index=True, width="stretch")
    for output in accuracy.outputs:
        if output.problem:
            st.markdown(f"Output {output.output}: {plain(output.problem)}")
    st.caption(
        "The smallest t is the strictest tolerance level, from −10 to 0, at which every drawing is close; "
        "a dash: not even at 0."
    )


def _output_row(output: OutputAccuracy) -> dict[str, str | int]:
    return {
        "output": output.output,
        "shape": shape(output.shape),
        "dtype": output.dtype,
        "smallest t": "–" if output.smallest_t is None else str(output.smallest_t),
        "max error": figure(output.max_error),
        "mean error": figure(output.mean_error),
        "worst at": str(list(output.index)) if output.index is not None else "",
        "eager": figure(output.expected),
        "yours": figure(output.actual),
        "drawing": output.profile,
        "wrong": f"{output.wrong_fraction:.1%}" if output.wrong_fraction else "",
    }


def time_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    if not outcome.timings:
        st.info(f"No times: {_why_no_times(outcome)}")
        return
    if outcome.verdict is Verdict.CHEAT:
        st.warning("These times are what the passes' own process claimed. They do not fit the evidence.")
    present = [who for who in Contender if any(each.contender is who for each in outcome.timings)]
    rows = []
    for clock in [each for each in Clock if any(timing.clock is each for timing in outcome.timings)]:
        row = {"clock, median µs per call": clock.value}
        for who in present:
            timing = outcome.timing(who, clock)
            row[NAMES[who]] = figure(timing.median) if timing else "–"
        for who in present:
            if who is not Contender.EAGER:
                row[f"speedup, {NAMES[who]}"] = speedup_text(outcome, clock, who)
        rows.append(row)
    st.dataframe(rows, hide_index=True, width="stretch")
    st.altair_chart(samples_chart(outcome.timings), width="content")
    st.caption("Each mark is one sample. Speedups are medians of block ratios with a bootstrap 95% interval.")
    evidence_list([each for each in outcome.evidence if each.topic in OF_TIME])


def _why_no_times(outcome: Outcome) -> str:
    if outcome.verdict in (Verdict.CHEAT, Verdict.LIBRARY):
        return "only what the passes do themselves, and what their figures show, is ranked by time."
    if outcome.verdict is Verdict.INCONCLUSIVE:
        return "none that can be relied on. Evidence says why."
    if outcome.verdict in RIGHT:
        return (
            "without a GPU only values can be judged. "
            "Under Scores you can look at what was measured on one and comes with this app."
        )
    return "only passes that are right are timed."


def code_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    finding_list(outcome.findings, bundle)
    mine, rewritten = st.columns(2)
    with mine:
        for number, file in enumerate(bundle.files if bundle else (), 1):
            sign = drawing.mark(number) if bundle and number <= len(bundle.passes) else "helper"
            st.markdown(f"{sign} {code_span(file.name)}")
            st.code(file.code, language="python", line_numbers=True, height=_code_height(file.code))
    with rewritten:
        if outcome.match and outcome.match.rewritten:
            st.markdown("The subgraph, rewritten")
            st.code(outcome.match.rewritten, language="python", line_numbers=True)
        st.markdown("The subgraph, as recorded")
        st.code(subgraph.code, language="python", line_numbers=True, height=_code_height(subgraph.code))
    inductors_code(subgraph, outcome.job_digest)


def inductors_code(subgraph: Subgraph, key: str) -> None:
    """What TorchInductor generates here, once it is asked for."""
    asked = st.toggle("What TorchInductor generates", key=f"inductor-{key}", help="Where jobs run; takes some seconds.")
    found = st.session_state.get(_generated_key(subgraph))
    if not asked:
        return
    if found is None:
        _look_for_code(subgraph)
    elif isinstance(found, str):
        st.info(plain(found), icon=":material/code_off:")
    else:
        library = f" and {count(found.library_calls, 'kernel')} of torch's" if found.library_calls else ""
        st.caption(f"One call launches {count(found.launches, 'kernel')} of its own{library}.")
        st.code(found.text, language="python", line_numbers=True, height=480)


@st.fragment(run_every=LOOK_S)
def _look_for_code(subgraph: Subgraph) -> None:
    """Asks until the code is there, or why there is none."""
    try:
        found = resources.service().inspection(subgraph)
    except PlaygroundError as error:
        st.session_state[_generated_key(subgraph)] = str(error)
        st.rerun()
    if found is not None:
        st.session_state[_generated_key(subgraph)] = found.code or found.code_problem
        st.rerun()
    st.markdown(":material/autorenew: TorchInductor is writing its code, behind the jobs that wait…")


def _generated_key(subgraph: Subgraph) -> str:
    return f"generated-{subgraph.digest}"


def _code_height(code: str) -> int | Literal["content"]:
    return 480 if code.count("\n") > 26 else "content"


def finding_list(findings: tuple[Finding, ...], bundle: Bundle | None) -> None:
    """Each remark of a rule with its place, the line itself, and the remedy."""
    files = {file.name: file.code.splitlines() for file in (bundle.files if bundle else ())}
    for finding in findings:
        show = st.error if finding.fatal else st.warning
        lines = files.get(finding.file, [])
        quoted = lines[finding.line - 1].strip() if 0 < finding.line <= len(lines) else ""
        show(
            f"{plain(finding.message)} {plain(finding.remedy)}" + (f"  \n{code_span(quoted)}" if quoted else ""),
            title=f"{plain(finding.file)}, line {finding.line}, column {finding.column}: {plain(finding.rule)}",
            icon=":material/gavel:" if finding.fatal else ":material/info:",
        )


def evidence_tab(outcome: Outcome, subgraph: Subgraph, bundle: Bundle | None) -> None:
    evidence_list(outcome.evidence)
    if outcome.log_tail.strip():
        st.markdown("What the passes printed, the end of it:")
        st.code(outcome.log_tail, language=None, wrap_lines=True, height=300)
    elif not outcome.evidence:
        st.info("The passes printed nothing, and the judge has nothing to add.")
