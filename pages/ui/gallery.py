"""The gallery: the best bundles that rules wrote, by family, and one of them with its graph, code and times."""

import functools
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import streamlit as st

from pages.ui import drafting, links, resources
from pages.ui.code_view import bundle_code
from pages.ui.components import conditions, headline, match_marks, speedup_text, subgraph_title
from pages.ui.graphs import graph_view
from pages.ui.tables import choose_row
from pages.ui.text import count, figure, plain, span
from passnet_core.leaderboard.gallery import Exhibit, docstring
from passnet_core.records import Bundle, Clock, Contender, Outcome, PassFile, Subgraph, Task

ENTRY = "entry"
"""The URL parameter that names the task of the bundle that is open."""
RATIOS = (
    "Times are medians. Each speedup is over eager calls that took turns with it in the same process, so it need not be"
    " the quotient of two of these times."
)
DASH = "A dash means that no time of the bundle is recorded: it has yet to be measured on a GPU."


def overview(exhibits: Sequence[Exhibit], shown: Sequence[Exhibit]) -> None:
    """Draw one table per family, of the bundles that are shown."""
    st.markdown(
        f"{count(len(exhibits), 'bundle')} to read and to start from. Rules wrote them, without a model. Those with the"
        " highest recorded speedups of each family are shown first."
    )
    st.caption(f"{len(shown)} of {count(len(exhibits), 'bundle')}. {_source(exhibits)} {DASH} Choose a row to open it.")
    if not shown:
        st.info("No bundle matches. Remove a filter or shorten your search.", icon=":material/filter_alt_off:")
    for family, of_family in groupby(shown, key=lambda each: each.task.family):
        rows = list(of_family)
        st.header(f"{plain(family.value[:1].upper() + family.value[1:])} · {len(rows)}")
        choose_row(
            [_row(each) for each in rows],
            [each.task.id for each in rows],
            key=f"gallery-{family.value}",
            choose=functools.partial(links.select, ENTRY),
            height=38 + 35 * len(rows),
            column_config={
                "task": st.column_config.TextColumn("task", pinned=True, width=190),
                "× eager": st.column_config.NumberColumn(
                    "× eager", format="%.2f×", width=80, help="Speedup of the bundle over eager, end to end"
                ),
                "Inductor": st.column_config.NumberColumn(
                    "Inductor", format="%.2f×", width=80, help="Speedup of TorchInductor over eager, end to end"
                ),
                "eager µs": st.column_config.NumberColumn("eager µs", format="%.1f", width=80, help=RATIOS),
                "bundle µs": st.column_config.NumberColumn("bundle µs", format="%.1f", width=80, help=RATIOS),
                "what it does": st.column_config.TextColumn("what it does", width="large"),
            },
        )


def _source(exhibits: Sequence[Exhibit]) -> str:
    """Say where the times come from."""
    rows = [each.recorded for each in exhibits if each.recorded]
    if not rows:
        return "No times are recorded."
    days = span(sorted({row.finished_at[:10] for row in rows}))
    return plain(f"Times: {rows[0].device}, {days}, {rows[0].capture.value} capture, median call, end to end.")


def _row(exhibit: Exhibit) -> dict[str, Any]:
    outcome = exhibit.outcome
    inductor = outcome.speedup(contender=Contender.BASELINE) if outcome else None
    return {
        "task": exhibit.task.id,
        "× eager": exhibit.speedup,
        "Inductor": inductor.value if inductor else None,
        "eager µs": _median(outcome, Contender.EAGER),
        "bundle µs": _median(outcome, Contender.PASSES),
        "what it does": exhibit.gist,
        "dtype": exhibit.recorded.dtype if exhibit.recorded else "",
        "in models": len(exhibit.task.source_models),
    }


def _median(outcome: Outcome | None, contender: Contender) -> float | None:
    timing = outcome.timing(contender, Clock.END_TO_END) if outcome else None
    return timing.median if timing else None


def entry(exhibit: Exhibit) -> None:
    """Draw one bundle: how fast it is, what it does, the subgraph, and its code."""
    task = resources.shared().corpus.task(exhibit.task.id)
    subgraph = exhibit.subgraph_of(task)
    st.header(plain(task.id))
    st.caption(
        f"{plain(task.family.value)} · {plain(subgraph_title(subgraph))} · from {plain(subgraph.source_model)} · "
        f"{count(len(exhibit.bundle.passes), 'pass', 'passes')} · written by rules"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        _start(task, subgraph, exhibit.bundle)
        links.turn("See the task", icon=":material/travel_explore:", task=task.id)
        if exhibit.recorded:
            links.link(
                "runs",
                "Permanent page of its run",
                icon=":material/link:",
                run=exhibit.recorded.run_id,
                task=task.id,
                subgraph=subgraph.id,
            )
    words, picture = st.columns([1, 1.1], gap="medium")
    with words:
        if exhibit.outcome and exhibit.recorded:
            headline(exhibit.outcome)
            _times(exhibit.outcome)
            st.caption(" · ".join(map(plain, conditions(exhibit.outcome, exhibit.recorded.recorded))))
            if exhibit.measured > 1:
                st.caption(f"The fastest of {exhibit.measured} subgraphs of the task that were measured.")
        else:
            st.info(
                "Not measured yet: no time of this bundle is recorded. Run it where there is a GPU to learn how fast it"
                " is. Without a GPU, a run compares its values only.",
                icon=":material/hourglass_empty:",
            )
        _said(exhibit.passes_on(subgraph.id), exhibit.bundle)
    with picture:
        graph_view(
            resources.graph(subgraph.code),
            title=f"Subgraph {subgraph.id}",
            **match_marks(exhibit.outcome.match if exhibit.outcome else None),
            inputs=subgraph.inputs,
            height=560,
            key=f"gallery {task.id}",
        )
    bundle_code(subgraph, exhibit.bundle, exhibit.outcome.match if exhibit.outcome else None)


def turning(exhibit: Exhibit, exhibits: Sequence[Exhibit]) -> None:
    """Draw the ways back to the list and to the bundles beside this one in it."""
    at = exhibits.index(exhibit)
    for label, icon, to in (
        ("All of the gallery", "arrow_back", None),
        ("Previous", "chevron_left", at - 1),
        ("Next", "chevron_right", at + 1),
    ):
        st.button(
            label,
            key=f"gallery-{label}",
            icon=f":material/{icon}:",
            disabled=to is not None and not 0 <= to < len(exhibits),
            on_click=links.select,
            args=(ENTRY, None if to is None else exhibits[to % len(exhibits)].task.id),
        )
    st.caption(f"{at + 1} of {len(exhibits)}")


def _start(task: Task, subgraph: Subgraph, bundle: Bundle) -> None:
    """Draw the button that opens the bundle in the Workbench, in a slot of its own."""
    if st.button(
        "Start from this one",
        key=f"start-{task.id}",
        type="primary",
        icon=":material/construction:",
        help="Opens the bundle in the Workbench as a separate draft. Your other passes stay as they are.",
    ):
        resources.service().add_bundle(bundle)
        drafting.open_stored(task, bundle.digest)
        place = {"task": task.id, "subgraph": subgraph.id, "bundle": bundle.digest}
        st.switch_page(links.script("workbench"), query_params=place)


def _said(shown: Sequence[PassFile], bundle: Bundle) -> None:
    """Show what the passes say of themselves: first of those that are shown, and folded of all others."""
    for file in shown:
        _docstring(file)
    others = [file for file in bundle.passes if file not in shown]
    if others:
        number = count(len(others), "other pass", "other passes")
        with st.expander(
            f"{number} of this bundle, for other ranks, dtypes or orders",
            icon=":material/description:",
        ):
            for file in others:
                _docstring(file)


def _docstring(file: PassFile) -> None:
    first, _, rest = docstring(file.code).partition("\n\n")
    st.markdown(f"**{plain(first or 'This pass has no description.')}** {plain(rest)}")
    st.caption(plain(file.name))


def _times(outcome: Outcome) -> None:
    """Show the times of eager, TorchInductor and the bundle, and when and where they were taken."""
    present = [who for who in Contender if outcome.timing(who, Clock.END_TO_END)]
    st.dataframe(
        [
            {
                "": "this bundle" if who is Contender.PASSES else outcome.spec.names[who],
                "× eager": "1" if who is Contender.EAGER else speedup_text(outcome, contender=who),
                "µs per call": figure(_median(outcome, who)),
                "µs in kernels": figure(kernels.median if (kernels := outcome.timing(who, Clock.KERNEL)) else None),
            }
            for who in present
        ],
        hide_index=True,
        width="stretch",
    )
    st.caption(RATIOS)
