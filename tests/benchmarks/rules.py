"""python -m tests.benchmarks.rules times what the rules write on the core, beside eager and TorchInductor.

Each callable is called in a tight loop, with a synchronisation after each call, on inputs that stay the same, and all
of a subgraph take turns in one process. Values are compared with eager's on one draw. It takes minutes where the judge
takes more than an hour, and proves less: caches stay warm, and nothing is guarded. --read prints the tables of files
that --out has written.
"""

import argparse
import contextlib
import fcntl
import json
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import torch

from passnet_core.corpus.core import core
from passnet_core.corpus.solved import read_solved
from passnet_core.graphs import placement, source
from passnet_core.graphs.rewriting import rewrite
from passnet_core.judge.protocol.messages import Preparation
from passnet_core.judge.worker import building
from passnet_core.operations.binding import bind
from passnet_core.records import Baseline, Bundle, Capture, Contender, Device, Task
from passnet_core.scoring.scores import Sample
from passnet_core.scoring.tolerances import tolerance
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from tests.benchmarks.tight_loop import inputs_of, times_us
from tests.loading import Loaded, loaded
from tests.scores import aggregate_score
from tests.shares import share_of

WARM_UP_S, SECONDS, ROUNDS = 0.03, 0.03, 3
LEVELS = range(-10, 5)
Call = Callable[[list[Any]], Any]

WAYS: Mapping[str, tuple[Contender, Capture, Baseline]] = {
    "eager": (Contender.EAGER, Capture.DIRECT, Baseline.INDUCTOR),
    "rules": (Contender.PASSES, Capture.DIRECT, Baseline.INDUCTOR),
    "inductor": (Contender.BASELINE, Capture.DIRECT, Baseline.INDUCTOR),
    "eager-rounding": (Contender.BASELINE, Capture.DIRECT, Baseline.EAGER_ROUNDING),
    "rules, compiled": (Contender.PASSES, Capture.COMPILED, Baseline.INDUCTOR),
    "inductor, compiled": (Contender.BASELINE, Capture.COMPILED, Baseline.INDUCTOR),
    "eager-rounding, compiled": (Contender.BASELINE, Capture.COMPILED, Baseline.EAGER_ROUNDING),
}
"""Every way to call a subgraph. Speedups are those over eager without Dynamo, the smallest time there is."""


@dataclass
class Row:
    """A subgraph. us: microseconds a call by way. level: the least t from which on values are right; 5: from none.
    problems: by way, why there is no time."""

    task: str
    subgraph: str
    family: str
    operations: int
    us: dict[str, float] = field(default_factory=dict)
    level: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def speedup(self, way: str) -> float | None:
        return self.us["eager"] / self.us[way] if {"eager", way} <= self.us.keys() else None

    def sample(self, way: str) -> Sample:
        speedup = self.speedup(way)
        right = () if speedup is None else range(self.level.get(way, max(LEVELS) + 1), max(LEVELS) + 1)
        return Sample(speedup, frozenset(right))


# --- one subgraph ---


def measured(task: Task, bundle: Bundle | None, lock: Path) -> Row:
    """Time all ways to call the task's subgraph. lock: the file whose lock says that nobody else is timing."""
    subgraph = task.subgraphs[0]
    graph = placement.placed(source.parse(subgraph.code), "cuda")
    row = Row(task.id, subgraph.id, task.family.value, len(graph.operations))
    inputs = inputs_of(subgraph, Device.CUDA)
    calls: dict[str, Call] = {}
    with contextlib.ExitStack() as open_bundle, torch.no_grad():
        passes = open_bundle.enter_context(loaded(bundle, "cuda")) if bundle else Loaded([], {})
        rewritten = rewrite(graph, passes.traced, bind=bind).graph
        wanted = None
        for way, (contender, capture, baseline) in WAYS.items():
            if contender is Contender.PASSES and bundle is None:
                continue
            text = source.emit(rewritten if (contender, capture) == WAYS["rules"][:2] else graph)
            preparation = Preparation(contender, text, capture, Device.CUDA, baseline=baseline)
            try:
                call = building.prepared(preparation, passes.traced, passes.functions)
                found = call([each.clone() if isinstance(each, torch.Tensor) else each for each in inputs])
                torch.cuda.synchronize()
            except Exception as problem:  # a way that fails is a row of the table
                row.problems[way] = f"{problem}"[-400:] or traceback.format_exc()[-400:]
                continue
            wanted = found if way == "eager" else wanted
            row.level[way] = level_of(wanted, found)
            calls[way] = call
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            rounds = [{way: tight_us(call, inputs) for way, call in calls.items()} for _ in range(ROUNDS)]
    row.us = {way: min(each[way] for each in rounds) for way in calls}
    return row


def level_of(wanted: Any, found: Any) -> int:
    """The least t at which all outputs are close to eager's, as far as the table of t goes; otherwise one more."""
    one, other = (value if isinstance(value, tuple | list) else (value,) for value in (wanted, found))
    return max((_level(a, b) for a, b in zip(one, other)), default=min(LEVELS))


def _level(wanted: Any, found: Any) -> int:
    if not isinstance(wanted, torch.Tensor):
        return min(LEVELS) if wanted == found else max(LEVELS) + 1
    if wanted.dtype != found.dtype or wanted.shape != found.shape:
        return max(LEVELS) + 1
    for t in LEVELS:
        allowed = tolerance(str(wanted.dtype), t)
        if torch.allclose(found, wanted, rtol=allowed.rtol, atol=allowed.atol, equal_nan=True):
            return t
    return max(LEVELS) + 1


def tight_us(call: Call, inputs: list[Any]) -> float:
    """The median time of a call in microseconds."""
    times_us(call, inputs, WARM_UP_S)
    return median(times_us(call, inputs, SECONDS))


# --- tables ---


def told(rows: Sequence[Row]) -> Iterator[str]:
    """The tables of these rows, as Markdown."""
    yield f"{len(rows)} subgraphs."
    yield "\n| over eager | AS | geometric mean | slower by more than 3 % | within t = −5 | within t = 0 | failed |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for way in WAYS:
        speedups = [each for row in rows if (each := row.speedup(way)) is not None]
        if way == "eager" or not speedups:
            continue
        right = [sum(row.level.get(way, 9) <= t for row in rows) for t in (-5, 0)]
        yield (
            f"| {way} | {aggregate_score([row.sample(way) for row in rows]):.3f} | {geometric_mean(speedups):.3f}"
            f" | {sum(each < 1 / 1.03 for each in speedups)} | {right[0]} | {right[1]} | {len(rows) - len(speedups)} |"
        )
    yield "\n| family | subgraphs | rules | Inductor | keeping eager's roundings | rules fastest |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for family in sorted({row.family for row in rows}):
        own = [row for row in rows if row.family == family and row.speedup("rules") is not None]
        if not own:
            continue
        means = []
        for way in ("rules", "inductor", "eager-rounding"):
            given = [each for row in own if (each := row.speedup(way)) is not None]
            means.append(f"{geometric_mean(given):.2f}" if given else "")
        fastest = sum(row.us["rules"] <= min(row.us[way] for way in row.us if "," not in way) for row in own)
        yield f"| {family} | {len(own)} | {' | '.join(means)} | {fastest} |"
    yield "\n| subgraph | operations | eager, µs | rules | Inductor | keeping eager's roundings | right from t |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for row in sorted(rows, key=lambda row: row.speedup("rules") or 0):
        cells = [f"{row.us[way]:.1f}" if way in row.us else "" for way in ("rules", "inductor", "eager-rounding")]
        cells = [f"{row.task} {row.subgraph}", str(row.operations), f"{row.us['eager']:.1f}", *cells]
        yield f"| {' | '.join(cells)} | {row.level.get('rules', '')} |"
    for row in rows:
        yield from (f"\n{row.task}, {way}: {problem}" for way, problem in row.problems.items())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.rules", description=__doc__)
    parser.add_argument("--out", type=Path, help="write the rows as JSON lines, and make those that are missing")
    parser.add_argument("--read", type=Path, nargs="+", help="print the tables of these files, and measure nothing")
    parser.add_argument("--only", nargs="+", metavar="TASK", help="only tasks whose names contain one of these words")
    parser.add_argument("--processes", type=int, default=1, help="so many compile at once; one at a time is timed")
    parser.add_argument("--share", default="1/1", help="which share of the subgraphs, such as 2/4")
    options = parser.parse_args()
    if options.read:
        lines = [line for path in options.read for line in path.read_text().splitlines()]
        print("\n".join(told([Row(**json.loads(line)) for line in lines])))
        return 0
    lock = Path(tempfile.gettempdir()) / "passnet-benchmark.lock"
    if options.processes > 1:
        out = options.out or Path(tempfile.mkdtemp()) / "rows.jsonl"
        command = [sys.executable, "-m", "tests.benchmarks.rules", "--out", str(out)]
        command += ["--only", *options.only] if options.only else []
        shares = (f"{place + 1}/{options.processes}" for place in range(options.processes))
        started = [subprocess.Popen([*command, "--share", share], stdout=subprocess.DEVNULL) for share in shares]
        code = max(each.wait() for each in started)
        print("\n".join(told([Row(**json.loads(line)) for line in out.read_text().splitlines()])))
        return code
    done = set()
    if options.out and options.out.exists():
        done = {json.loads(line)["task"] for line in options.out.read_text().splitlines()}
    bundles = read_solved(read_settings().rules_file)
    tasks = core(corpus_of(read_settings()))[share_of(options.share)]
    if options.only:
        tasks = tuple(each for each in tasks if any(word in each.id for word in options.only))
    rows = []
    for task in (each for each in tasks if each.id not in done):
        rows.append(measured(task, bundles.get(task.id), lock))
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(asdict(rows[-1])) + "\n")
        torch.cuda.empty_cache()
    print("\n".join(told(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
