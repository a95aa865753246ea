"""python -m tests.benchmarks.estimates compares estimated times of passes with recorded ones; --fit fits anew.

Fitted is on the half of the bundled tasks that whoever works on the rules may look at; the other half tells the error.
Recorded are the reference bundles and those of the rules, on one subgraph of each task. It takes some seconds."""

import argparse
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median, quantiles

import numpy as np

from passnet_core.advice.estimated_time import RATES, CallWork, EagerTime, Rates, estimated_us, work_of
from passnet_core.graphs import source
from passnet_core.records import Clock, Contender, Outcome
from passnet_core.service import corpus_of
from passnet_core.settings import BUNDLED_DATA, read_settings
from tests.benchmarks.recorded import KEPT, SEEN, outcomes_of, part_of

RECORDED = tuple(BUNDLED_DATA / "baselines" / f"h200-{name}.jsonl.gz" for name in ("rules-direct", "references"))
MOST_COUNTED = 0.3
"""An error counts as this much at most when rates are fitted: a kernel may be slow for reasons of its own."""
TRIES, STARTS = 8_000, 4


@dataclass(frozen=True)
class Call:
    """A recorded call of passes that replace all operations, with eager's."""

    task: str
    work: CallWork
    eager: EagerTime
    measured_us: float

    def estimate(self, rates: Rates) -> float:
        return estimated_us(self.work, self.eager, rates)

    def error(self, rates: Rates) -> float:
        return abs(self.estimate(rates) / self.measured_us - 1)


def calls(paths: Sequence[Path]) -> Iterator[Call]:
    corpus = corpus_of(read_settings())
    for outcome in outcomes_of(paths):
        measured, eager = (_us(outcome, each, Clock.END_TO_END) for each in (Contender.PASSES, Contender.EAGER))
        graph = source.parse(corpus.task(outcome.task_id).subgraph(outcome.subgraph_id).code)
        work = work_of(outcome, graph, {})
        if work is not None and measured is not None and eager is not None:
            yield Call(outcome.task_id, work, EagerTime(eager, _us(outcome, Contender.EAGER, Clock.KERNEL)), measured)


def _us(outcome: Outcome, contender: Contender, clock: Clock) -> float | None:
    timing = outcome.timing(contender, clock)
    return timing.median if timing else None


def fitted(known: Sequence[Call]) -> Rates:
    """The rates with the least mean error, by a random search that is always the same."""
    chance, found = np.random.default_rng(0), []
    for _ in range(STARTS):
        rates, step = np.array(astuple(RATES)), 0.3
        best = _mean_error(known, rates)
        for _ in range(TRIES):
            tried = rates * np.exp(chance.normal(0, step, len(rates)) * (chance.random(len(rates)) < 0.3))
            if (error := _mean_error(known, tried)) < best:
                rates, best = tried, error
            step = max(0.01, step * 0.9996)
        found.append((best, tuple(rates)))
    return Rates(*map(float, min(found)[1]))


def _mean_error(known: Sequence[Call], rates: Iterable[float]) -> float:
    tried = Rates(*rates)
    return float(np.mean([min(each.error(tried), MOST_COUNTED) for each in known]))


def told(known: Sequence[Call], rates: Rates) -> Iterator[str]:
    """The table. Errors are shares of the measured times."""
    yield "| part | calls | error, median | 90 % within | side of eager | order of two | if they differ by 25 % |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    bundled = {each.task for each in known}
    for part in (SEEN, KEPT):
        here = [each for each in known if part_of(each.task, bundled) == part]
        pairs = [(one, other) for index, one in enumerate(here) for other in here[:index]]
        clear = [pair for pair in pairs if abs(math.log(pair[0].measured_us / pair[1].measured_us)) > math.log(1.25)]
        errors = [each.error(rates) for each in here]
        sides = [(each.estimate(rates) < each.eager.us) == (each.measured_us < each.eager.us) for each in here]
        shares = (_ordered(each, rates) for each in (pairs, clear))
        yield (
            f"| {part} | {len(here)} | {median(errors):.1%} | {quantiles(errors, n=10)[-1]:.0%} |"
            f" {np.mean(sides):.0%} | " + " | ".join(f"{each:.0%}" for each in shares) + " |"
        )


def _ordered(pairs: Sequence[tuple[Call, Call]], rates: Rates) -> float:
    """The share of pairs whose estimates have the order of their times."""
    estimates = {id(each): each.estimate(rates) for pair in pairs for each in pair}
    right = [
        (estimates[id(one)] < estimates[id(other)]) == (one.measured_us < other.measured_us) for one, other in pairs
    ]
    return float(np.mean(right))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit the rates anew, and print them")
    asked = parser.parse_args()
    known = list(calls(RECORDED))
    rates = RATES
    if asked.fit:
        bundled = {each.task for each in known}
        rates = fitted([each for each in known if part_of(each.task, bundled) == SEEN])
        print(rates)
    print("\n".join(told(known, rates)))


if __name__ == "__main__":
    main()
