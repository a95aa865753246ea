"""What may be ranked together: measured outcomes as boards, on which every solver ran the same subgraphs alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from math import exp, log
from statistics import median

import numpy as np

from passnet_core.records import CONTENDER_NAMES, Capture, Contender, ErrorClass, Profile, SolverKind, digest_of
from passnet_core.scoring.report import ReportEntry, ScoreReport, score_report
from passnet_core.scoring.scores import (
    PENALTY_FAILED,
    PENALTY_SLOW,
    Interpretation,
    Sample,
    SampleTable,
    error_aware_logs,
)
from passnet_core.store.rows import SampleColumns, ScoreRow

INDUCTOR = CONTENDER_NAMES[Contender.BASELINE]

Place = tuple[str, str]
"""(task id, subgraph id)."""

Ground = tuple[str, Capture, Profile]
"""Device, capture and profile: who is judged on other ground is not ranked together."""


@dataclass(frozen=True)
class Contestant:
    """A solver on a board, with its outcome on each of the board's subgraphs, in their order.

    bundle_digest: None for Inductor, and for an author whose bundles together cover the board. entries: as
    scoring.report takes them; rows: the same with their runs.
    """

    name: str
    solver: SolverKind
    bundle_digest: str | None
    rows: tuple[ScoreRow, ...]

    def __hash__(self) -> int:
        # reports are kept by it: a hash of thousands of rows would cost more than it tells apart
        return hash((self.name, self.bundle_digest, len(self.rows), self.rows[:1]))

    @cached_property
    def entries(self) -> tuple[ReportEntry, ...]:
        return tuple(entry_of(row) for row in self.rows)


@dataclass(frozen=True)
class Board:
    """Solvers measured on the same subgraphs and ground. total: subgraphs of these tasks in the corpus."""

    id: str
    device: str
    capture: Capture
    profile: Profile
    places: tuple[Place, ...]
    total: int
    contestants: tuple[Contestant, ...]

    @property
    def ground(self) -> Ground:
        return self.device, self.capture, self.profile

    @property
    def task_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task_id for task_id, _ in self.places))

    @property
    def title(self) -> str:
        tasks = self.task_ids
        return tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks"

    @property
    def recorded(self) -> tuple[str, ...]:
        """Where and when the recorded outcomes among these were made; empty: all were made here."""
        return tuple(sorted({row.recorded for each in self.contestants for row in each.rows} - {""}))

    @property
    def noise(self) -> float | None:
        """By what share eager differed from itself, the median over these outcomes; None: nobody looked."""
        known = [row.noise for each in self.contestants for row in each.rows if row.noise is not None]
        return median(known) if known else None

    @property
    def dates(self) -> tuple[str, str]:
        """The first and the last day of measurement."""
        days = [row.finished_at[:10] for each in self.contestants for row in each.rows]
        return min(days), max(days)


class Duel(StrEnum):
    """How one solver stands to another on a subgraph."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no measurable difference"
    ALONE = "right, the other is not"
    BEATEN = "not right, the other is"
    NEITHER = "neither is right"


WINS, LOSSES = frozenset({Duel.FASTER, Duel.ALONE}), frozenset({Duel.SLOWER, Duel.BEATEN})


@dataclass(frozen=True)
class Beside:
    """One subgraph as two solvers ran it. second None: the other did not; then there is no duel either.

    ratio: the first's speedup over the second's, where both were timed.
    """

    first: ScoreRow
    second: ScoreRow | None
    ratio: float | None
    duel: Duel | None


@dataclass(frozen=True)
class Deciding(Beside):
    """With what the subgraph multiplies into the ratio of the two solvers' ES(t); the product of all is that ratio."""

    multiplies: float = 1.0


@dataclass(frozen=True)
class Spread:
    """The speedups of one solver, ascending, with its rows, and whether each is right at one t.

    untimed: the other subgraphs, which have no speedup.
    """

    solver: str
    timed: tuple[tuple[ScoreRow, float, bool], ...]
    untimed: int

    @property
    def right(self) -> int:
        return sum(right for _, _, right in self.timed)

    @property
    def faster(self) -> int:
        """How many are faster than eager, whatever the noise."""
        return sum(speedup > 1 for _, speedup, _ in self.timed)

    def quantile(self, share: float) -> float | None:
        """The speedup below which this share of those timed lies; None: nothing was timed."""
        return float(np.quantile([speedup for _, speedup, _ in self.timed], share)) if self.timed else None


@dataclass(frozen=True)
class Ranked:
    """A contestant with its figures, at its place for one t; equal scores share a place."""

    place: int
    contestant: Contestant
    score: float
    """ES(t)."""
    report: ScoreReport


def boards(
    rows: Iterable[ScoreRow], *, names: Mapping[str, str] | None = None, totals: Mapping[str, int] | None = None
) -> tuple[Board, ...]:
    """The boards that these outcomes make: those that compare solvers first, of these the one with most subgraphs.

    names: bundle digest to name; totals: subgraphs per task. Each set of subgraphs that a solver ran makes a board per
    device, capture and profile, with every solver that ran all of it.
    """
    grouped: dict[Ground, list[ScoreRow]] = {}
    for row in rows:
        # right but not timed: no sample
        if row.error_class is not None or row.speedup is not None:
            grouped.setdefault((row.device, row.capture, row.profile), []).append(row)
    made = [board for ground, each in grouped.items() for board in _boards_of(ground, each, names or {}, totals or {})]
    return tuple(
        sorted(made, key=lambda board: (len(board.contestants) < 2, -len(board.places), board.title, *board.ground))
    )


def twin(board: Board, among: Iterable[Board]) -> Board | None:
    """The same subgraphs, measured alike, but judged by the other profile's rules."""
    alike = (board.device, board.capture, board.places)
    others = (each for each in among if each.profile is not board.profile)
    return next((each for each in others if (each.device, each.capture, each.places) == alike), None)


def ranked(
    board: Board,
    t: int,
    *,
    p: float = PENALTY_SLOW,
    b: float = PENALTY_FAILED,
    interpretation: Interpretation = Interpretation.DEFAULT,
) -> tuple[Ranked, ...]:
    """The board's contestants by ES(t), best first; none where the interpretation has no such level."""
    lines = []
    for each in board.contestants:
        report = _report(each, p, b, interpretation)
        level = report.at(t)
        if level is not None:
            lines.append(Ranked(0, each, level.es, report))
    lines.sort(key=lambda line: (-line.score, line.contestant.name))
    return tuple(replace(line, place=1 + sum(other.score > line.score for other in lines)) for line in lines)


def spread(contestant: Contestant, t: int) -> Spread:
    """The speedups of a solver, and which of them are of right values at t."""
    timed = [(row, row.speedup, right_at(row, t)) for row in contestant.rows if row.speedup is not None]
    timed.sort(key=lambda each: each[1])
    return Spread(contestant.name, tuple(timed), len(contestant.rows) - len(timed))


def right_at(row: ScoreRow, t: int) -> bool:
    """Whether its speedup counts at t, as ES(t) has it: from t = 1 on, what is right at 1."""
    return row.speedup is not None and min(t, 1) in row.correct_at


def baseline_on(ground: Ground, among: Iterable[Board]) -> dict[Place, ScoreRow]:
    """TorchInductor's outcomes on that ground, over all boards."""
    return {
        (row.task_id, row.subgraph_id): row
        for board in among
        if board.ground == ground
        for each in board.contestants
        if each.solver is SolverKind.INDUCTOR
        for row in each.rows
    }


def beside(rows: Iterable[ScoreRow], others: Mapping[Place, ScoreRow], t: int) -> tuple[Beside, ...]:
    """Each of the rows beside the other solver's, at t: those that lose most first, those without another last."""
    pairs = [_beside(row, others.get((row.task_id, row.subgraph_id)), t) for row in rows]

    def loss(pair: Beside) -> tuple[bool, bool, float, str, str]:
        place = (pair.first.task_id, pair.first.subgraph_id)
        return pair.duel is None, pair.duel is not Duel.BEATEN, pair.ratio or 0.0, *place

    return tuple(sorted(pairs, key=loss))


def deciding(
    first: Contestant, second: Contestant, t: int, *, interpretation: Interpretation = Interpretation.DEFAULT
) -> tuple[Deciding, ...]:
    """What each subgraph of a board does to the ratio of two solvers' ES(t), those that decide most first."""
    ours, theirs = (
        error_aware_logs([each.sample for each in solver.entries if each.sample], t, interpretation=interpretation)
        for solver in (first, second)
    )
    share = len(first.rows)
    made = []
    for row, other, difference in zip(first.rows, second.rows, (ours - theirs).tolist(), strict=True):
        pair = _beside(row, other, t)
        made.append(Deciding(pair.first, pair.second, pair.ratio, pair.duel, exp(difference / share)))
    made.sort(key=lambda each: (-abs(log(each.multiplies)), each.first.task_id, each.first.subgraph_id))
    return tuple(made)


def duel(first: ScoreRow, second: ScoreRow, t: int) -> Duel:
    """Faster or slower: beyond the larger noise floor of the two, and, where intervals are known, these lie apart."""
    mine, other = first.speedup, second.speedup
    if mine is None or other is None or not (right_at(first, t) and right_at(second, t)):
        return NOT_BOTH[right_at(first, t), right_at(second, t)]
    floor = 1 + max(first.noise or 0.0, second.noise or 0.0)
    if mine > other * floor and _above(first.low, second.high):
        return Duel.FASTER
    return Duel.SLOWER if other > mine * floor and _above(second.low, first.high) else Duel.SAME


def tally(pairs: Iterable[Beside]) -> dict[Duel, int]:
    """How often each came."""
    counts = dict.fromkeys(Duel, 0)
    for each in pairs:
        if each.duel is not None:
            counts[each.duel] += 1
    return counts


def duel_words(first: str, second: str) -> dict[Duel, str]:
    """Each duel in words that name the two."""
    return {
        Duel.FASTER: f"{first} faster",
        Duel.SLOWER: f"{second} faster",
        Duel.SAME: "no measurable difference",
        Duel.ALONE: f"only {first} right",
        Duel.BEATEN: f"only {second} right",
        Duel.NEITHER: "neither right",
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
    mine, other = first.speedup, second.speedup
    ratio = None if mine is None or other is None else mine / other
    return Beside(first, second, ratio, duel(first, second, t))


def entry_of(row: ScoreRow) -> ReportEntry:
    return ReportEntry(
        solver=row.solver,
        bundle_digest=row.bundle_digest,
        device=row.device,
        capture=row.capture,
        profile=row.profile,
        task_id=row.task_id,
        subgraph_id=row.subgraph_id,
        verdict=row.verdict,
        finished_at=row.finished_at,
        sample=Sample(row.speedup, row.correct_at, row.error_class),
    )


def table_of(columns: SampleColumns) -> SampleTable:
    """The store's columns as those that scores are reckoned over. Raises EmptyScore on none."""
    codes = {each.value: code for code, each in enumerate(ErrorClass)}
    codes[""] = codes[ErrorClass.ACCURACY.value]
    speedups = np.array(columns.speedups, dtype=np.float64)
    timed = ~np.isnan(speedups)
    return SampleTable.of(
        SampleTable(
            np.log(np.where(timed, speedups, 1.0)),
            np.where(timed, np.array(columns.correct_bits, dtype=np.int64), 0),
            np.array([codes[each] for each in columns.error_classes], dtype=np.int8),
        )
    )


@lru_cache(maxsize=256)
def _report(contestant: Contestant, p: float, b: float, interpretation: Interpretation) -> ScoreReport:
    return score_report(contestant.entries, p=p, b=b, interpretation=interpretation)


def _boards_of(
    ground: Ground, rows: Sequence[ScoreRow], names: Mapping[str, str], totals: Mapping[str, int]
) -> list[Board]:
    baseline: dict[Place, ScoreRow] = {}
    bundles: dict[str, dict[Place, ScoreRow]] = {}
    authors: dict[str, dict[Place, ScoreRow]] = {}
    for row in sorted(rows, key=lambda row: (row.finished_at, row.run_id)):
        place = (row.task_id, row.subgraph_id)
        if row.bundle_digest is None:
            baseline[place] = row
            continue
        bundles.setdefault(row.bundle_digest, {})[place] = row
        if row.author:
            authors.setdefault(row.author, {})[place] = row
    made = []
    for places in {frozenset(each) for each in (baseline, *bundles.values(), *authors.values())} - {frozenset()}:
        order = tuple(sorted(places))

        def covering(found: Mapping[Place, ScoreRow], order: tuple[Place, ...] = order) -> tuple[ScoreRow, ...]:
            """Its row at each place; none where it lacks one."""
            return tuple(found[place] for place in order) if all(place in found for place in order) else ()

        contestants = [
            Contestant(names.get(digest, f"bundle {digest[:6]}"), SolverKind.PASSES, digest, whole)
            for digest, found in sorted(bundles.items())
            if (whole := covering(found))
        ]
        # an author whose one bundle covers the board needs no second line
        single = {row.author for each in contestants for row in each.rows}
        contestants += [
            Contestant(f"{author} bundles", SolverKind.PASSES, None, whole)
            for author, found in sorted(authors.items())
            if author not in single and (whole := covering(found))
        ]
        if whole := covering(baseline):
            contestants.append(Contestant(INDUCTOR, SolverKind.INDUCTOR, None, whole))
        total = sum(totals.get(task_id, 0) for task_id in {task_id for task_id, _ in order})
        # without the profile: the same choice holds when one turns from one profile to the other
        key = digest_of([*ground[:2], [list(place) for place in order]])
        made.append(Board(key[:10], *ground, order, max(total, len(order)), tuple(contestants)))
    return made
