"""Leaderboards. Only solvers that ran the same subgraphs under the same conditions are ranked together."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from math import exp, inf, log
from statistics import median
from typing import Any

import numpy as np

from passnet_core.charts.contenders import ContenderKind, kind_of
from passnet_core.leaderboard.grounds import Ground, ground_of
from passnet_core.records import BASELINE_NAMES, Baseline, Capture, Profile, SolverKind, digest_of
from passnet_core.scoring.report import ABORTED_AS, ReportEntry, ScoreReport, aborted, score_report
from passnet_core.scoring.scores import (
    PENALTY_FAILED,
    PENALTY_SLOW,
    Interpretation,
    Sample,
    error_aware_logs,
)
from passnet_core.store.rows import ScoreRow

Place = tuple[str, str]
"""(task id, subgraph id)."""


@dataclass(frozen=True)
class Contestant:
    """A solver on a board. rows: its outcomes on the board's subgraphs, in the board's order.
    bundle_digest: None for a baseline, and for an author whose several bundles together cover the board."""

    name: str
    solver: SolverKind
    bundle_digest: str | None
    rows: tuple[ScoreRow, ...]

    def __hash__(self) -> int:
        # the key of the cache of reports: hashing all of thousands of rows would be slow
        return hash((self.name, self.bundle_digest, len(self.rows), self.rows[:1]))

    @cached_property
    def entries(self) -> tuple[ReportEntry, ...]:
        """The rows in the form that scoring.report takes."""
        return tuple(entry_of(row) for row in self.rows)

    @property
    def kind(self) -> ContenderKind:
        return kind_of(self.rows[0].author, self.rows[0].baseline)


@dataclass(frozen=True)
class Board:
    """Solvers measured on the same subgraphs under the same conditions. total: subgraphs that the board's tasks have
    in the corpus."""

    id: str
    device: str
    capture: Capture
    profile: Profile
    clock_version: int
    places: tuple[Place, ...]
    total: int
    contestants: tuple[Contestant, ...]

    @property
    def ground(self) -> Ground:
        return ground_of(self)

    @property
    def task_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task_id for task_id, _ in self.places))

    @property
    def title(self) -> str:
        tasks = self.task_ids
        return tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks"

    @property
    def mixed(self) -> bool:
        """Whether solvers of several kinds meet: passes and TorchInductor."""
        return len({each.solver for each in self.contestants}) > 1

    @property
    def recorded(self) -> tuple[str, ...]:
        """Where and when the recorded outcomes of this board were made; empty: all were made here."""
        return tuple(sorted({row.recorded for each in self.contestants for row in each.rows} - {""}))

    @property
    def noise(self) -> float | None:
        """The median noise floor of these outcomes, a share as in Outcome; None: not measured."""
        known = [row.noise for each in self.contestants for row in each.rows if row.noise is not None]
        return median(known) if known else None

    @property
    def dates(self) -> tuple[str, str]:
        """The first and the last day of measurement, as YYYY-MM-DD."""
        days = [row.finished_at[:10] for each in self.contestants for row in each.rows]
        return min(days), max(days)

    @property
    def facts(self) -> dict[str, Any]:
        """What it is, and what was measured on it, as programs are told."""
        return {
            "id": self.id,
            "title": self.title,
            "device": self.device,
            "capture": self.capture.value,
            "profile": self.profile.value,
            "clock_version": self.clock_version,
            "tasks": len(self.task_ids),
            "subgraphs": len(self.places),
            "recorded": list(self.recorded),
        }


class Duel(StrEnum):
    """How one solver compares with another on a subgraph."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no measurable difference"
    ALONE = "within t, the other is not"
    BEATEN = "not within t, the other is"
    NEITHER = "neither is within t"


WINS, LOSSES = frozenset({Duel.FASTER, Duel.ALONE}), frozenset({Duel.SLOWER, Duel.BEATEN})


@dataclass(frozen=True)
class Beside:
    """The outcomes of two solvers on one subgraph. second, duel: None if the other solver did not run it.
    ratio: the first's speedup divided by the second's; None: not both were timed."""

    first: ScoreRow
    second: ScoreRow | None
    ratio: float | None
    duel: Duel | None


@dataclass(frozen=True)
class Deciding(Beside):
    """Also the factor that the subgraph contributes to the ratio of the two ES(t), which is the product of all."""

    multiplies: float = 1.0


@dataclass(frozen=True)
class Spread:
    """The speedups of one solver. timed: (row, speedup, whether it is within t), by ascending speedup.
    untimed: the number of subgraphs without a speedup."""

    solver: str
    timed: tuple[tuple[ScoreRow, float, bool], ...]
    untimed: int

    @property
    def right(self) -> int:
        """How many of the timed subgraphs are within t."""
        return sum(right for _, _, right in self.timed)

    @property
    def faster(self) -> int:
        """How many have a speedup above 1, regardless of noise."""
        return sum(speedup > 1 for _, speedup, _ in self.timed)

    def quantile(self, share: float) -> float | None:
        """Return the speedup below which this share of the timed subgraphs lies; None: nothing was timed."""
        return float(np.quantile([speedup for _, speedup, _ in self.timed], share)) if self.timed else None


@dataclass(frozen=True)
class Ranked:
    """A contestant with its place and figures at one t. Equal scores share a place."""

    place: int
    contestant: Contestant
    score: float
    """ES(t)."""
    report: ScoreReport


TELLING = 10
"""On fewer subgraphs a board says little of a solver."""


def boards(
    rows: Iterable[ScoreRow],
    *,
    names: Mapping[str, str] | None = None,
    totals: Mapping[str, int] | None = None,
    aborts_fail: bool = False,
    several: Collection[str] = (),
    of_ground: "OfGround | None" = None,
) -> tuple[Board, ...]:
    """Return the boards of these outcomes: those of fewer than TELLING subgraphs last, then those first where passes
    meet TorchInductor, then those with several solvers, of the newest clock version, and with the most subgraphs.
    Each set of subgraphs that some solver ran on one ground makes a board, with every solver that ran all of them; and
    so does what an author's bundles and TorchInductor share, if one lacks some that the other has.
    names: bundle names by digest. totals: the number of subgraphs in the corpus, by task. aborts_fail: as in
    scoring.report.score_reports. several: digests that stand for several bundles of one solver, as an author does.
    of_ground: boards_of_ground, or what remembers its answers."""
    grouped: dict[Ground, list[ScoreRow]] = {}
    for row in map(_failed_if_aborted, rows) if aborts_fail else rows:
        # an outcome that is right but not timed is not scored
        if row.error_class is not None or row.speedup is not None:
            grouped.setdefault(ground_of(row), []).append(row)
    made = [
        board
        for ground, each in grouped.items()
        for board in (of_ground or boards_of_ground)(ground, tuple(each), names or {}, totals or {}, several)
    ]
    return tuple(
        sorted(
            made,
            key=lambda board: (
                len(board.places) < TELLING, not board.mixed, len(board.contestants) < 2, -board.clock_version,
                -len(board.places), board.title, *board.ground,
            ),
        )
    )  # fmt: skip


def twin(board: Board, among: Iterable[Board]) -> Board | None:
    """Return the board with the same subgraphs, device, capture and clock version under the other profile, or None."""
    others = (each for each in among if each.profile is not board.profile and each.places == board.places)
    return next((each for each in others if replace(each, profile=board.profile).ground == board.ground), None)


def of_other_clocks(board: Board, among: Iterable[Board]) -> tuple[int, ...]:
    """Return the other clock versions that this device, capture and profile have boards of, newest first."""
    alike = {each.clock_version for each in among if each.ground[:3] == board.ground[:3]}
    return tuple(sorted(alike - {board.clock_version}, reverse=True))


def ranked(
    board: Board,
    t: int,
    *,
    p: float = PENALTY_SLOW,
    b: float = PENALTY_FAILED,
    interpretation: Interpretation = Interpretation.DEFAULT,
) -> tuple[Ranked, ...]:
    """Rank the board's contestants by ES(t), best first. Returns nothing if the interpretation has no level t.
    p, b: the penalties of ES(t) for slow and for failed subgraphs."""
    lines = []
    for each in board.contestants:
        report = _report(each, p, b, interpretation)
        level = report.at(t)
        if level is not None:
            lines.append(Ranked(0, each, level.es, report))
    lines.sort(key=lambda line: (-line.score, line.contestant.name))
    return tuple(replace(line, place=1 + sum(other.score > line.score for other in lines)) for line in lines)


def standings_of(board: Board) -> list[tuple[str, ScoreReport]]:
    """The name and the report of each solver on a board, the best aggregate score first."""
    reports = [
        (each.name, _report(each, PENALTY_SLOW, PENALTY_FAILED, Interpretation.DEFAULT)) for each in board.contestants
    ]
    return sorted(reports, key=lambda each: -inf if each[1].aggregate is None else each[1].aggregate, reverse=True)


def spread(contestant: Contestant, t: int) -> Spread:
    """Return a solver's speedups, and which of them are within t."""
    timed = [(row, row.speedup, right_at(row, t)) for row in contestant.rows if row.speedup is not None]
    timed.sort(key=lambda each: each[1])
    return Spread(contestant.name, tuple(timed), len(contestant.rows) - len(timed))


def right_at(row: ScoreRow, t: int) -> bool:
    """Whether the speedup counts in ES(t): the outputs are within t, or within 1 for a larger t."""
    return row.speedup is not None and min(t, 1) in row.correct_at


def baselines_on(ground: Ground, among: Iterable[Board]) -> dict[Baseline, dict[Place, ScoreRow]]:
    """Return each baseline's outcomes on this ground, from all boards, in the order of Baseline."""
    found: dict[Baseline, dict[Place, ScoreRow]] = {each: {} for each in Baseline}
    for board in among:
        for row in (row for each in board.contestants for row in each.rows if board.ground == ground):
            if row.baseline is not None:
                found[row.baseline][row.task_id, row.subgraph_id] = row
    return {baseline: rows for baseline, rows in found.items() if rows}


def beside(rows: Iterable[ScoreRow], others: Mapping[Place, ScoreRow], t: int) -> tuple[Beside, ...]:
    """Pair each row with the other solver's at t: the greatest losses first, rows without a partner last."""
    pairs = [_beside(row, others.get((row.task_id, row.subgraph_id)), t) for row in rows]

    def loss(pair: Beside) -> tuple[bool, bool, float, str, str]:
        place = (pair.first.task_id, pair.first.subgraph_id)
        return pair.duel is None, pair.duel is not Duel.BEATEN, pair.ratio or 0.0, *place

    return tuple(sorted(pairs, key=loss))


def deciding(
    first: Contestant, second: Contestant, t: int, *, interpretation: Interpretation = Interpretation.DEFAULT
) -> tuple[Deciding, ...]:
    """Return what each subgraph contributes to the ratio of two solvers' ES(t), the most decisive first."""
    first_logs, second_logs = (
        error_aware_logs([each.sample for each in solver.entries if each.sample], t, interpretation=interpretation)
        for solver in (first, second)
    )
    made = []
    for row, other, difference in zip(first.rows, second.rows, (first_logs - second_logs).tolist(), strict=True):
        pair = _beside(row, other, t)
        made.append(Deciding(pair.first, pair.second, pair.ratio, pair.duel, exp(difference / len(first.rows))))
    made.sort(key=lambda each: (-abs(log(each.multiplies)), each.first.task_id, each.first.subgraph_id))
    return tuple(made)


def duel(first: ScoreRow, second: ScoreRow, t: int) -> Duel:
    """Compare two outcomes on one subgraph at t. Faster and slower require a difference beyond the larger of the two
    noise floors, and intervals that do not overlap, if they are known."""
    one, two = first.speedup, second.speedup
    if one is None or two is None or not (right_at(first, t) and right_at(second, t)):
        return NOT_BOTH[right_at(first, t), right_at(second, t)]
    floor = 1 + max(first.noise or 0.0, second.noise or 0.0)
    if one > two * floor and _above(first.low, second.high):
        return Duel.FASTER
    return Duel.SLOWER if two > one * floor and _above(second.low, first.high) else Duel.SAME


def duel_counts(pairs: Iterable[Beside]) -> dict[Duel, int]:
    """Count the duels by kind."""
    counts = dict.fromkeys(Duel, 0)
    for each in pairs:
        if each.duel is not None:
            counts[each.duel] += 1
    return counts


def duel_words(first: str, second: str) -> dict[Duel, str]:
    """Return each kind of duel in words with the two solvers' names."""
    return {
        Duel.FASTER: f"{first} faster",
        Duel.SLOWER: f"{second} faster",
        Duel.SAME: "no measurable difference",
        Duel.ALONE: f"only {first} within t",
        Duel.BEATEN: f"only {second} within t",
        Duel.NEITHER: "neither within t",
    }


NOT_BOTH: Mapping[tuple[bool, bool], Duel] = {
    (True, False): Duel.ALONE,
    (False, True): Duel.BEATEN,
    (False, False): Duel.NEITHER,
}


def _above(low: float | None, high: float | None) -> bool:
    return low is None or high is None or low > high


def _beside(first: ScoreRow, second: ScoreRow | None, t: int) -> Beside:
    if second is None:
        return Beside(first, None, None, None)
    one, two = first.speedup, second.speedup
    ratio = None if one is None or two is None else one / two
    return Beside(first, second, ratio, duel(first, second, t))


def entry_of(row: ScoreRow) -> ReportEntry:
    """Return the row in the form that scoring.report takes."""
    return ReportEntry(
        solver=row.solver,
        bundle_digest=row.bundle_digest,
        baseline=row.baseline,
        device=row.device,
        capture=row.capture,
        profile=row.profile,
        clock_version=row.clock_version,
        task_id=row.task_id,
        subgraph_id=row.subgraph_id,
        verdict=row.verdict,
        finished_at=row.finished_at,
        sample=Sample(row.speedup, row.correct_at, row.error_class),
    )


def _failed_if_aborted(row: ScoreRow) -> ScoreRow:
    return replace(row, error_class=ABORTED_AS) if aborted(row.verdict, row.profile) else row


@lru_cache(maxsize=256)
def _report(contestant: Contestant, p: float, b: float, interpretation: Interpretation) -> ScoreReport:
    return score_report(contestant.entries, p=p, b=b, interpretation=interpretation)


OfGround = Callable[
    [Ground, tuple[ScoreRow, ...], Mapping[str, str], Mapping[str, int], Collection[str]], Sequence[Board]
]


def boards_of_ground(
    ground: Ground,
    rows: tuple[ScoreRow, ...],
    names: Mapping[str, str],
    totals: Mapping[str, int],
    several: Collection[str],
) -> Sequence[Board]:
    """Return the boards of outcomes on one ground, in no order. The arguments are those of boards."""
    baselines: dict[Baseline, dict[Place, ScoreRow]] = {}
    bundles: dict[str, dict[Place, ScoreRow]] = {}
    authors: dict[str, dict[Place, ScoreRow]] = {}
    # the newest row counts, but one that was aborted only where there is no other
    for row in sorted(rows, key=lambda row: (not aborted(row.verdict, row.profile), row.finished_at, row.run_id)):
        place = (row.task_id, row.subgraph_id)
        if row.baseline is not None:
            baselines.setdefault(row.baseline, {})[place] = row
        if row.bundle_digest is None:
            continue
        bundles.setdefault(row.bundle_digest, {})[place] = row
        if row.author:
            authors.setdefault(row.author, {})[place] = row
    made = []
    sets = {frozenset(each) for each in (*baselines.values(), *bundles.values(), *authors.values())}
    for own in (*authors.values(), *(found for digest, found in bundles.items() if digest in several)):
        # a subgraph may rank some solvers only: the noise of one was too much, or it was left out
        met = [each for each in baselines.values() if len(own.keys() & each.keys()) >= TELLING]
        shared = frozenset(own).intersection(*met)
        if met and len(shared) >= TELLING:
            sets.add(shared)
    for places in sets:
        order = tuple(sorted(places))

        def covering(
            found: dict[Place, ScoreRow], places: Set[Place] = places, order: tuple[Place, ...] = order
        ) -> tuple[ScoreRow, ...]:
            """Return the solver's row at each place; () if it lacks one."""
            return tuple(found[place] for place in order) if found.keys() >= places else ()

        whole_bundles = {digest: whole for digest, found in sorted(bundles.items()) if (whole := covering(found))}
        contestants = [
            Contestant(name, SolverKind.PASSES, digest, whole_bundles[digest])
            for digest, name in _bundle_names(whole_bundles, names).items()
        ]
        # an author with a single bundle that covers the board needs no second line
        single = {row.author for each in contestants for row in each.rows}
        contestants += [
            Contestant(f"{author} bundles", SolverKind.PASSES, None, whole)
            for author, found in sorted(authors.items())
            if author not in single and (whole := covering(found))
        ]
        contestants += [
            Contestant(BASELINE_NAMES[baseline], SolverKind.INDUCTOR, None, whole)
            for baseline, found in sorted(baselines.items())
            if (whole := covering(found))
        ]
        total = sum(totals.get(task_id, 0) for task_id in {task_id for task_id, _ in order})
        # leave out the profile, so that a board and its twin have the same id in a page's URL, and the first clock
        # version, so that older links go on working
        device, capture, _, clock_version = ground
        version = [clock_version] if clock_version > 1 else []
        key = digest_of([device, capture, *version, [list(place) for place in order]])
        made.append(Board(key[:10], *ground, order, max(total, len(order)), tuple(contestants)))
    return made


def _bundle_names(bundles: Mapping[str, Sequence[ScoreRow]], names: Mapping[str, str]) -> dict[str, str]:
    """Name the bundles of a board. One without a title is named by its author, and by its digest if it has no author or
    if several bundles of the author are here."""
    authors = Counter(rows[0].author for digest, rows in bundles.items() if digest not in names)
    found = {}
    for digest, rows in bundles.items():
        author = rows[0].author
        name = f"{author} bundle".strip()
        found[digest] = names.get(digest, name if author and authors[author] == 1 else f"{name} {digest[:6]}")
    return found
