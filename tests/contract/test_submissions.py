"""Submissions to the leaderboard: judged afresh before they appear, open, anonymous until named, taken back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from passnet_core.access.personal import PersonalService
from passnet_core.bundles.packing import packed
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.leaderboard.entering import read_run_file
from passnet_core.leaderboard.submissions import SubmissionState, retraction
from passnet_core.people.person import PersonRole
from passnet_core.people.quotas import NotAllowed, QuotaExceeded
from passnet_core.records import Device, EvalSpec, Job, Stage, Verdict
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.contract.made import MEASURE, outcome, run_of
from tests.contract.submitting import TASKS, SubmissionServer, bundle, submission_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SubmissionServer]:
    with submission_server(tmp_path) as made:
        yield made


def claimed(verdict: Verdict, code: str) -> str:
    """A run file in which somebody claims this verdict, a great speedup and a seed of their choice."""
    spec = EvalSpec(stage=Stage.MEASURE, device=Device.CUDA, seed=7)
    jobs = tuple(Job(each, bundle(code), spec) for each in TASKS[0].subgraphs)
    outcomes = tuple(outcome(job, verdict, speedup=99.0) for job in jobs)
    return exchange.written(RunFile(run_of(*jobs), (bundle(code),), outcomes))


def test_a_submission_is_judged_afresh_and_then_ranked_as_one_solver(server: SubmissionServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    known = {each.id: bundle() for each in TASKS}
    for each in TASKS:  # she has judged the same passes before
        ann.wait(ann.submit(each, known[each.id], MEASURE))
    asked = len(server.backend.jobs)
    entry = server.finished(ann.submissions.submit(known, "Fast norms"))
    again = server.backend.jobs[asked:]
    assert sorted(job.subgraph.task_id for job in again) == ["relu"] * 3 + ["wide"] * 2
    assert {(job.spec.seed, job.spec.stage, job.spec.profile.value) for job in again} == {
        (None, Stage.MEASURE, "strict")
    }
    assert entry.state is SubmissionState.ON_BOARD
    name = f"anonymous {entry.submission.code}: Fast norms, version 1"
    board = server.board_of(bob, name)
    (line,) = board.contestants
    assert (len(board.places), {each.task_id for each in line.rows}) == (5, {"relu", "wide"})
    assert server.ranked(bob) == {name}
    # the same passes, which she ran herself, are no second solver because of it
    assert entry.judgement is not None
    assert entry.judgement.score is not None
    assert entry.judgement.score[0] == pytest.approx(1.5, rel=0.01)
    assert {each.kind.value for each in board.contestants} == {"a submission"}


def test_evidence_is_closed_before_it_is_on_the_board_and_then_open_for_good(server: SubmissionServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    server.judge.told["BAD"] = Verdict.WRONG_VALUES
    refused = server.submitted("Ann", "# BAD", title="Wrong")
    assert refused.state is SubmissionState.NOT_ACCEPTED
    assert bob.submissions.all() == ()
    with pytest.raises(UnknownItem):
        bob.submissions.entry(refused.submission.id)
    with pytest.raises(UnknownItem):
        bob.run(refused.run_ids[0])
    entry = server.submitted("Ann", "# good")
    (run_id,) = entry.run_ids
    assert [each.submission.id for each in bob.submissions.all()] == [entry.submission.id]
    assert len(bob.outcomes(run_id)) == 3
    assert bob.bundle(bundle("# good").digest).passes[0].code == "# good"
    ann.share(run_id, True)
    ann.share(run_id, False)
    assert bob.sees(run_id), "whose run it is cannot close it again"


def test_what_a_run_file_says_of_verdicts_counts_for_nothing(server: SubmissionServer) -> None:
    ann = server.person("Ann")
    server.judge.told["SLOW"] = Verdict.WRONG_VALUES
    bundles = read_run_file(claimed(Verdict.FASTER, "# SLOW"))
    entry = server.finished(ann.submissions.submit(bundles, "Claims"))
    assert entry.state is SubmissionState.NOT_ACCEPTED
    assert "wrong values" in entry.reason
    good = read_run_file(claimed(Verdict.WRONG_VALUES, "# honest"))
    assert server.finished(ann.submissions.submit(good, "Modest")).state is SubmissionState.ON_BOARD
    assert 99.0 not in {row.speedup for board in ann.boards() for each in board.contestants for row in each.rows}
    assert {job.spec.seed for job in server.backend.jobs} == {None}


@pytest.mark.parametrize("verdict", [Verdict.CHEAT, Verdict.REJECTED])
def test_one_cheat_or_rejected_pass_keeps_all_of_it_from_the_board(server: SubmissionServer, verdict: Verdict) -> None:
    server.judge.told["SLY"] = verdict
    entry = server.submitted("Ann", "# fine", "# SLY")
    assert entry.state is SubmissionState.NOT_ACCEPTED
    assert entry.reason.startswith("wide, float32/0: ")
    assert verdict.value in entry.reason
    assert server.ranked(server.person("Bob")) == set()
    assert server.ranked(server.person("Ann")) == set(), "nor among her own"


def test_a_later_judge_takes_back_what_it_finds_out(server: SubmissionServer) -> None:
    bob, root = server.person("Bob"), server.person("Root", PersonRole.OPERATOR)
    entry = server.submitted("Ann", "# sly")
    assert len(server.ranked(bob)) == 1
    before = bob.revision()
    server.judge.told["sly"], server.judge.digest = Verdict.CHEAT, "second judge"
    with pytest.raises(NotAllowed):
        bob.submissions.judge_again(entry.submission.id)
    server.finished(root.submissions.judge_again(entry.submission.id))
    (seen,) = bob.submissions.all()
    assert seen.state is SubmissionState.TAKEN_BACK
    assert seen.retraction is not None
    assert "cheat" in seen.reason
    assert (seen.retraction.by, seen.retraction.at[:2]) == ("the judge second judge", "20")
    assert server.ranked(bob) == set()
    assert bob.revision() > before, "pages notice"
    assert all(bob.sees(each) for each in seen.run_ids), "the evidence for and against it"
    deeds = [(each.deed, each.about) for each in root.operations.log(2)]
    assert ("took back a submission by a later judging", entry.submission.id) in deeds


def test_what_was_wrong_from_the_start_is_no_reason_to_take_it_back(server: SubmissionServer) -> None:
    root = server.person("Root", PersonRole.OPERATOR)
    server.judge.told["relu float32/1"] = Verdict.WRONG_VALUES
    entry = server.submitted("Ann", "# mostly right")
    assert entry.judgement is not None
    assert (entry.judgement.accepted, entry.judgement.total) == (2, 3)
    again = server.finished(root.submissions.judge_again(entry.submission.id))
    assert again.state is SubmissionState.ON_BOARD
    server.judge.told["relu float32/2"] = Verdict.WRONG_VALUES
    assert server.finished(root.submissions.judge_again(entry.submission.id)).state is SubmissionState.TAKEN_BACK


def test_a_failed_machine_is_neither_and_its_owner_has_it_judged_again(server: SubmissionServer) -> None:
    ann = server.person("Ann")
    server.judge.told["relu"] = Verdict.INFRASTRUCTURE
    entry = server.submitted("Ann", "# fine")
    assert entry.state is SubmissionState.NOT_JUDGED
    assert "infrastructure error" in entry.reason
    server.judge.told.clear()
    again = server.finished(ann.submissions.judge_again(entry.submission.id))
    assert again.state is SubmissionState.ON_BOARD
    with pytest.raises(NotAllowed):  # not as often as one likes, until the times are good
        ann.submissions.judge_again(entry.submission.id)
    # a later failure of the machine says nothing against it
    server.judge.told["relu"] = Verdict.INFRASTRUCTURE
    root = server.person("Root", PersonRole.OPERATOR)
    assert server.finished(root.submissions.judge_again(entry.submission.id)).state is SubmissionState.ON_BOARD


def test_it_is_anonymous_until_its_owner_says_otherwise(server: SubmissionServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    bundles = {"relu": bundle("# mine", author="Ann of Example")}
    entry = server.finished(ann.submissions.submit(bundles, "Fast"))
    told = str([server.ranked(bob), bob.bundle(bundles["relu"].digest), bob.submissions.all()[0].submission.label])
    assert "anonymous " in told
    assert "Ann" not in told
    with pytest.raises(NotAllowed):
        bob.submissions.rename(entry.submission.id, "Bob")
    with pytest.raises(BadInput):
        ann.submissions.rename(entry.submission.id, "Anonymous 1234")
    ann.submissions.rename(entry.submission.id, "Ann")
    assert server.ranked(bob) == {"Ann: Fast, version 1"}
    later = server.submitted("Ann", "# better")
    assert later.submission.label == "Ann: Fast, version 2"
    ann.submissions.rename(entry.submission.id, "")
    assert server.ranked(bob) == {f"anonymous {entry.submission.code}: Fast, version 2"}


def test_versions_stay_and_the_newest_on_the_board_is_ranked(server: SubmissionServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    first = server.submitted("Ann", "# one")
    with pytest.raises(BadInput, match="Version 1 of 'Fast' has these very passes"):
        ann.submissions.submit({"relu": bundle("# one")}, "Fast")
    server.judge.told["# two"] = Verdict.WRONG_VALUES
    assert server.submitted("Ann", "# two").submission.version == 2
    assert server.ranked(bob) == {f"anonymous {first.submission.code}: Fast, version 1"}
    third = server.submitted("Ann", "# three")
    assert (third.submission.version, third.submission.code) == (3, first.submission.code)
    assert server.ranked(bob) == {third.submission.label}
    kept = bob.submissions.entry(first.submission.id)
    assert (kept.submission.version, kept.submission.bundles) == (1, (("relu", bundle("# one").digest),))
    other = server.submitted("Bob", "# four")
    assert (other.submission.version, other.submission.code != first.submission.code) == (1, True)
    ann.submissions.rename(third.submission.id, "Zoe")
    bob.submissions.rename(other.submission.id, "Zoe")
    ann.submissions.withdraw(third.submission.id)
    assert server.ranked(bob) == {
        f"Zoe: Fast, version 1 ({first.submission.id})", f"Zoe: Fast, version 1 ({other.submission.id})"
    }, "version 1 is back, and two of one name are told apart"  # fmt: skip


def test_taken_back_with_a_reason_it_stays_visible_and_unranked(server: SubmissionServer) -> None:
    ann, bob, root = server.person("Ann"), server.person("Bob"), server.person("Root", PersonRole.OPERATOR)
    first, second = server.submitted("Ann", "# one"), server.submitted("Ann", "# two", title="Other")
    ann.submissions.withdraw(first.submission.id, "It is slow.")
    with pytest.raises(NotAllowed):
        bob.submissions.withdraw(second.submission.id)
    with pytest.raises(NotAllowed):
        bob.submissions.take_back(second.submission.id, "I do not like it.")
    with pytest.raises(BadInput):
        root.submissions.take_back(second.submission.id, " ")
    root.submissions.take_back(second.submission.id, "It copies another one.")
    found = {each.submission.title: each.retraction for each in bob.submissions.all()}
    assert [(each.reason, each.by) for each in found.values() if each] == [
        ("It copies another one.", "an operator"), ("It is slow.", "its owner"),
    ]  # fmt: skip
    assert server.ranked(bob) == set()
    with pytest.raises(BadInput, match="taken back already"):
        root.submissions.take_back(first.submission.id, "Twice.")
    deeds = {each.deed for each in root.operations.log(20)}
    assert {"submitted to the leaderboard", "withdrew a submission", "took back a submission"} <= deeds


def test_what_is_withdrawn_while_it_is_judged_never_appears(server: SubmissionServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    server.judge.lets_go.clear()
    entry = ann.submissions.submit({"relu": bundle("# one")}, "Fast")
    assert (entry.state, entry.being_judged) == (SubmissionState.JUDGING, True)
    with pytest.raises(NotAllowed, match="it is being judged"):
        ann.submissions.judge_again(entry.submission.id)
    ann.submissions.withdraw(entry.submission.id)
    # as a command does, which cannot cancel the runs of this process
    other = ann.submissions.submit({"wide": bundle("# two")}, "Other")
    taken = retraction("By a command.", at=other.submission.submitted_at, by="an operator")
    server.service.submitted.retract(other.submission.id, taken)
    server.judge.lets_go.set()
    found = server.finished(entry)
    assert server.finished(other).rounds[0].judgement is not None
    assert (found.state, found.reason) == (SubmissionState.TAKEN_BACK, "Withdrawn by its owner.")
    assert not found.being_judged
    assert {each.submission.id for each in ann.submissions.all()} == {entry.submission.id, other.submission.id}
    assert bob.submissions.all() == ()
    assert not bob.sees(entry.run_ids[0])


def test_what_is_not_for_somebody_is_refused_before_anything_is_judged(server: SubmissionServer) -> None:
    visitor = PersonalService(server.service, server.register, server.register.visitor("v" * 32))
    with pytest.raises(NotAllowed, match="signed in"):
        visitor.submissions.submit({"relu": bundle()}, "Fast")
    ann = server.person("Ann")
    with pytest.raises(NotAllowed):  # a stranger must not name the server's files
        ann.submissions.from_source("/")
    for bundles, title, error in (
        ({}, "Fast", BadInput), ({"relu": bundle()}, " ", BadInput), ({"gone": bundle()}, "Fast", UnknownItem)
    ):  # fmt: skip
        with pytest.raises(error):
            ann.submissions.submit(bundles, title)
    server.register.spent(ann.owner, 1_800.0)
    with pytest.raises(QuotaExceeded):
        ann.submissions.submit({"relu": bundle()}, "Fast")
    assert server.backend.jobs == []
    assert ann.submissions.all() == ()


def test_a_link_with_a_digest_opens_only_what_somebody_sees(server: SubmissionServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    ann.wait(ann.submit(TASKS[0], bundle("# secret"), EvalSpec()))
    link = f"https://elsewhere.example/workbench?task=relu&bundle={bundle('# secret').digest}"
    assert ann.submissions.from_link(link) == {"relu": bundle("# secret")}
    with pytest.raises(UnknownItem):
        bob.submissions.from_link(link)
    sent = f"https://elsewhere.example/workbench?task=relu&code={packed(bundle('# secret'))}"
    entry = server.finished(bob.submissions.submit(bob.submissions.from_link(sent), "By link"))
    assert entry.submission.bundles == (("relu", bundle("# secret").digest),)


def test_without_a_gpu_it_is_right_not_timed_and_not_ranked(tmp_path: Path) -> None:
    with submission_server(tmp_path, Device.CPU) as server:
        entry = server.submitted("Ann", "# fine")
        assert entry.state is SubmissionState.ON_BOARD
        assert entry.reason.startswith("Right, not timed")
        assert entry.judgement is not None
        assert (entry.judgement.accepted, entry.judgement.timed, entry.judgement.score) == (3, 0, None)
        assert {job.spec.stage for job in server.backend.jobs} == {Stage.VERIFY}
        assert server.ranked(server.person("Bob")) == set()


def test_it_outlives_a_restart_and_one_whose_server_died_can_be_judged_again(tmp_path: Path) -> None:
    with submission_server(tmp_path) as server:
        entry = server.submitted("Ann", "# one")
        server.service.submitted.start_round(entry.submission.id, [("relu", "run-of-a-dead-server")], "2026-01-01")
        lost = server.person("Ann").submissions.submit({"relu": bundle("# two")}, "Lost")
        server.finished(lost)
    with submission_server(tmp_path) as server:
        found = {each.submission.title: each for each in server.person("Bob").submissions.all()}
        assert {title: each.state for title, each in found.items()} == {
            "Fast": SubmissionState.ON_BOARD, "Lost": SubmissionState.ON_BOARD
        }  # fmt: skip
        assert not found["Fast"].being_judged, "a run that is gone ends a judging without a verdict"
        assert len(server.ranked(server.person("Bob"))) == 2
