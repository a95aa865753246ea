"""What the measurements say first: how many subgraphs TorchInductor slows down, and what the best solver makes of the
same ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from passnet_core.leaderboard.boards import TELLING, Board, Contestant, Place, ranked
from passnet_core.records import BASELINE_NAMES, Baseline, Capture, Profile, SolverKind
from passnet_core.store.rows import ScoreRow

INDUCTOR = BASELINE_NAMES[Baseline.INDUCTOR]
ALIKE = 0.9
"""Another capture is told of if this share of the subgraphs was measured in it too."""


@dataclass(frozen=True)
class Tally:
    """What a contender makes of the subgraphs. slower: on how many it is slower than eager, beyond its interval and the
    noise floor. failed: on how many it is not right. speedup: the median over the others; None: there are none."""

    total: int
    slower: int
    failed: int
    speedup: float | None

    @property
    def share(self) -> str:
        """The share that is slowed down, as "4%"; of few subgraphs as "1 of 2"."""
        return f"{self.slower / self.total:.0%}" if self.total >= TELLING else f"{self.slower} of {self.total}"


@dataclass(frozen=True)
class Headline:
    """inductor, solver: tallies by capture, all over the same subgraphs of one device, profile and clock version; empty
    if it was not measured. name: the solver's. total: subgraphs of these tasks in the corpus; None: not known."""

    device: str
    profile: Profile
    clock_version: int
    name: str
    places: tuple[Place, ...]
    total: int | None
    inductor: dict[Capture, Tally]
    solver: dict[Capture, Tally]
    rows: tuple[ScoreRow, ...]

    @property
    def task_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task_id for task_id, _ in self.places))

    @property
    def dates(self) -> tuple[str, ...]:
        """The days of measurement, in order, as YYYY-MM-DD."""
        return tuple(sorted({row.finished_at[:10] for row in self.rows}))

    @property
    def recorded(self) -> tuple[str, ...]:
        """Where and when what is recorded was measured; empty: all of it was measured here."""
        return tuple(sorted({row.recorded for row in self.rows} - {""}))

    @property
    def noise(self) -> float | None:
        """The median noise floor, a share as in Outcome; None: not measured."""
        known = [row.noise for row in self.rows if row.noise is not None]
        return median(known) if known else None


def finding(boards: Sequence[Board]) -> Headline | None:
    """Return what the most telling board says, with the other capture if nearly all of its subgraphs were measured in
    it too; None: neither was measured. boards: in the order of boards()."""
    strict = [each for each in boards if each.profile is Profile.STRICT] or list(boards)
    first = next((each for each in strict if _inductor(each)), strict[0] if strict else None)
    if first is None:
        return None
    best = next((line.contestant for line in ranked(first, 0) if line.contestant.solver is SolverKind.PASSES), None)
    if best is None and not _inductor(first):
        return None
    chosen = [first]
    shared = frozenset(first.places)
    for capture in Capture:
        alike = [each for each in strict if each.ground == (first.device, capture, first.profile, first.clock_version)]
        other = max(alike, key=lambda board: _fit(board, first, best), default=None)
        if capture is not first.capture and other is not None:
            common = shared.intersection(other.places)
            if len(common) >= ALIKE * len(first.places):
                chosen.append(other)
                shared = common
    places = tuple(place for place in first.places if place in shared)
    order = sorted(chosen, key=lambda board: board.capture is not Capture.DIRECT)
    found = {board.capture: (_rows(_inductor(board), shared), _rows(_named(board, best), shared)) for board in order}
    return Headline(
        device=first.device,
        profile=first.profile,
        clock_version=first.clock_version,
        name=best.name if best else "",
        places=places,
        total=next((board.total for board in chosen if len(board.places) == len(places)), None),
        inductor={capture: _tally(rows) for capture, (rows, _) in found.items() if rows},
        solver={capture: _tally(rows) for capture, (_, rows) in found.items() if rows},
        rows=tuple(row for inductor, solver in found.values() for row in (*inductor, *solver)),
    )


def headline(found: Headline) -> str:
    """The finding in one sentence: what TorchInductor slows down; if it was not measured, what the solver does."""
    if not found.inductor:
        return solver_sentence(found)
    (capture, first), *others = found.inductor.items()
    of = f"{first.share} of {first.total}" if first.total >= TELLING else first.share
    more = "".join(f", {tally.share} in {other.value} capture" for other, tally in others)
    return f"{INDUCTOR} slows down {of} subgraphs in {capture.value} capture{more}."


def solver_sentence(found: Headline) -> str:
    """What the best solver makes of the same subgraphs; empty if no solver ran them."""
    told = [
        f"on {tally.share}{_median(tally)}{_failures(tally)} in {capture.value} capture"
        for capture, tally in found.solver.items()
    ]
    same = " on the same subgraphs" if found.inductor else f" on {len(found.places)} subgraphs"
    return f"The best solver{same}, {found.name}, is slower than eager {' and '.join(told)}." if told else ""


def medians(found: Headline) -> str:
    """TorchInductor's median speedups, as "TorchInductor's median: 1.15× eager direct, 0.79× compiled"."""
    told = [
        f"{tally.speedup:.2f}× {capture.value}"
        for capture, tally in found.inductor.items()
        if tally.speedup is not None
    ]
    return f"{INDUCTOR}'s median: {', '.join(told)}" if told else ""


def _median(tally: Tally) -> str:
    return f" (median {tally.speedup:.2f}× eager)" if tally.speedup is not None else ""


def _failures(tally: Tally) -> str:
    return f" and not right on {tally.failed}" if tally.failed else ""


def _fit(board: Board, first: Board, best: Contestant | None) -> tuple[bool, bool, int]:
    met = len(frozenset(first.places).intersection(board.places))
    return _inductor(board) is not None, _named(board, best) is not None, met


def _inductor(board: Board) -> Contestant | None:
    return next((each for each in board.contestants if each.rows[0].baseline is Baseline.INDUCTOR), None)


def _named(board: Board, wanted: Contestant | None) -> Contestant | None:
    alike = (each for each in board.contestants if wanted and each.solver is wanted.solver and each.name == wanted.name)
    return next(alike, None)


def _rows(contestant: Contestant | None, places: Iterable[Place]) -> tuple[ScoreRow, ...]:
    among = frozenset(places)
    return tuple(row for row in (contestant.rows if contestant else ()) if (row.task_id, row.subgraph_id) in among)


def _slower(row: ScoreRow) -> bool:
    """Whether a right result is slower than eager: its whole interval is, and its speedup beyond the noise floor."""
    if row.error_class is not None or row.speedup is None or (row.high is not None and row.high >= 1):
        return False
    return row.speedup < 1 / (1 + (row.noise or 0.0))


def _tally(rows: Sequence[ScoreRow]) -> Tally:
    right = [row.speedup for row in rows if row.error_class is None and row.speedup is not None]
    return Tally(
        total=len(rows),
        slower=sum(map(_slower, rows)),
        failed=len(rows) - len(right),
        speedup=median(right) if right else None,
    )
