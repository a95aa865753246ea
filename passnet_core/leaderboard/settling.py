"""What became of submissions, told from the outcomes of their runs whenever somebody looks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from passnet_core.leaderboard.submission_register import SubmissionRegister
from passnet_core.leaderboard.submissions import (
    BoardEntry,
    JudgingRound,
    found_out,
    judgement_of,
    with_judgement,
)
from passnet_core.records import Outcome


@dataclass(frozen=True)
class RunState:
    """How far a run is. total: the number of its jobs. problem: why it ended before its last outcome, or ""."""

    finished: bool
    total: int
    outcomes: tuple[Outcome, ...]
    problem: str = ""


Look = Callable[[str], RunState]
"""Tells how far the run with this id is."""


def settle(register: SubmissionRegister, look: Look, at: str) -> tuple[str, ...]:
    """Keep what the judge found in the rounds that have finished. A submission that is found good appears; one that a
    later judging finds out is taken back. at: now. Returns the ids of those that were taken back."""
    taken = []
    for entry in register.unsettled():
        for each in entry.rounds:
            if each.judgement is None and (states := _finished(each, look)) is not None:
                entry, was_taken = _settled(register, entry, each, states, look, at)
                taken += [entry.submission.id] if was_taken else []
    return tuple(taken)


def _finished(each: JudgingRound, look: Look) -> Sequence[RunState] | None:
    """How the runs of a round ended; None if one has not."""
    states = []
    # the last one first: it is the likeliest to be unfinished, and then no other has to be read
    for _, run_id in reversed(each.runs):
        state = look(run_id)
        if not state.finished:
            return None
        states.append(state)
    return states[::-1]


def _settled(
    register: SubmissionRegister,
    entry: BoardEntry,
    each: JudgingRound,
    states: Sequence[RunState],
    look: Look,
    at: str,
) -> tuple[BoardEntry, bool]:
    """The entry with this round's judgement, and whether it was taken back because of it."""
    from passnet_core.leaderboard.submission_ranks import figures_of  # numpy loads only where scores are computed

    outcomes = [outcome for state in states for outcome in state.outcomes]
    problem = next((state.problem for state in states if state.problem), "")
    judgement = judgement_of(outcomes, sum(state.total for state in states), problem)
    if judgement.good:
        score, mean = figures_of(outcomes)
        judgement = replace(judgement, score=score, geometric_mean=mean)
    on_board = bool(entry.appeared_at) and entry.retraction is None
    before = [outcome for _, run_id in entry.round.runs for outcome in look(run_id).outcomes] if on_board else []
    taken = False
    # first what follows from it: if this process is killed in between, the next look does it again
    if on_board and (found := found_out(outcomes, before, at=at)) is not None:
        taken = register.retract(entry.submission.id, found)
        judgement = replace(judgement, refusal=judgement.refusal or found.reason)
    entry = with_judgement(entry, each.number, judgement)
    if entry.appeared_at or (judgement.good and entry.retraction is None):
        register.appear(entry, at)
        entry = replace(entry, appeared_at=entry.appeared_at or at)
    register.settle(entry.submission.id, each.number, judgement)
    return entry, taken
