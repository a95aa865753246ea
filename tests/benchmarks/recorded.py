"""python -m tests.benchmarks.recorded prints what the judge's recorded runs on the core say, as Markdown.

For each capture: the bundles of the rules beside TorchInductor on the subgraphs that both were timed on, by
family, and each subgraph where a bundle is slower than eager or not within t = −5. It measures nothing, takes seconds
and needs no GPU."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from passnet_core.corpus.catalogue import Corpus
from passnet_core.records import BASELINE_NAMES, CLOCK_VERSION, Baseline, Capture, Outcome, SolverKind, Verdict
from passnet_core.scoring.report import entry_of
from passnet_core.scoring.scores import Sample
from passnet_core.service import corpus_of
from passnet_core.settings import BUNDLED_DATA, read_settings
from passnet_core.store.exchange import read_file
from tests.scores import aggregate_score

RECORDED = tuple(sorted((BUNDLED_DATA / "baselines").glob("h100-*.jsonl.gz")))
RULES = "rules"
WAYS = {RULES: "rules"} | {str(baseline): name for baseline, name in BASELINE_NAMES.items()}
"""The solvers that are compared, by what they are called in tables."""
STRICT_T = -5
Place = tuple[str, str]


@dataclass(frozen=True)
class Judged:
    """The outcomes in one capture, by way and by place (task and subgraph)."""

    capture: Capture
    outcomes: Mapping[str, Mapping[Place, Outcome]]

    def samples(self, way: str) -> dict[Place, Sample]:
        """Those outcomes that count in scores."""
        entries = {place: entry_of(outcome) for place, outcome in self.outcomes.get(way, {}).items()}
        return {place: entry.sample for place, entry in entries.items() if entry.sample is not None}


def way_of(outcome: Outcome) -> str:
    return RULES if outcome.solver is SolverKind.PASSES else (outcome.baseline or Baseline.INDUCTOR)


def judged_in(outcomes: Sequence[Outcome]) -> Iterator[Judged]:
    """The outcomes with times of this clock version, by capture."""
    for capture in (Capture.DIRECT, Capture.COMPILED):
        found: dict[str, dict[Place, Outcome]] = {}
        for outcome in outcomes:
            made = outcome.environment
            if outcome.spec.capture is capture and made is not None and made.clock_version == CLOCK_VERSION:
                found.setdefault(way_of(outcome), {})[outcome.task_id, outcome.subgraph_id] = outcome
        if found:
            yield Judged(capture, found)


def told(judged: Judged, families: Mapping[str, str]) -> Iterator[str]:
    """The tables of one capture. families: by task."""
    samples = {way: judged.samples(way) for way in WAYS if way in judged.outcomes}
    common = sorted(set.intersection(*(set(each) for each in samples.values())))
    yield f"\n## {judged.capture.value.capitalize()}\n"
    yield "| over eager | judged | right, faster | no measurable difference | slower | inconclusive | other |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    kinds = (Verdict.FASTER, Verdict.NO_DIFFERENCE, Verdict.SLOWER, Verdict.INCONCLUSIVE)
    for way in samples:
        verdicts = [outcome.verdict for outcome in judged.outcomes[way].values()]
        counts = [sum(verdict is kind for verdict in verdicts) for kind in kinds]
        numbers = [len(verdicts), *counts, len(verdicts) - sum(counts)]
        yield f"| {WAYS[way]} | {' | '.join(map(str, numbers))} |"
    columns = sorted(set(families.values()))
    yield f"\nOn the {len(common)} subgraphs that all of them were timed on:\n"
    yield f"| over eager | AS | geometric mean | within t = −5 | {' | '.join(columns)} |"
    yield f"| --- | ---: | ---: | ---: |{' ---: |' * len(columns)}"
    for way, found in samples.items():
        own = [found[place] for place in common]
        right = sum(STRICT_T in each.correct_at for each in own)
        cells = [f"{aggregate_score(own):.3f}", f"{_mean(own):.3f}", str(right)]
        for family in columns:
            cells.append(f"{_mean([found[place] for place in common if families[place[0]] == family]):.2f}")
        yield f"| {WAYS[way]} | {' | '.join(cells)} |"
    yield "\n| subgraph | family | rules | TorchInductor | verdict | right from t |"
    yield "| --- | --- | ---: | ---: | --- | ---: |"
    rules, other = judged.outcomes.get(RULES, {}), samples.get(Baseline.INDUCTOR, {})
    for place, sample in sorted(samples.get(RULES, {}).items(), key=lambda item: item[1].speedup or 0):
        if rules[place].verdict is Verdict.SLOWER or STRICT_T not in sample.correct_at:
            beside = other[place].speedup if place in other else None
            times = (f"{each:.2f}" if each is not None else "" for each in (sample.speedup, beside))
            least = min(sample.correct_at, default="")
            cells = [" ".join(place), families[place[0]], *times, rules[place].verdict, str(least)]
            yield f"| {' | '.join(cells)} |"


def _mean(samples: Sequence[Sample]) -> float:
    """The geometric mean of the speedups of those that have one."""
    speedups = [each.speedup for each in samples if each.speedup is not None]
    return geometric_mean(speedups) if speedups else float("nan")


def outcomes_of(files: Sequence[Path]) -> list[Outcome]:
    """All outcomes in these run files. Raises BadInput for one that cannot be read."""
    return [outcome for path in files for file in read_file(path)[1] for outcome in file.outcomes]


def families_of(corpus: Corpus, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The family of each task that these outcomes belong to."""
    return {task: corpus.task(task).family.value for task in sorted({outcome.task_id for outcome in outcomes})}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.recorded", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=RECORDED, help="run files; default: data/baselines")
    options = parser.parse_args()
    outcomes = outcomes_of(options.files)
    families = families_of(corpus_of(read_settings()), outcomes)
    for judged in judged_in(outcomes):
        print("\n".join(told(judged, families)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
