"""One report of attempts before and after training: how many were accepted, and ES(t) and the aggregate score of those
that were timed.

    python examples/finetune/report.py runs/before runs/after runs/inductor --out runs/report

Each folder is one that `passnet solve` (or small/rounds.py) wrote. Scores are over the subgraphs that all timed folders
have, on one device. It writes report.md and, where anything was timed, curves.svg."""

import argparse
import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from passnet_core.charts.contenders import ContenderKind, looks
from passnet_core.charts.curves import CurvePoint, curve_chart
from passnet_core.leaderboard.pass_at_k import AttemptTally, attempt_tallies, gain_at, pass_at
from passnet_core.records import ErrorClass, Verdict
from passnet_core.scoring.intervals import Interval
from passnet_core.scoring.report import ReportEntry, ScoreReport, read_entries, score_report
from passnet_core.scoring.scores import Sample
from passnet_core.solvers.trajectories import trajectories

PUBLISHED = (
    ("TorchInductor", 0.706),
    ("Claude Sonnet 4.6", 0.448),
    ("Claude Opus 4.6", 0.410),
    ("GPT-5.4", 0.410),
    ("Qwen3-30B, fine-tuned", 0.371),
    ("Qwen3-4B, fine-tuned", 0.240),
    ("Qwen3-30B", 0.139),
    ("Qwen3-4B", 0.108),
)
"""Aggregate scores on PassNet's public leaderboard (2026-05-29, NVIDIA A30, one greedy attempt): other tasks, another
device and another judge, so they are told and not compared."""

Place = tuple[str, str]
"""A task and a subgraph."""


@dataclass(frozen=True)
class Side:
    """The attempts in one folder. tally: None if none has ended. tasks: those that were attempted. entries: by attempt
    number, of each attempt's best bundle."""

    name: str
    tally: AttemptTally | None
    tasks: frozenset[str]
    entries: Mapping[int, Mapping[Place, ReportEntry]]

    @property
    def any_entries(self) -> Iterator[ReportEntry]:
        return (each for found in self.entries.values() for each in found.values())

    @property
    def timed(self) -> bool:
        return any(each.sample for each in self.any_entries)


def read_side(folder: Path) -> Side:
    """Read a folder of attempts. Raises SystemExit if there is none in it."""
    found = [each for _, each in trajectories(folder)]
    if not found:
        raise SystemExit(f"There is no attempt in {folder}. Name a folder that solve --out wrote.")
    tallies = attempt_tallies(found)
    by_bundle: dict[tuple[str, str | None], dict[str, ReportEntry]] = defaultdict(dict)
    path = folder / "outcomes.jsonl"
    with path.open(encoding="utf-8") as lines:
        for entry in read_entries(lines):
            by_bundle[entry.task_id, entry.bundle_digest][entry.subgraph_id] = entry
    entries: dict[int, dict[Place, ReportEntry]] = defaultdict(dict)
    for each in found:
        if each.ending is None:
            continue
        for subgraph, entry in by_bundle[each.opening.task_id, each.ending.best].items():
            entries[each.opening.attempt][each.opening.task_id, subgraph] = entry
    tasks = frozenset(each.opening.task_id for each in found)
    return Side(found[0].opening.model, tallies[0] if tallies else None, tasks, entries)


def told(interval: Interval) -> str:
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def accepted_rows(sides: Sequence[Side], ks: Sequence[int]) -> Iterator[str]:
    """The table of accepted attempts."""
    yield f"| solver | tasks | attempts | accepted attempts |{''.join(f' pass@{k} |' for k in ks)}"
    yield f"| --- | --- | --- | --- |{' --- |' * len(ks)}"
    for side in sides:
        if side.tally is None:
            continue
        counts = side.tally.attempts.values()
        made, solved = sum(each for each, _ in counts), sum(each for _, each in counts)
        cells = [told(pass_at(k, side.tally.attempts)) if k <= side.tally.fewest else "" for k in ks]
        yield f"| {side.name} | {len(counts)} | {made} | {solved} |{''.join(f' {cell} |' for cell in cells)}"


def gains(sides: Sequence[Side]) -> Iterator[str]:
    """What each side gains over the one before it, at pass@1 and paired by task."""
    for before, after in itertools.pairwise(sides):
        if before.tally is None or after.tally is None or not set(before.tally.attempts) & set(after.tally.attempts):
            continue
        gain = gain_at(1, before.tally.attempts, after.tally.attempts)
        word = "better" if gain.low > 0 else "worse" if gain.high < 0 else "not distinguishable"
        yield f"- {after.name} less {before.name}, pass@1 on the tasks of both: {told(gain)}: {word}."


def of_attempt(side: Side, number: int, places: Iterable[Place]) -> ScoreReport:
    """The scores of an attempt on these subgraphs. Where it has no bundle that was judged, it counts as a failure."""
    found = side.entries.get(number, {})
    some = next(iter(found.values()), None) or next(each for each in side.any_entries)
    failed = Sample(None, error_class=ErrorClass.RUNTIME)
    return score_report(
        [
            found.get((task, subgraph))
            or replace(some, task_id=task, subgraph_id=subgraph, verdict=Verdict.NO_MATCH, sample=failed, left_out="")
            for task, subgraph in places
        ]
    )


def score_rows(sides: Sequence[Side], places: Sequence[Place]) -> Iterator[str]:
    """The table of scores: of the first attempt at each task."""
    yield "| solver | subgraphs | AS | ES(0) | ES(-5) | right | faster than eager |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for side in sides:
        report = of_attempt(side, 1, places)
        zero, strict = report.at(0), report.at(-5)
        if report.aggregate is None or zero is None or strict is None:
            yield f"| {side.name} | {report.samples} | nothing is scored | | | | |"
            continue
        levels = [f"{each.es:.3f} [{each.low:.3f}, {each.high:.3f}]" for each in (zero, strict)]
        faster = zero.correct * (1 - zero.slower)
        yield (
            f"| {side.name} | {report.samples} | {report.aggregate:.3f} | {levels[0]} | {levels[1]} |"
            f" {zero.correct:.1%} | {faster:.1%} |"
        )


def draw(sides: Sequence[Side], places: Sequence[Place], path: Path) -> None:
    """Write the curves of ES(t) as a picture."""
    points = [
        CurvePoint(side.name, level.t, level.es, level.low, level.high)
        for side in sides
        for level in of_attempt(side, 1, places).levels
    ]
    kinds = [(side.name, ContenderKind.INDUCTOR if "Inductor" in side.name else ContenderKind.MODEL) for side in sides]
    curve_chart(points, 0, looks(kinds)).save(str(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], allow_abbrev=False)
    parser.add_argument("folder", nargs="+", metavar="DIR", help="a folder of attempts, the oldest first")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the report")
    parser.add_argument("--k", type=int, nargs="+", default=[1], metavar="K", help="for pass@k (default: 1)")
    parser.add_argument("--title", default="Before and after training", metavar="TEXT")
    parser.add_argument("--note", default="", metavar="TEXT", help="a paragraph that says what was trained on what")
    args = parser.parse_args()
    sides = [read_side(Path(each)) for each in args.folder]
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    lines = [f"# {args.title}", "", *([args.note, ""] if args.note else [])]
    lines += ["## Accepted", "", *accepted_rows(sides, args.k), "", *gains(sides), ""]
    timed = [side for side in sides if side.timed]
    if timed:
        tasks = frozenset.intersection(*(side.tasks for side in timed))
        seen = {(each.task_id, each.subgraph_id) for side in timed for each in side.any_entries}
        places = sorted(place for place in seen if place[0] in tasks)
        lines += [f"## Scores on the {len(places)} subgraphs of all", "", *score_rows(timed, places), ""]
        draw(timed, places, out / "curves.svg")
        lines += ["![ES(t)](curves.svg)", ""]
    else:
        lines += ["Nothing was timed, so there is no ES(t): judge with `--stage measure` on a GPU.", ""]
    rows = [f"| {name} | {score:.3f} |" for name, score in PUBLISHED]
    lines += ["## Published elsewhere", "", "| solver | AS |", "| --- | --- |", *rows, ""]
    lines += [
        "From PassNet's public leaderboard of 2026-05-29 (NVIDIA A30, one greedy attempt). Tasks, device and judge are"
        " others, so these are told beside the scores above and not compared with them.", ""
    ]  # fmt: skip
    (out / "report.md").write_text("\n".join(lines))
    told_of = {side.name: dict(side.tally.attempts) if side.tally else {} for side in sides}
    (out / "attempts.json").write_text(json.dumps(told_of, indent=1))
    print(f"Wrote {out / 'report.md'}.")


if __name__ == "__main__":
    main()
