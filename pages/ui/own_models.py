"""Asking for a model, following the search for passes, and its report."""

import ast
from collections.abc import Sequence

import streamlit as st

from pages.ui import frame, links, resources
from pages.ui.components import headline_words, long_code
from pages.ui.graphs import graph_view
from pages.ui.text import count, plain, seconds
from pages.ui.words import VERDICTS
from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records import BEYOND
from passnet_core.scoring.intervals import Interval
from passnet_core.whole_models.captured import ModelFile
from passnet_core.whole_models.choosing import RULES
from passnet_core.whole_models.report import WAYS, ModelReport, PassInModel, graph_of
from passnet_core.whole_models.searches import BUNDLE, SearchProgress, zipped_report
from passnet_core.whole_models.timing import TimingAnswer, Way

POLL_S = 1.0
LONGEST_CODE = 1_000_000
"""Most characters of the code that can be typed."""
GRAPH_HEIGHT = 620
EXAMPLE = """\
import torch


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.RMSNorm(width, eps=1e-6)
        self.gate = torch.nn.Linear(width, 2 * width, bias=False)
        self.up = torch.nn.Linear(width, 2 * width, bias=False)
        self.down = torch.nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y))


def make_model():
    model = torch.nn.Sequential(*(Block(256) for _ in range(4)))
    return model.eval(), torch.randn(8, 64, 256)
"""
CODE, UPLOADED, FACTORY, INPUTS = "model-code", "model-file", "model-factory", "model-inputs"


# --- asking ---


def ask() -> None:
    """Draw the form for a model, and the visitor's searches."""
    st.markdown(
        "Give a Python file with a function that returns a model and example inputs. The model is captured as"
        " `torch.compile` sees it. Bundles of the gallery, and passes that rules write for it, are judged on its own"
        " shapes; the accepted ones become one bundle for it."
    )
    st.caption(
        "The file runs in the judge's sandbox: without network, and without your files. Build the model from its"
        " configuration; what `pip` has installed here is there. The inputs are a tensor, a tuple of positional"
        " arguments, or a dict of keyword arguments."
    )
    with st.form("own-model", border=True):
        st.session_state.setdefault(CODE, EXAMPLE)
        st.text_area("Code", key=CODE, height=420, max_chars=LONGEST_CODE)
        with st.expander("Upload a file instead", icon=":material/upload_file:"):
            st.file_uploader("Python file", type=["py"], key=UPLOADED)
        left, right = st.columns(2)
        left.text_input(
            "Function that returns the model and the inputs",
            key=FACTORY,
            max_chars=outside.LONGEST_NAME,
            placeholder="the last one of the file",
        )
        right.text_input(
            "Function that returns the inputs",
            key=INPUTS,
            max_chars=outside.LONGEST_NAME,
            placeholder="none: the other one returns both",
        )
        st.form_submit_button("Find passes", type="primary", icon=":material/search:", on_click=_start)
    earlier(resources.service().searches.mine())


@frame.action
def _start() -> None:
    uploaded = st.session_state.get(UPLOADED)
    name, code = "model.py", str(st.session_state[CODE])
    if uploaded is not None:
        name = uploaded.name
        try:
            code = uploaded.getvalue().decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{name} is not a text file. Choose a file with Python code.") from error
    factory = str(st.session_state[FACTORY]).strip() or _last_function(code, name)
    file = ModelFile(code, name, factory, str(st.session_state[INPUTS]).strip())
    links.select("search", resources.service().searches.start(file))


def _last_function(code: str, name: str) -> str:
    """Return the name of the file's last function that needs no argument. Raises BadInput."""
    try:
        functions = [each for each in outside.syntax_tree(code).body if isinstance(each, ast.FunctionDef)]
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise BadInput(f"{name}{line}: this is not Python: {error}.") from error
    fitting = [each.name for each in functions if len(each.args.args) == len(each.args.defaults)]
    if not fitting:
        raise BadInput(f"{name} has no function without arguments. Add one that returns the model and its inputs.")
    return fitting[-1]


def earlier(searches: Sequence[SearchProgress]) -> None:
    """Draw a button for each of the visitor's searches."""
    if searches:
        st.markdown("**Your searches since the playground was started**")
    for each in searches:
        state = "under way" if not each.finished else "failed" if each.problem else "finished"
        label = f"{plain(each.file.factory)} of {plain(each.file.name)}: {state}"
        st.button(label, key=f"open-{each.id}", type="tertiary", on_click=links.select, args=("search", each.id))


# --- a search ---


def search(search_id: str) -> None:
    """Draw a search: its progress, or its report."""
    links.turn("Another model", icon=":material/arrow_back:")
    progress = resources.service().searches.progress(search_id)
    if not progress.finished:
        under_way(search_id)
    elif progress.report is not None:
        report(progress, progress.report)
    else:
        st.error(plain(progress.problem), icon=":material/error:", title="No passes were found")
        with st.expander("The file", icon=":material/code:"):
            long_code(progress.file.code, height=400, language="python")


@st.fragment(run_every=POLL_S)
def under_way(search_id: str) -> None:
    """Show a search until it finishes, then rerun the page."""
    with frame.errors_shown():
        progress = resources.service().searches.progress(search_id)
        if progress.finished:
            st.rerun()
        with st.container(border=True):
            for each in progress.steps[:-1]:
                st.caption(f":material/check: {plain(each.text)}")
            if progress.steps:
                now = progress.steps[-1]
                st.markdown(f"**:material/autorenew: {plain(now.text)}**")
                if now.total:
                    st.progress((now.done - 1) / now.total, text=f"{now.done} of {now.total}")
            st.button("Stop", icon=":material/stop_circle:", on_click=_stop, args=(search_id,), key=f"stop-{search_id}")


@frame.action
def _stop(search_id: str) -> None:
    resources.service().searches.cancel(search_id)


# --- the report ---


def report(progress: SearchProgress, found: ModelReport) -> None:
    """Draw what a search has found."""
    model = found.model
    st.subheader(plain(model.name), anchor=False)
    st.caption(
        f"{model.parameters:,} parameters · one call runs {count(model.operations, 'operation')} in"
        f" {count(len(model.graphs), 'graph')} · judged on {plain(found.device)}, {found.date} · took"
        f" {seconds(found.took_s)}"
    )
    for each in (*model.notes, *found.notes):
        st.caption(f":material/info: {plain(each)}")
    _figures(found)
    if found.bundle is not None:
        _use(progress, found)
    if found.timing is not None:
        _ways(found.timing)
    elif found.bundle is not None:
        st.caption(f":material/timer_off: The model was not timed. {plain(found.untimed)}")
    _values(found)
    st.markdown("#### Passes")
    _passes(found.passes)
    st.markdown("#### The whole model")
    _graphs(found)
    _gallery(found)
    if found.left:
        with st.expander("Left as it is", icon=":material/remove_done:"):
            for text in found.left:
                st.markdown(f"- {plain(text)}")


def _figures(found: ModelReport) -> None:
    columns = st.columns(4)
    columns[0].metric("Passes in the bundle", len(found.bundle.passes) if found.bundle else 0)
    columns[1].metric("Operations replaced", f"{found.covered:,} of {found.model.operations:,}")
    share = found.share_of_time()
    columns[2].metric("Of eager's kernel time", "not measured" if share is None else f"{share:.0%}")
    faster = found.timing.speedup(Way.PASSES, Way.EAGER) if found.timing else None
    columns[3].metric("Times as fast as eager", "not measured" if faster is None else f"{faster.value:.2f}")


def _use(progress: SearchProgress, found: ModelReport) -> None:
    folder = progress.folder / BUNDLE
    st.code(
        "from passnet_core.integrate import backend\n"
        f'model = torch.compile(model, backend=backend("{folder}"))  # or rest="inductor"',
        language="python",
    )
    st.download_button(
        "Download the bundle and the report",
        data=lambda: zipped_report(progress.folder),
        file_name=f"{found.model.name}-passes.zip",
        mime="application/zip",
        icon=":material/download:",
        on_click="ignore",
    )


def _ways(timing: TimingAnswer) -> None:
    rows = [
        {
            "way": WAYS[each.way],
            "ms a call": None if each.median_s is None else each.median_s * 1e3,
            "× eager": _interval(timing.speedup(each.way, Way.EAGER)),
            "× Inductor": _interval(timing.speedup(each.way, Way.INDUCTOR)),
            "× Inductor in a CUDA graph": _interval(timing.speedup(each.way, Way.GRAPHS)),
            "matches": each.matches or None,
            "problem": each.problem,
        }
        for each in timing.ways
    ]
    order = [name for name in rows[0] if name != "problem" or any(row["problem"] for row in rows)]
    st.dataframe(
        rows,
        hide_index=True,
        column_order=order,
        placeholder="–",
        column_config={"ms a call": st.column_config.NumberColumn("ms a call", format="%.3f")},
    )
    st.caption(
        f"{plain(timing.device)}: medians of {len(timing.ways[0].seconds)} rounds, in each of which every way ran"
        f" {timing.calls} calls in a row. Ratios are within rounds, with their 95% interval."
    )


def _interval(found: Interval | None) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})" if found else ""


def _values(found: ModelReport) -> None:
    for each in found.whole:
        words = VERDICTS[each.verdict]
        name = f"Graph {graph_of(each)} as a whole" if len(found.model.graphs) > 1 else "The whole graph"
        levels = [output.level for output in each.accuracy.outputs] if each.accuracy else []
        at = f"Smallest t of its outputs: {', '.join(map(str, levels))}." if levels else ""
        st.markdown(
            f":{words.tone}[:material/{words.icon}:] **{name}, with all passes: {plain(headline_words(each))}.**"
            f" {plain(each.reason)} {plain(at)}"
        )
    compared = [each for each in (found.timing.ways if found.timing else ()) if each.correct_at is not None]
    if compared:
        said = ", ".join(
            f"{WAYS[each.way]}: {BEYOND if each.smallest_t is None else f't = {each.smallest_t}'}"
            for each in compared
            if each.way is not Way.EAGER
        )
        st.caption(f"Closeness to eager on the example inputs. {plain(said)}")


def _passes(passes: Sequence[PassInModel]) -> None:
    if not passes:
        st.info("No pass matches in this model.")
        return
    rows = [
        {
            "pass": each.name,
            "from": "rules, for this model" if each.origin == RULES else each.origin,
            "matches": len(each.parts),
            "operations": max((len(part.nodes) for part in each.parts), default=0),
            "verdict": each.verdicts,
            "saves µs a call": each.saved_us(),
            "in the bundle": not each.left_out,
            "why not": each.left_out,
            "task": f"/workbench?task={each.task.id}" if each.task.subgraphs else None,
        }
        for each in passes
    ]
    timed = any(row["saves µs a call"] is not None for row in rows)
    refused = any(row["why not"] for row in rows)
    hidden = {*(() if timed else ("saves µs a call",)), *(() if refused else ("why not",))}
    st.dataframe(
        rows,
        hide_index=True,
        column_order=[name for name in rows[0] if name not in hidden],
        placeholder="–",
        column_config={
            "saves µs a call": st.column_config.NumberColumn("saves µs a call", format="%.1f"),
            "task": st.column_config.LinkColumn("task", display_text=r"task=(.*)"),
        },
    )


def _graphs(found: ModelReport) -> None:
    names = [each.name for each in found.kept]
    groups: list[dict[str, int]] = [{} for _ in found.model.graphs]
    for number, each in enumerate(found.kept, 1):
        for part in each.parts:
            groups[part.graph].update(dict.fromkeys(part.nodes, number))
    places = range(len(found.model.graphs))
    chosen = 0
    if len(places) > 1:
        chosen = st.selectbox("Graph", places, format_func=lambda place: _graph_words(found, place), key="graph-shown")
    graph = found.model.graphs[chosen]
    graph_view(
        graph.graph,
        title=f"Graph {chosen}" if len(places) > 1 else found.model.name,
        groups=groups[chosen],
        passes=names,
        inputs=graph.inputs,
        values={spec.name: (spec.shape, spec.dtype) for spec in graph.values},
        height=GRAPH_HEIGHT,
    )


def _graph_words(found: ModelReport, place: int) -> str:
    graph = found.model.graphs[place]
    often = f", called {graph.calls} times" if graph.calls > 1 else ""
    return f"{place}: {count(len(graph.graph.operations), 'operation')}{often}"


def _gallery(found: ModelReport) -> None:
    title = f"Matches of the gallery: {count(len(found.gallery), 'bundle')}"
    with st.expander(title, icon=":material/collections_bookmark:"):
        rows = [
            {"bundle": each.name, "passes": ", ".join(each.passes), "matches": each.matches, "used": each.used}
            for each in sorted(found.gallery, key=lambda each: (not each.used, -each.matches))
        ]
        st.dataframe(rows, hide_index=True)
