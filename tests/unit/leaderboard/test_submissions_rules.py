"""The rules of submissions: what outcomes say of one, when it is taken back, which version is ranked."""

from dataclasses import replace

import pytest

from passnet_core.errors import BadInput
from passnet_core.leaderboard.submissions import (
    BoardEntry,
    JudgingRound,
    Retraction,
    SubmissionState,
    found_out,
    judgement_of,
    labels_of,
    new_submission,
    ranked_entries,
    retraction,
)
from passnet_core.records import UNDECIDED, UNJUDGED, WRONG, Outcome, Verdict
from tests.contract.made import BUNDLE, job, outcome
from tests.fake_backend import FAKE_ENVIRONMENT

AT = "2026-01-02T03:04:05+00:00"


def outcomes(*verdicts: Verdict) -> list[Outcome]:
    return [
        replace(outcome(job(number), verdict), environment=FAKE_ENVIRONMENT) for number, verdict in enumerate(verdicts)
    ]


def entry(*found: list[Outcome], title: str = "Fast", version: int = 1, taken: Retraction | None = None) -> BoardEntry:
    """A submission that was judged so many times."""
    submission = replace(new_submission({"relu": BUNDLE}, title, owner="ann", at=AT), version=version)
    judged = [judgement_of(each, len(each)) if each else None for each in found]
    rounds = tuple(
        JudgingRound(number, (("relu", f"run-{version}-{number}"),), AT, each) for number, each in enumerate(judged, 1)
    )
    return BoardEntry(submission, rounds, taken)


GOOD, BAD = outcomes(Verdict.FASTER, Verdict.WRONG_VALUES), outcomes(Verdict.WRONG_VALUES)
FAILED = outcomes(Verdict.FASTER, Verdict.INFRASTRUCTURE)


@pytest.mark.parametrize(
    ("rounds", "state"),
    [
        (([],), SubmissionState.JUDGING),
        ((GOOD,), SubmissionState.ON_BOARD),
        ((BAD,), SubmissionState.NOT_ACCEPTED),
        ((FAILED,), SubmissionState.NOT_JUDGED),
        ((FAILED, []), SubmissionState.JUDGING),
        ((FAILED, GOOD), SubmissionState.ON_BOARD),
        ((GOOD, []), SubmissionState.ON_BOARD),
        ((GOOD, FAILED), SubmissionState.ON_BOARD),
    ],
)
def test_the_state_follows_from_what_the_judge_found(rounds: tuple[list[Outcome], ...], state: SubmissionState) -> None:
    assert entry(*rounds).state is state
    taken = retraction("Why not", at=AT, by="an operator")
    assert entry(*rounds, taken=taken).state is SubmissionState.TAKEN_BACK
    assert entry(*rounds, taken=taken).reason == "Why not"


def test_the_round_that_counts_is_the_newest_that_put_it_on_the_board() -> None:
    better = outcomes(Verdict.FASTER, Verdict.FASTER)
    assert entry(GOOD, better, FAILED, []).round.number == 2
    assert entry(FAILED, FAILED).round.number == 2
    assert entry(FAILED, GOOD, []).judged_run_ids == ("run-1-2",)


@pytest.mark.parametrize("verdict", sorted(UNJUDGED | UNDECIDED))
def test_where_nothing_is_known_nothing_is_said_against_it(verdict: Verdict) -> None:
    found = judgement_of(outcomes(verdict), 1)
    assert (found.good, found.refusal) == (False, "")
    assert found.unjudged.startswith(f"relu, float32/0: {verdict.value}.")


def test_a_run_that_ended_before_its_last_outcome_says_nothing_either() -> None:
    found = judgement_of(outcomes(Verdict.FASTER), 2, "The process ended.")
    assert (found.good, found.unjudged) == (False, "The process ended.")
    assert "1 of 2" in judgement_of(outcomes(Verdict.FASTER), 2).unjudged


def test_a_cheat_counts_even_where_the_rest_could_not_be_judged() -> None:
    found = judgement_of(outcomes(Verdict.INFRASTRUCTURE, Verdict.CHEAT, Verdict.FASTER), 3)
    assert "cheat" in found.refusal
    assert found.unjudged == ""


@pytest.mark.parametrize("verdict", sorted(WRONG))
def test_what_was_accepted_and_now_is_wrong_is_found_out(verdict: Verdict) -> None:
    now = outcomes(Verdict.FASTER, verdict)
    found = found_out(now, outcomes(Verdict.FASTER, Verdict.SLOWER), at=AT)
    assert found is not None
    assert (found.at, found.by) == (AT, "the judge fake")
    assert found.reason.startswith(f"relu, float32/1: {verdict.value}.")
    assert found_out(now, outcomes(Verdict.FASTER, Verdict.CRASHED), at=AT) is None


@pytest.mark.parametrize("verdict", [Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.INCONCLUSIVE, Verdict.INFRASTRUCTURE])
def test_what_may_come_from_the_machine_takes_nothing_back(verdict: Verdict) -> None:
    assert found_out(outcomes(verdict), outcomes(Verdict.FASTER), at=AT) is None


def test_of_each_title_the_newest_version_on_the_board_is_ranked() -> None:
    taken = retraction("Why not", at=AT, by="its owner")
    all_of_them = [
        entry(GOOD, version=3, taken=taken),
        entry(GOOD, version=2),
        entry(GOOD, version=1),
        entry(BAD, title="Other"),
    ]
    assert [(each.submission.title, each.submission.version) for each in ranked_entries(all_of_them)] == [("Fast", 2)]


def test_two_of_one_name_and_title_have_labels_of_their_own() -> None:
    alike = [replace(each, submission=replace(each.submission, name="Zoe")) for each in (entry(GOOD), entry(GOOD))]
    labels = labels_of(alike)
    assert len(set(labels.values())) == 2
    assert all(label.startswith("Zoe: Fast, version 1 (") for label in labels.values())


@pytest.mark.parametrize(
    "given",
    [{"title": ""}, {"title": "x" * 81}, {"title": "a\x07b"}, {"name": "x" * 81}, {"name": "anonymous 12AB"},
     {"note": "x" * 501}],
)  # fmt: skip
def test_a_text_that_cannot_be_shown_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(BadInput, match=r"Choose another one"):
        new_submission({"relu": BUNDLE}, **{"title": "Fast", **given}, owner="", at=AT)  # type: ignore[arg-type]
