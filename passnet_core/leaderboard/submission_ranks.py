"""Submissions among the solvers of boards: each is one solver, however many bundles it has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from passnet_core.charts.contenders import SUBMITTED
from passnet_core.leaderboard.boards import Board, Contestant, OfGround, boards
from passnet_core.leaderboard.grounds import ground_of
from passnet_core.leaderboard.ranking import leaderboard
from passnet_core.leaderboard.submissions import BoardEntry, Figure, labels_of, ranked_entries
from passnet_core.records import Device, Outcome, Stage
from passnet_core.scoring.intervals import Interval
from passnet_core.store.rows import ScoreRow, bits_of

RowsOf = Callable[[str], Sequence[ScoreRow]]
"""The rows of the run with this id, as from rows_of."""


def boards_with_submissions(
    rows: Iterable[ScoreRow],
    entries: Sequence[BoardEntry],
    rows_of_run: RowsOf,
    *,
    task_id: str | None = None,
    names: Mapping[str, str],
    totals: Mapping[str, int],
    aborts_fail: bool = False,
    of_ground: OfGround | None = None,
) -> tuple[Board, ...]:
    """The boards of these outcomes and of the submissions that are on the board. Of each owner and title the newest
    version is ranked.

    rows: without those of the submissions' runs. task_id: None for all. Else as boards.boards."""
    chosen = ranked_entries(entries)
    submitted = [
        replace(row, bundle_digest=entry.submission.id)
        for entry in chosen
        for run_id in entry.judged_run_ids
        for row in rows_of_run(run_id)
        if task_id in (None, row.task_id)
    ]
    if not submitted:
        return boards(rows, names=names, totals=totals, aborts_fail=aborts_fail, of_ground=of_ground)
    labels = labels_of(chosen)
    made = boards(
        (*rows, *submitted),
        names={**names, **labels},
        totals=totals,
        aborts_fail=aborts_fail,
        several=frozenset(labels),
        of_ground=of_ground,
    )
    digests = {each.submission.id: dict(each.submission.bundles) for each in chosen}
    return tuple(
        replace(board, contestants=tuple(_with_digests(each, digests) for each in board.contestants)) for board in made
    )


def rows_of(outcomes: Iterable[Outcome], run_id: str) -> tuple[ScoreRow, ...]:
    """The scored outcomes of a run of passes as rows of a board."""
    return tuple(
        _row(each, run_id)
        for each in outcomes
        if each.verdict.judged
        and each.environment is not None
        and each.spec.stage is Stage.MEASURE
        and each.spec.device is Device.CUDA
        and (each.speedup() is not None or each.error_class is not None)
    )


def figures_of(outcomes: Sequence[Outcome]) -> tuple[Figure | None, Figure | None]:
    """The aggregate score and the geometric mean of a submission over all of its subgraphs that are scored, as the
    leaderboard computes them; None where nothing was timed, or not all under the same conditions."""
    rows = rows_of(outcomes, "")
    grounds = {ground_of(each) for each in rows}
    if len(grounds) != 1 or all(each.speedup is None for each in rows):
        return None, None
    places = tuple((each.task_id, each.subgraph_id) for each in rows)
    contestant = Contestant("submission", rows[0].solver, None, rows)
    (ranked,) = leaderboard(Board("", *grounds.pop(), places, len(places), (contestant,)), {})
    return _figure(ranked.score), _figure(ranked.geometric_mean)


def _figure(interval: Interval | None) -> Figure | None:
    return None if interval is None else (interval.value, interval.low, interval.high)


def _with_digests(contestant: Contestant, digests: Mapping[str, Mapping[str, str]]) -> Contestant:
    """A submission with the digests of its bundles; any other contestant as it is."""
    own = digests.get(contestant.bundle_digest or "")
    if own is None:
        return contestant
    rows = tuple(replace(each, bundle_digest=own[each.task_id], author=SUBMITTED) for each in contestant.rows)
    found = {each.bundle_digest for each in rows}
    return replace(contestant, bundle_digest=found.pop() if len(found) == 1 else None, rows=rows)


def _row(outcome: Outcome, run_id: str) -> ScoreRow:
    speedup = outcome.speedup()
    assert outcome.environment is not None
    return ScoreRow(
        run_id=run_id,
        recorded="",
        solver=outcome.solver,
        bundle_digest=outcome.bundle_digest,
        author="",
        task_id=outcome.task_id,
        subgraph_id=outcome.subgraph_id,
        subgraph_digest=outcome.subgraph_digest,
        dtype=outcome.dtype,
        device=outcome.environment.device,
        capture=outcome.spec.capture,
        profile=outcome.spec.profile,
        clock_version=outcome.environment.clock_version,
        verdict=outcome.verdict,
        error_class=outcome.error_class,
        speedup=None if speedup is None else speedup.value,
        correct_bits=bits_of(outcome),
        finished_at=outcome.finished_at,
        noise=outcome.noise,
        low=None if speedup is None else speedup.low,
        high=None if speedup is None else speedup.high,
    )
