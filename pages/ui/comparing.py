"""Compare two runs: what changed overall, and for one subgraph its code, graph, times, values and environments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from pages.ui import frame, links, live, resources
from pages.ui.components import PROFILES, speedup_text, verdict_card
from pages.ui.graphs import graph_view
from pages.ui.tables import choose_row
from pages.ui.text import code_span, count, figure, plain, when
from passnet_core.charts.pairs import pair_chart
from passnet_core.records import (
    LEVELS_SAID,
    Bundle,
    Contender,
    Device,
    Outcome,
    OutputAccuracy,
    Profile,
    Run,
    SolverKind,
    Stage,
)
from passnet_core.reports.authors import origin_words, solver_words
from passnet_core.reports.comparison import (
    Change,
    ClockChange,
    Fate,
    OutcomePair,
    OutputChange,
    Row,
    clock_changes,
    counted,
    diff_of,
    environment_rows,
    file_changes,
    only_in,
    order_changed,
    output_changes,
    pairs,
    same_clock,
    spec_rows,
)
from passnet_core.reports.previews import tasks_words
from passnet_core.service import Progress, RunSummary

SIGNS: Mapping[Change, str] = {
    Change.FASTER: "▲",
    Change.SLOWER: "▼",
    Change.NO_DIFFERENCE: "≈",
    Change.NOW_ACCEPTED: "✓",
    Change.NO_LONGER_ACCEPTED: "✗",
    Change.OTHER_VERDICT: "≠",
    Change.SAME_VERDICT: "=",
    Change.OTHER_SUBGRAPH: "?",
    Change.ONLY_BEFORE: "−",
    Change.ONLY_AFTER: "+",
}
FATES: Mapping[Fate, str] = {
    Fate.SAME: "is identical in both.",
    Fate.CHANGED: "changed: − then, + now.",
    Fate.ADDED: "was added: only the run under Now has it.",
    Fate.REMOVED: "was removed: only the run under Then has it.",
}
OFFERED = 200
"""How many runs of a task are offered for comparison."""
NOT_COMPARABLE = "Times and speedups from different environments are not comparable."
CODE, GRAPH, TIME, VALUES, CONDITIONS = "Code", "Graph", "Time", "Values", "Environment"


# --- choosing --------------------------------------------------------------------------------------------------------


def choose_other(run_id: str, task_id: str) -> None:
    """Offer the other runs of the task, check-only runs included, to compare this one with."""
    others = {
        each.run.id: each for each in resources.service().runs(OFFERED, task_id, checks=True) if each.run.id != run_id
    }
    if others:
        st.selectbox(
            "Compare with",
            list(others),
            index=None,
            key=f"compare-{run_id}",
            format_func=lambda each: run_words(others[each]),
            placeholder="another run of this task",
            on_change=_compare_with,
            args=(f"compare-{run_id}",),
        )


def _compare_with(key: str) -> None:
    links.select("against", st.session_state[key])


def offer_other_rules(run: Run, outcome: Outcome) -> None:
    """Offer to judge the same solver on this subgraph by the other profile, and to show both outcomes side by side."""
    other = Profile.PASSNET if run.spec.profile is Profile.STRICT else Profile.STRICT
    st.button(
        f"Also judge by: {PROFILES[other]}",
        icon=":material/balance:",
        key=f"rules-{run.id}",
        help="Judges this subgraph again, by these rules, and shows both outcomes with their reasons.",
        on_click=_judge_by_other_rules,
        args=(run, outcome, other),
    )


@frame.action
def _judge_by_other_rules(run: Run, outcome: Outcome, profile: Profile) -> None:
    service = resources.service()
    device = service.device
    # a run that was recorded on another machine may have asked for more than this one can do
    stage = Stage.VERIFY if run.spec.stage is Stage.MEASURE and device is Device.CPU else run.spec.stage
    cap = 1 if profile is Profile.PASSNET else None
    run_id = service.submit(
        resources.shared().corpus.task(outcome.task_id),
        _bundle(run),
        replace(run.spec, profile=profile, stage=stage, device=device, replacement_cap=cap),
        subgraph_ids=[outcome.subgraph_id],
        label=run.label,
    )
    links.turn_to({"run": run_id, "against": run.id, "task": outcome.task_id, "subgraph": outcome.subgraph_id})


def run_words(summary: RunSummary) -> str:
    """Describe a run in one line of plain text."""
    run = summary.run
    speedup = f", {summary.median_speedup:.2f}×" if summary.median_speedup is not None else ""
    return (
        f"{when(run.started_at)} · {solver_words(run, own=summary.visitor == resources.service().owner)} · "
        f"{run.spec.stage.value} · "
        f"{summary.accepted} of {summary.total} accepted{speedup} · {run.id}"
    )


# --- both runs -------------------------------------------------------------------------------------------------------


def comparison(run_id: str, against: str) -> None:
    """Compare the open run, "now", with another one, "then"."""
    service = resources.service()
    now, then = service.run(run_id), service.run(against)
    with st.container(horizontal=True):
        place = {key: links.selected(key) for key in ("task", "subgraph")}
        links.turn("Close the comparison", icon=":material/arrow_back:", run=run_id, **place)
        links.turn(
            "Swap then and now", icon=":material/swap_horiz:", run=against, against=run_id,
            show=links.selected("show"), **place,
        )  # fmt: skip
    st.title("Two runs compared")
    before, after = service.progress(against), service.progress(run_id)
    left, right = st.columns(2)
    with left:
        # a run that is compared with itself would get its Cancel button twice
        _side("Then", then, before, watched=against != run_id)
    with right:
        _side("Now", now, after, watched=True)
    if run_id == against:
        st.info("Both sides are the same run, so nothing differs. Choose another run to compare with.")
    elif then.started_at > now.started_at:
        st.caption(":material/info: The run under Then is the newer one. Swap them to read the changes in order.")
    found = pairs(before.outcomes, after.outcomes)
    if not found:
        st.info("Neither of these runs has an outcome yet.")
        return
    _at_a_glance(found)
    _table(found, key=f"pairs-{against}-{run_id}")
    _chosen(found, then, now)


def _side(name: str, run: Run, progress: Progress, *, watched: bool) -> None:
    """Show one run and its results. watched: follow its progress while it is under way."""
    solver = solver_words(run, own=resources.service().is_own(run.id))
    with st.container(border=True):
        st.markdown(f"**{name}: {plain(solver)}**, run {code_span(run.id)}")
        accepted = sum(each.verdict.accepted for each in progress.outcomes)
        speedups = sorted(speedup.value for each in progress.outcomes if (speedup := each.speedup()))
        facts = [f"{accepted} of {count(progress.total, 'subgraph')} accepted"]
        if speedups:
            facts.append(f"speedups from {speedups[0]:.2f}× to {speedups[-1]:.2f}×")
        st.markdown(plain(" · ".join(facts)))
        st.caption(
            plain(
                f"{when(run.started_at)} · {run.spec.stage.value}, {run.spec.capture.value} capture, judged by: "
                f"{PROFILES[run.spec.profile]} · {tasks_words(run)}"
                + (f" · {origin_words(run)}" if run.recorded else "")
            )
        )
        if progress.problem:
            st.warning(plain(progress.problem), icon=":material/warning:")
        elif watched and not progress.finished:
            live.under_way(progress)
        if progress.done < progress.total:
            st.caption(f"Compared: {progress.done} of {count(progress.total, 'subgraph')} judged so far.")


def _at_a_glance(found: Sequence[OutcomePair]) -> None:
    """Show how many subgraphs changed in which way, and warn if their times are not comparable."""
    changes = (f"{SIGNS[change]} {number} {plain(change.value)}" for change, number in counted(found))
    st.header(" · ".join(changes), anchor=False)
    _warn_of_environments(found)


def _warn_of_environments(found: Sequence[OutcomePair]) -> None:
    differing = list(dict.fromkeys(what for each in found for what in each.elsewhere))
    if differing:
        st.warning(f"{NOT_COMPARABLE} These differ: {plain(', '.join(differing))}.", icon=":material/warning:")


def _table(found: Sequence[OutcomePair], *, key: str) -> None:
    several = len({each.task_id for each in found}) > 1
    choose_row(
        [_pair_row(each, several) for each in found],
        [links.place_id(each.task_id, each.subgraph_id) for each in found],
        key=key,
        choose=links.select_place,
        height=560 if len(found) > 14 else None,
        column_config={
            "change": st.column_config.TextColumn("change", width=200),
            "ratio": st.column_config.NumberColumn("ratio", format="%.2f×", help="Speedup now divided by then"),
        },
    )
    st.caption(
        "Faster or slower: the 95% intervals of the two end-to-end speedups do not overlap. If they do, there is no "
        "measurable difference. Choose a row to see what differs."
    )


def _pair_row(pair: OutcomePair, several: bool) -> dict[str, object]:
    return {
        **({"task": pair.task_id} if several else {}),
        "subgraph": pair.subgraph_id,
        "change": f"{SIGNS[pair.change]} {pair.change.value}",
        "verdict then": pair.before.verdict.value if pair.before else "–",
        "verdict now": pair.after.verdict.value if pair.after else "–",
        "speedup then": speedup_text(pair.before) if pair.before else "–",
        "speedup now": speedup_text(pair.after) if pair.after else "–",
        **({"ratio": pair.ratio} if pair.ratio is not None else {}),
    }


# --- one subgraph ----------------------------------------------------------------------------------------------------


def _chosen(found: Sequence[OutcomePair], then: Run, now: Run) -> None:
    asked, pair = links.selected("subgraph"), links.selected_of(found)
    if asked and pair is None:
        st.info(f"Neither run judged {plain(asked)}. The first subgraph that was judged is shown instead.")
    pair = pair or found[0]
    st.subheader(plain(pair.subgraph_id), anchor=False)
    st.caption(f"of {plain(pair.task_id)} · {SIGNS[pair.change]} {plain(pair.change.value)}")
    for column, name, outcome, run in zip(st.columns(2), ("Then", "Now"), (pair.before, pair.after), (then, now)):
        with column:
            st.markdown(f"**{name}**")
            if outcome is None:
                st.info(f"Run {plain(run.id)} did not judge this subgraph.")
            else:
                verdict_card(outcome, recorded=run.recorded)
    asked = links.selected("show")
    # not bound to the URL: the button that swaps the sides also sets it
    key = f"show-{then.id}-{now.id}"
    shown = st.segmented_control(
        "Compare",
        list(SECTIONS),
        key=key,
        default=asked if asked in SECTIONS else CODE,
        required=True,
        on_change=_show,
        args=(key,),
    )
    with frame.errors_shown():
        SECTIONS[shown or CODE](pair, then, now)


def _show(key: str) -> None:
    links.select("show", st.session_state[key])


def _code(pair: OutcomePair, then: Run, now: Run) -> None:
    before, after = _bundle(then), _bundle(now)
    if before is None and after is None:
        names = " and ".join(dict.fromkeys(run.spec.names[Contender.BASELINE] for run in (then, now)))
        st.info(f"Both sides were solved by {names}, so there are no passes to compare.")
        return
    if before is None or after is None:
        when, run = ("then", then) if before is None else ("now", now)
        st.info(f"{run.spec.names[Contender.BASELINE]} was the solver {when}: it has no passes.")
    elif before.digest == after.digest:
        st.success("The passes are identical: the same files, in the same order.", icon=":material/equal:")
        return
    if order_changed(before, after):
        st.markdown(f"The order of the passes changed: {_order(before)} then, {_order(after)} now.")
    for each in file_changes(before, after):
        st.markdown(f"{code_span(each.name)} {FATES[each.fate]}")
        if each.diff:
            st.code(each.diff, language="diff", wrap_lines=True)


def _bundle(run: Run) -> Bundle | None:
    return resources.service().bundle(run.bundle_digest) if run.bundle_digest else None


def _order(bundle: Bundle | None) -> str:
    return ", ".join(code_span(file.name) for file in (bundle.passes if bundle else ()))


def _graph(pair: OutcomePair, then: Run, now: Run) -> None:
    subgraph = resources.shared().corpus.task(pair.task_id).subgraph(pair.subgraph_id)
    codes = [_rewritten(outcome) or subgraph.code for outcome in (pair.before, pair.after)]
    if codes[0] == codes[1]:
        st.success("Both sides have the same graph.", icon=":material/equal:")
    old, new = map(resources.graph, codes)
    removed, added = only_in(old, new), only_in(new, old)
    left, right = st.columns(2)
    with left:
        st.markdown(f"**Then**: {_graph_words(pair.before)}")
        graph_view(old, title=f"Then, {pair.subgraph_id}", inputs=subgraph.inputs, removed=removed)
    with right:
        st.markdown(f"**Now**: {_graph_words(pair.after)}")
        graph_view(new, title=f"Now, {pair.subgraph_id}", inputs=subgraph.inputs, added=added)
    st.caption(_node_changes(removed, added, codes))
    if codes[0] != codes[1]:
        with st.expander("The same as source, line by line", icon=":material/difference:"):
            st.code(diff_of(*codes), language="diff", wrap_lines=True)


def _rewritten(outcome: Outcome | None) -> str:
    return (outcome.match.rewritten or "") if outcome and outcome.match else ""


def _graph_words(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not judged; this is the subgraph itself."
    if outcome.solver is SolverKind.INDUCTOR:
        return f"{outcome.spec.names[Contender.BASELINE]} compiles the subgraph as it is."
    return "rewritten by the passes." if _rewritten(outcome) else "not rewritten; this is the subgraph itself."


def _node_changes(removed: set[str], added: set[str], codes: Sequence[str]) -> str:
    if removed or added:
        return f"− {count(len(removed), 'node')} removed, + {count(len(added), 'node')} added."
    return "Both have the same nodes." + ("" if codes[0] == codes[1] else " Some arguments differ.")


def _time(pair: OutcomePair, then: Run, now: Run) -> None:
    if pair.before is None or pair.after is None:
        st.info("Only one of the two runs judged this subgraph, so there are no times to compare.")
        return
    clocks = clock_changes(pair.before, pair.after)
    if not clocks:
        st.info("Neither run has times for this subgraph. Only passes with right values are timed, and only on a GPU.")
        return
    _warn_of_environments([pair])
    st.dataframe([_clock_row(each) for each in clocks], hide_index=True, width="stretch", placeholder="–")
    sides = (("then", pair.before), ("now", pair.after))
    speedups = [
        (side, speedup)
        for each in clocks
        for side, outcome in sides
        if (speedup := outcome.speedup(each.clock)) is not None
    ]
    if not same_clock(pair.before, pair.after):
        st.caption(
            "The two runs took their times in different ways, so there is no ratio of them. Run the older passes again "
            "to compare."
        )
    elif speedups:
        st.altair_chart(pair_chart(speedups), width="content")
        st.caption("Each mark is a speedup with its bootstrapped 95% interval. The dashed line is eager.")


def _clock_row(each: ClockChange) -> dict[str, object]:
    change = each.change
    return {
        "clock": each.clock.value,
        "change": f"{SIGNS[change]} {change.value}" if change else "–",
        "speedup then": speedup_text(each.before, each.clock),
        "speedup now": speedup_text(each.after, each.clock),
        "ratio": f"{each.ratio:.2f}×" if each.ratio is not None else "–",
        "eager then, µs": _median(each.before, each, Contender.EAGER),
        "eager now, µs": _median(each.after, each, Contender.EAGER),
        "solver then, µs": _solver_time(each.before, each),
        "solver now, µs": _solver_time(each.after, each),
    }


def _solver_time(outcome: Outcome, each: ClockChange) -> str:
    who = outcome.solver.contender
    return f"{_median(outcome, each, who)} ({outcome.spec.names[who]})"


def _median(outcome: Outcome, each: ClockChange, who: Contender) -> str:
    timing = outcome.timing(who, each.clock)
    return figure(timing.median) if timing else "–"


def _values(pair: OutcomePair, then: Run, now: Run) -> None:
    if pair.before is None or pair.after is None:
        st.info("Only one of the two runs judged this subgraph, so there are no values to compare.")
        return
    outputs = output_changes(pair.before, pair.after)
    if not outputs:
        st.info("Neither run compared values on this subgraph. A check-only run does not.")
        return
    st.dataframe([_output_row(each) for each in outputs], hide_index=True, width="stretch")
    st.caption(plain(LEVELS_SAID))


def _output_row(each: OutputChange) -> dict[str, object]:
    return {
        "output": each.output,
        "change": each.words,
        "smallest t then": _level(each.before),
        "smallest t now": _level(each.after),
        "max error then": figure(each.before.max_error) if each.before else "not compared",
        "max error now": figure(each.after.max_error) if each.after else "not compared",
    }


def _level(output: OutputAccuracy | None) -> str:
    if output is None:
        return "not compared"
    return output.level


def _conditions(pair: OutcomePair, then: Run, now: Run) -> None:
    sides = [outcome.environment if outcome else None for outcome in (pair.before, pair.after)]
    rows = environment_rows(*sides)
    st.markdown("**Where they were judged**")
    _warn_of_environments([pair])
    if rows:
        _rows(rows)
    else:
        st.info("No judge answered on either side, so there is no environment.")
    st.markdown("**How they were judged**")
    _rows(spec_rows(then.spec, now.spec))


def _rows(rows: Sequence[Row]) -> None:
    """Draw rows as a table. Rows that differ carry a sign and the word “differs”, and are bold."""
    st.table(
        [
            {
                "compared": ":orange-badge[≠ differs]" if row.differs else "= same",
                "what": f"**{row.what}**" if row.differs else row.what,
                "then": _cell(row.before, row.differs),
                "now": _cell(row.after, row.differs),
            }
            for row in rows
        ],
        hide_index=True,
        width="content",
    )


def _cell(text: str, differs: bool) -> str:
    return f"**{plain(text)}**" if differs else plain(text)


Section = Callable[[OutcomePair, Run, Run], None]
SECTIONS: Mapping[str, Section] = {
    CODE: _code,
    GRAPH: _graph,
    TIME: _time,
    VALUES: _values,
    CONDITIONS: _conditions,
}
