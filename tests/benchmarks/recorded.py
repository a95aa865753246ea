"""python -m tests.benchmarks.recorded prints what the judge's recorded runs on the core say, as Markdown.

For each capture: the bundles of the rules beside TorchInductor on the subgraphs that both were timed on, by family and
by half of the bundled tasks, and each subgraph where a bundle is slower than eager or not within t = −5. One half is
kept: whoever works on the rules does not look at it, so that it says what they are worth on what they have not seen. It
measures nothing, takes seconds and needs no GPU."""

import argparse
import hashlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
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

RECORDED = tuple(
    sorted(
        path for kind in ("rules", "inductor", "rounding") for path in (BUNDLED_DATA / "baselines").glob(f"*-{kind}-*")
    )
)
RULES = "rules"
WAYS = {RULES: "rules"} | {str(baseline): name for baseline, name in BASELINE_NAMES.items()}
"""The solvers that are compared, by what they are called in tables."""
STRICT_T = -5
SEEN, KEPT, OTHERS = "seen half", "kept half", "other tasks"
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


def part_of(task: str, bundled: Collection[str]) -> str:
    """Which part of all tasks this one belongs to: of the bundled ones every other by its digest is kept."""
    if task not in bundled:
        return OTHERS
    return KEPT if int(hashlib.sha256(task.encode()).hexdigest(), 16) % 2 else SEEN


def judged_in(outcomes: Sequence[Outcome], clock: int = CLOCK_VERSION) -> Iterator[Judged]:
    """The outcomes with times of this clock version, by capture."""
    for capture in (Capture.DIRECT, Capture.COMPILED):
        found: dict[str, dict[Place, Outcome]] = {}
        for outcome in outcomes:
            made = outcome.environment
            if outcome.spec.capture is capture and made is not None and made.clock_version == clock:
                found.setdefault(way_of(outcome), {})[outcome.task_id, outcome.subgraph_id] = outcome
        if found:
            yield Judged(capture, found)


def told(judged: Judged, families: Mapping[str, str], parts: Mapping[str, str]) -> Iterator[str]:
    """The tables of one capture. families, parts: by task."""
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
        cells = [f"{aggregate_score(own):.3f}", f"{_mean(own):.3f}", str(_strict(own))]
        for family in columns:
            cells.append(f"{_mean([found[place] for place in common if families[place[0]] == family]):.2f}")
        yield f"| {WAYS[way]} | {' | '.join(cells)} |"
    known = [part for part in (SEEN, KEPT, OTHERS) if part in {parts[task] for task, _ in common}]
    yield f"\n| aggregate score, and subgraphs within t = −5 | {' | '.join(known)} |"
    yield f"| --- |{' ---: |' * len(known)}"
    for way, found in samples.items():
        of_parts = [[found[place] for place in common if parts[place[0]] == part] for part in known]
        rows = (f"{aggregate_score(each):.3f}, {_strict(each)} of {len(each)}" for each in of_parts)
        yield f"| {WAYS[way]} | {' | '.join(rows)} |"
    yield f"\nThe {KEPT} is not listed:\n\n| subgraph | family | rules | TorchInductor | verdict | right from t |"
    yield "| --- | --- | ---: | ---: | --- | ---: |"
    rules, other = judged.outcomes.get(RULES, {}), samples.get(Baseline.INDUCTOR, {})
    for place, sample in sorted(samples.get(RULES, {}).items(), key=lambda item: item[1].speedup or 0):
        if parts[place[0]] == KEPT:
            continue
        if rules[place].verdict is Verdict.SLOWER or STRICT_T not in sample.correct_at:
            beside = other[place].speedup if place in other else None
            times = (f"{each:.2f}" if each is not None else "" for each in (sample.speedup, beside))
            least = min(sample.correct_at, default="")
            cells = [" ".join(place), families[place[0]], *times, rules[place].verdict, str(least)]
            yield f"| {' | '.join(cells)} |"


def _strict(samples: Sequence[Sample]) -> int:
    return sum(STRICT_T in each.correct_at for each in samples)


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
    parser.add_argument("--clock", type=int, default=CLOCK_VERSION, help="the clock version of the times")
    options = parser.parse_args()
    outcomes = outcomes_of(options.files)
    corpus = corpus_of(read_settings())
    families, bundled = families_of(corpus, outcomes), {task.id for task in corpus.tasks()}
    parts = {task: part_of(task, bundled) for task in families}
    found = list(judged_in(outcomes, options.clock))
    for judged in found:
        print("\n".join(told(judged, families, parts)))
    if not found:
        print(f"These runs have no times of clock version {options.clock}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
