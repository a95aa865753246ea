"""python -m tests.benchmarks.cost_model compares the rules' cost model with recorded speedups of their bundles.

The records are the judge's times in data/baselines: end to end, on one subgraph of each of many tasks. Predicted is
what the rules write for these today, which may differ from the recorded bundle. It takes some seconds, and no GPU."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation, median

from passnet_core.corpus.catalogue import Corpus
from passnet_core.records import Outcome, Task
from passnet_core.service import corpus_of
from passnet_core.settings import BUNDLED_DATA, read_settings
from passnet_core.solvers.rules.candidates import candidates
from passnet_core.solvers.rules.costs import Estimate
from passnet_core.solvers.rules.solver import WrittenBundle, written
from tests.benchmarks.recorded import outcomes_of

RECORDED = BUNDLED_DATA / "baselines" / "h200-rules-direct.jsonl.gz"
FARTHEST = 10
"""So many subgraphs of which the prediction is farthest off are named."""


@dataclass(frozen=True)
class Prediction:
    """How many times eager's speed a subgraph has by the cost model and by the judge.

    same: the rules still write the bundle that was judged."""

    task: str
    subgraph: str
    predicted: float
    measured: float
    same: bool

    @property
    def ratio(self) -> float:
        return self.predicted / self.measured


def predictions(corpus: Corpus, outcomes: Sequence[Outcome]) -> Iterator[Prediction]:
    """The subgraphs of those of these outcomes that have times."""
    for outcome in outcomes:
        if (speedup := outcome.speedup()) is None:
            continue
        found = _written_as(corpus.task(outcome.task_id), outcome.bundle_digest)
        predicted = Estimate([surveyed for surveyed, _ in found.cuts], found.forms).speedups()
        yield Prediction(
            outcome.task_id,
            outcome.subgraph_id,
            predicted[outcome.subgraph_id],
            speedup.value,
            found.bundle.digest == outcome.bundle_digest,
        )


def _written_as(task: Task, digest: str | None) -> WrittenBundle:
    """The candidate with this digest, or the first one if there is none."""
    first = written(task)
    if first.bundle.digest == digest:
        return first
    return next((each.written for each in candidates(task) if each.bundle.digest == digest), first)


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value in ascending order; equal values share the mean of their places."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def told(rows: Sequence[Prediction]) -> Iterator[str]:
    """The comparison as Markdown."""
    ratios = sorted(row.ratio for row in rows)
    rank = correlation(ranks([row.predicted for row in rows]), ranks([row.measured for row in rows]))
    yield "| figure | |"
    yield "| --- | ---: |"
    yield f"| subgraphs | {len(rows)} |"
    yield f"| of bundles that the rules still write | {sum(row.same for row in rows)} |"
    yield f"| Spearman's rank correlation | {rank:.2f} |"
    yield f"| predicted over measured, median | {median(ratios):.2f} |"
    yield f"| the same, middle half | {ratios[len(ratios) // 4]:.2f} to {ratios[-1 - len(ratios) // 4]:.2f} |"
    yield f"| on the same side of 1 | {sum((row.predicted > 1) == (row.measured > 1) for row in rows)} |"
    yield "\n| farthest off | predicted | measured |"
    yield "| --- | ---: | ---: |"
    for row in sorted(rows, key=lambda row: max(row.ratio, 1 / row.ratio), reverse=True)[:FARTHEST]:
        yield f"| {row.task} {row.subgraph} | {row.predicted:.2f} | {row.measured:.2f} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.cost_model", description=__doc__)
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="a file of runs (default: %(default)s)")
    options = parser.parse_args()
    outcomes = outcomes_of([options.recorded])
    print("\n".join(told(list(predictions(corpus_of(read_settings()), outcomes)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
