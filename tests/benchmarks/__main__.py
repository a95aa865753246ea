"""python -m tests.benchmarks prints the playground's figures as a table. They are no tests, since machines differ."""

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.packs import write_pack
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.lessons.grading import graded, lesson_spec
from passnet_core.records import (
    Bundle,
    ErrorClass,
    EvalSpec,
    Family,
    Job,
    Outcome,
    PassFile,
    Stage,
    Subgraph,
    Task,
    TensorSpec,
    Verdict,
)
from passnet_core.scoring.scores import LEVELS, Interpretation, SampleTable, error_aware_score
from passnet_core.service import course_of, read_references
from passnet_core.settings import read_settings
from passnet_core.store.base import FILE
from passnet_core.store.opening import open_store
from passnet_core.store.rows import RunFile
from tests.benchmarks.graphs import graph_figures
from tests.benchmarks.verdicts import edited
from tests.conftest import chromium, missing_browser
from tests.contract.made import BUNDLE, job, outcome, run_of
from tests.contract.model_server import Said, saying, serving

if TYPE_CHECKING:  # the other figures need no browser
    from playwright.sync_api import Browser

PROJECT = Path(__file__).resolve().parents[2]
OUTCOMES = 100_000
TASKS = 20_000
WAIT_S = 120
REPEATS = 5
TALKS = 20
READING_S = 8.0
"""How long a person reads at least before the first grade in a lesson."""

CHAIN = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
{lines}
        return (x_29,)
"""
RELU_ADD = """import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a) + b


def replacement_args(a, b):
    return (a, b)


@triton.jit
def kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.maximum(tl.load(a + at, mask), 0.0) + tl.load(b + at, mask), mask)


@torch.fx.wrap
def relu_add(a, b):
    out = torch.empty_like(a)
    kernel[(triton.cdiv(a.numel(), 1024),)](a, b, out, a.numel(), BLOCK=1024)
    return out


def replacement_func():
    return relu_add
"""


@dataclass(frozen=True)
class Figure:
    """A row of the table. seconds None: it was not measured, and the note says why."""

    what: str
    aim_s: float | None
    seconds: float | None
    note: str = ""


def chain() -> Subgraph:
    """Return a graph of 30 operations, alternately relu and add."""
    lines = []
    for number in range(30):
        before = f"x_{number - 1}" if number else "in_0"
        call = f"torch.nn.functional.relu({before})" if number % 2 == 0 else f"{before} + in_1"
        lines.append(f"        x_{number} = {call}")
    spec = TensorSpec("in_0", (64, 64), "float32", mean=0.0, std=1.0)
    return Subgraph(
        "float32/0", "chain", "none", CHAIN.format(lines="\n".join(lines)), (spec, replace(spec, name="in_1"))
    )


def judging() -> Iterator[Figure]:
    settings = read_settings()
    with tempfile.TemporaryDirectory() as folder:
        backend = LocalBackend(settings.python, settings.isolation, Path(folder))
        try:
            check = Job(chain(), Bundle((PassFile("ReluAdd.py", RELU_ADD),)), EvalSpec(stage=Stage.CHECK))
            yield _judged("CHECK, 30 operations, cold", None, backend, lambda _: check, repeats=1)
            # another bundle each time, as if a person were typing
            yield _judged("CHECK, 30 operations, warm", 0.2, backend, lambda number: edited(check, number))
            what = "CHECK, 30 operations, edits 0.5 s apart"
            yield _judged(what, 0.2, backend, lambda number: edited(check, number), repeats=10, pause_s=0.5)
            references, _ = read_references(settings.data / "bundles")
            if not references:
                yield Figure("VERIFY on CPU, warm", 3.0, None, "no reference bundle in the data folder")
                return
            chosen = next((each for each in references if "gelu" in each.name), references[0])
            subgraph = Corpus([settings.data / "tasks"]).task(chosen.task_ids[0]).subgraphs[0]
            verify = Job(subgraph, chosen.bundle, EvalSpec(stage=Stage.VERIFY))
            yield _judged(f"VERIFY {chosen.name} on CPU, cold", None, backend, lambda _: verify, repeats=1)
            yield _judged(f"VERIFY {chosen.name} on CPU, warm", 3.0, backend, lambda number: edited(verify, number))
        finally:
            backend.close()


def _judged(
    what: str,
    aim_s: float | None,
    backend: LocalBackend,
    job_of: Callable[[int], Job],
    *,
    repeats: int = REPEATS,
    pause_s: float = 3.0,
) -> Figure:
    """Return the median over several jobs. pause_s: how long a person waits between two; the judge may prepare then."""
    seconds: list[float] = []
    for number in range(repeats):
        if number:
            time.sleep(pause_s)
        start = time.perf_counter()
        judged: Outcome = backend.run(job_of(number), lambda event: None, threading.Event())
        seconds.append(time.perf_counter() - start)
        if not judged.verdict.accepted:
            return Figure(what, aim_s, None, f"{judged.verdict.value}: {judged.reason}"[:100])
    return Figure(
        what,
        aim_s,
        statistics.median(seconds),
        f"median of {repeats} edits, {pause_s:g} s apart; the slowest took {max(seconds):.2f} s" if repeats > 1 else "",
    )


def grading() -> Iterator[Figure]:
    """Grades of the solutions of all lessons on a judge that has judged before: the first lesson's second one, and the
    first one of every other."""
    settings = read_settings()
    what = "grade of a lesson's solution"
    with tempfile.TemporaryDirectory() as folder:
        backend = LocalBackend(settings.python, settings.isolation, Path(folder))
        try:
            taken: dict[str, float] = {}
            lessons = course_of(settings).lessons
            # the first one again: what came before it was cold
            for lesson in [*lessons, lessons[0]]:
                time.sleep(READING_S)
                start = time.perf_counter()
                jobs = jobs_of(lesson.task, lesson.solution, lesson_spec(), None)
                outcomes = [backend.run(each, lambda event: None, threading.Event()) for each in jobs]
                taken[f"{lesson.id}, {len(jobs)} variants"] = time.perf_counter() - start
                if not graded(lesson, outcomes).passed:
                    yield Figure(what, 5.0, None, f"{lesson.id} does not pass")
                    return
        finally:
            backend.close()
    longest = max(taken, key=lambda name: taken[name])
    told = f"median of {len(taken)} lessons; the longest took {taken[longest]:.2f} s ({longest})"
    yield Figure(what, 5.0, statistics.median(taken.values()), told)


def scoring() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder))
        verdicts = (Verdict.FASTER, Verdict.SLOWER, Verdict.WRONG_VALUES, Verdict.CRASHED)
        one = job()
        kinds = [outcome(one, verdict, speedup=0.5 + number) for number, verdict in enumerate(verdicts)]
        size = 10_000
        for number in range(OUTCOMES // size):
            run = replace(run_of(one, run_id=f"run-{number}"), job_digests=(one.digest,) * size, recorded="benchmark")
            store.import_runs("", (RunFile(run, (BUNDLE,), tuple(kinds[place % 4] for place in range(size))),))
        store.close()
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            table = _stored_samples(Path(folder))
            for t in LEVELS[Interpretation.DEFAULT]:
                error_aware_score(table, t)
            seconds.append(time.perf_counter() - start)
        assert len(table) == OUTCOMES
    yield Figure(f"ES(t) at 15 levels over {OUTCOMES:,} outcomes", 0.3, statistics.median(seconds), "from the store")


def _stored_samples(home: Path) -> SampleTable:
    """All scored outcomes of a store that no process has open."""
    codes = {each.value: code for code, each in enumerate(ErrorClass)}
    codes[""] = codes[ErrorClass.ACCURACY.value]
    with duckdb.connect(home / FILE, read_only=True) as connection:
        rows = connection.execute(
            "SELECT coalesce(speedup, 'nan'::DOUBLE), correct_bits, coalesce(error_class, '') FROM outcomes"
            " WHERE judged AND stage = 'measure' AND (speedup IS NOT NULL OR error_class IS NOT NULL)"
        ).fetchall()
    speedups, correct, errors = zip(*rows)
    timed = ~np.isnan(speedups)
    return SampleTable(
        np.log(np.where(timed, speedups, 1.0)),
        np.where(timed, np.array(correct, dtype=np.int64), 0),
        np.array([codes[each] for each in errors], dtype=np.int8),
    )


def first_paint() -> Iterator[Figure]:
    """Measure a cold start, from starting the app to the first heading in a browser that is already open."""
    what = "app, cold start to first paint"
    missing = missing_browser()
    if missing:
        yield Figure(what, 2.0, None, missing)
        return
    with _browser() as browser, tempfile.TemporaryDirectory() as folder:
        for kind in ("first start ever", "later start"):
            page = browser.new_page()
            start = time.perf_counter()
            with _app(Path(folder)) as address:
                page.goto(address, wait_until="commit")
                page.get_by_role("heading").first.wait_for(timeout=WAIT_S * 1000)
                seconds = time.perf_counter() - start
            page.close()
            yield Figure(f"{what}, {kind}", 2.0, seconds)


def browsing() -> Iterator[Figure]:
    """Measure Explore with very many tasks in a running app: opening it in a new page, and filtering by a chip."""
    what = f"Explore with {TASKS:,} more tasks"
    missing = missing_browser()
    if missing:
        yield Figure(what, None, None, missing)
        return
    with _browser() as browser, tempfile.TemporaryDirectory() as folder:
        write_pack(Path(folder) / "tasks" / "many.jsonl.gz", _many_tasks())
        start = time.perf_counter()
        Corpus([Path(folder) / "tasks"])
        yield Figure(f"opening a corpus of {TASKS:,} tasks", None, time.perf_counter() - start)
        with _app(Path(folder)) as address:
            paints, changes = [], []
            for turn in range(REPEATS + 1):
                paint, found = _explored(browser, address, ("float16", "float32"))
                changes += found
                if turn:  # the first visit also warms up the app
                    paints.append(paint)
    yield Figure(f"{what}, first paint", 1.5, statistics.median(paints))
    yield Figure(f"{what}, a filter change", 0.2, statistics.median(changes))


def talking() -> Iterator[Figure]:
    """Measure Explore during many conversations with a scripted model, and count the conversations with all turns."""
    what = f"a filter change, {TALKS} conversations at once"
    missing = missing_browser()
    if missing:
        yield Figure(what, None, None, missing)
        return
    guide = Said("word " * 60, [("read_guide", '{"page": "limits"}')], pause_s=0.05)
    with (
        serving({"scripted": saying(guide)}) as server,
        _browser() as browser,
        tempfile.TemporaryDirectory() as folder,
    ):
        variables = {"OPENAI_BASE_URL": server.base_url, "PASSNET_MODEL": "scripted"}
        with _app(Path(folder), variables) as address:
            _, before = _explored(browser, address, ("float16", "float32") * REPEATS)
            for task_id, attempts in (("swiglu-gate", 8), ("clip-quick-gelu", 8), ("rmsnorm", TALKS - 16)):
                page = browser.new_page()
                page.goto(f"{address}/workbench?task={task_id}&talk=new")
                page.get_by_label("Attempts at once").fill(str(attempts))
                page.get_by_label("Attempts at once").press("Tab")
                page.get_by_text("let the judge run what its model writes").click()
                page.get_by_role("button", name="Start", exact=True).click()
                page.get_by_text(re.compile("waiting for the model|the model is writing")).first.wait_for()
            _, during = _explored(browser, address, ("float16", "float32") * REPEATS)
            deadline = time.monotonic() + WAIT_S
            with contextlib.closing(open_store(Path(folder))) as store:
                while True:
                    held = [each for each in store.trajectories(1000, None) if not each.opening.recorded]
                    if all(each.ending for each in held) or time.monotonic() > deadline:
                        break
                    time.sleep(0.5)
        whole = sum(each.ending is not None and each.turns == each.opening.budget.turns for each in held)
    yield Figure("a filter change on Explore, the bundled tasks", 0.2, statistics.median(before))
    yield Figure(what, None, statistics.median(during), f"{whole} of {len(held)} conversations have all their turns")


CLOCKED = """shown => {
  const told = () => [...document.querySelectorAll(".stMain p")].map(each => each.textContent);
  addEventListener("click", () => {
    const clicked = performance.now();
    const changes = new MutationObserver(() => {
      if (told().includes(shown)) return;
      changes.disconnect();
      requestAnimationFrame(() => { window.clocked = performance.now() - clicked; });
    });
    changes.observe(document.body, { subtree: true, childList: true, characterData: true });
  }, { capture: true, once: true });
}"""
"""Records the milliseconds from the next click to the first frame without a paragraph of just this text."""


def _explored(browser: "Browser", address: str, dtypes: Sequence[str]) -> tuple[float, list[float]]:
    """Return the seconds to the first paint of Explore in a new page, and for each of these chips the seconds from the
    click to the new number of tasks, by the page's own clock."""
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(f"{address}/explore", wait_until="commit")
    caption = page.get_by_text(re.compile(r"^(?:[\d,]+ of )?[\d,]+ tasks"))
    caption.wait_for(timeout=WAIT_S * 1000)
    paint = time.perf_counter() - start
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for(timeout=WAIT_S * 1000)
    page.get_by_role("button", name="Filters").click()
    changes = []
    for dtype in dtypes:
        page.locator("[data-test-script-state=notRunning]").wait_for(timeout=WAIT_S * 1000)
        page.evaluate(CLOCKED, caption.text_content())
        page.get_by_test_id("stButtonGroup").get_by_text(dtype, exact=True).first.click()
        changes.append(page.wait_for_function("window.clocked").json_value() / 1000)
        page.evaluate("delete window.clocked")
    page.close()
    return paint, changes


def _many_tasks() -> Iterator[Task]:
    """Yield the bundled subgraphs over and over, each as a task with a name of its own."""
    corpus = Corpus([PROJECT / "data" / "tasks"])
    subgraphs = [each for summary in corpus.tasks() for each in corpus.task(summary.id).subgraphs]
    for number in range(TASKS):
        name = f"task-{number:05}"
        subgraph = replace(subgraphs[number % len(subgraphs)], task_id=name)
        yield Task(name, Family.FUSIBLE, ("learn", "train", "eval")[number % 3], (subgraph,))


@contextlib.contextmanager
def _browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@contextlib.contextmanager
def _app(home: Path, variables: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run the app in a process of its own and yield its address once it answers."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", "0"]
    environment = os.environ | {"PASSNET_HOME": str(home), "PYTHONUNBUFFERED": "1"} | dict(variables or {})
    app = subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert app.stdout is not None
        port = next((found[1] for line in app.stdout if (found := re.search(r"http://[^/\s]+:(\d+)", line))), None)
        if port is None:
            raise SystemExit("The app did not start.")
        threading.Thread(target=app.stdout.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}"
    finally:
        app.terminate()
        app.wait(WAIT_S)


def main() -> None:
    print(f"{'figure':58} {'aim':>8} {'measured':>10}")
    for figures in (scoring, judging, grading, first_paint, browsing, talking):
        for figure in figures():
            aim = "" if figure.aim_s is None else f"{figure.aim_s:.1f} s"
            measured = "not run" if figure.seconds is None else f"{figure.seconds:.2f} s"
            print(f"{figure.what:58} {aim:>8} {measured:>10}  {figure.note}".rstrip(), flush=True)
    for what, aim, measured in graph_figures():
        print(f"{what:58} {aim:>8} {measured:>10}", flush=True)


if __name__ == "__main__":
    main()
