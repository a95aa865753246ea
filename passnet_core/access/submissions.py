"""Submissions to the leaderboard as one person sees them: handing in, judging again, names, taking back.

Whatever a submitter brings, each bundle is judged here from its source, and nothing that is known of it already is
used: the runs are fresh, by the strict profile, on all subgraphs. Their spec has no seed. So the judge draws one at
random for each subgraph, after the submitted code is loaded, and from it all inputs of values and of timed calls: other
ones than in any run before, which nobody can know in advance."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from passnet_core.access.visit import Visit
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.execution.jobs import now
from passnet_core.leaderboard.entering import read_link, read_submission
from passnet_core.leaderboard.submission_register import no_submission
from passnet_core.leaderboard.submissions import (
    BY_OPERATOR,
    BY_OWNER,
    BoardEntry,
    SubmissionState,
    new_submission,
    retraction,
    shown_name,
)
from passnet_core.people.person import PersonRole
from passnet_core.people.quotas import NotAllowed
from passnet_core.records import Bundle, Device, EvalSpec, Profile, Stage, Task
from passnet_core.service import Service

STANDING_STATES = frozenset({SubmissionState.JUDGING, SubmissionState.ON_BOARD})


class Submitter(Protocol):
    """The part of PersonalService that has bundles judged."""

    @property
    def owner(self) -> str: ...
    @property
    def device(self) -> Device: ...
    def submit(
        self, task: Task, bundle: Bundle | None, spec: EvalSpec, *, label: str = ..., fresh: bool = ...
    ) -> str: ...
    def bundle(self, digest: str) -> Bundle: ...


class Submissions:
    """The submissions that a person sees: those that are on the board or were taken back from it, and one's own.

    Every question first looks whether the judge has finished with something, so nobody has to wait for it."""

    def __init__(self, service: Service, visit: Visit, submitter: Submitter) -> None:
        self._service, self._visit, self._submitter = service, visit, submitter
        self._person, self._note, self._kept = visit.person, visit.note, service.submitted

    # --- what is here ---

    @property
    def may_submit(self) -> bool:
        return self._person is None or self._person.role is not PersonRole.VISITOR

    @property
    def rules_all(self) -> bool:
        """Whether this person may have every submission judged again, and take it back."""
        return self._person is None or self._person.role is PersonRole.OPERATOR

    def all(self) -> tuple[BoardEntry, ...]:
        """Those that this person sees, the newest first."""
        self.settle()
        return tuple(filter(self._sees, self._kept.entries()))

    def entry(self, submission_id: str) -> BoardEntry:
        """Raises UnknownItem, in the same words for one that this person may not see."""
        self.settle()
        found = self._kept.entry(submission_id)
        if not self._sees(found):
            raise no_submission(submission_id)
        return found

    def is_own(self, entry: BoardEntry) -> bool:
        return self._person is None or entry.submission.owner == self._person.id

    def may_judge_again(self, entry: BoardEntry) -> bool:
        """Who runs the server may, whenever nothing of it is being judged; its owner where the judge could say
        nothing."""
        if entry.being_judged or entry.state is SubmissionState.TAKEN_BACK:
            return False
        return self.rules_all or (self.is_own(entry) and entry.state is SubmissionState.NOT_JUDGED)

    def settle(self) -> None:
        """Look whether the judge has finished with submissions, and what follows from it."""
        for submission_id in self._service.settle_submissions():
            Visit(self._visit.register).note("took back a submission by a later judging", submission_id)

    # --- handing in ---

    def from_source(self, source: str, task_id: str = "") -> dict[str, Bundle]:
        """Read a folder or a run file of this machine, or a link, as entering.read_submission does. For commands only:
        whom a server serves must not name its files. Raises BadInput, UnknownItem."""
        if self._person is not None:
            raise NotAllowed("Hand in a run file or a link here. Folders are for the command line.")
        return read_submission(source, task_id, self._submitter.bundle)

    def from_link(self, text: str, task_id: str = "") -> dict[str, Bundle]:
        """As entering.read_link; a stored bundle is one that this person sees."""
        return read_link(text, task_id, self._submitter.bundle)

    def submit(self, bundles: Mapping[str, Bundle], title: str, *, name: str = "", note: str = "") -> BoardEntry:
        """Hand in these bundles, by task, and have them judged. A submission with a title that one has used already is
        its next version. name: how one is shown; "": anonymously, or as with the version before.

        Raises BadInput for a text that is none or too long and for what one has submitted already, UnknownItem for a
        task that is not here, NotAllowed and QuotaExceeded."""
        if not self.may_submit:
            raise NotAllowed("Submissions are for those who have signed in. Sign in first.")
        if not bundles:
            raise BadInput("There is no bundle to submit. Choose a run file, or paste a link.")
        # who wrote a bundle is often who submits it, and may not want to be known
        bundles = {task_id: replace(each, author="") for task_id, each in bundles.items()}
        owner = "" if self._person is None else self._person.id
        submission = new_submission(bundles, title, owner=owner, at=now(), name=name, note=note)
        alike = [
            each for each in self.all()
            if (each.submission.owner, each.submission.title) == (owner, submission.title)
        ]  # fmt: skip
        before = max(alike, key=lambda each: each.submission.version, default=None)
        if before and before.submission.bundles == submission.bundles and before.state in STANDING_STATES:
            raise BadInput(
                f"Version {before.submission.version} of {submission.title!r} has these very passes. Change them, or "
                "choose another title."
            )
        runs = self._judged(bundles, submission.id)
        added = self._kept.add(submission, runs)
        if name or (before and before.submission.name):
            self._kept.rename(added, submission.name or (before.submission.name if before else ""))
        self._note("submitted to the leaderboard", added.id)
        return self._kept.entry(added.id)

    # --- what happens to it ---

    def judge_again(self, submission_id: str) -> BoardEntry:
        """Have a submission judged by the judge of today. If it then is a cheat, breaks a rule, or is wrong where it
        was accepted before, it is taken back by that. Raises UnknownItem, NotAllowed, QuotaExceeded."""
        entry = self.entry(submission_id)
        if not self.may_judge_again(entry):
            why = "it is being judged" if entry.being_judged else f"it is {entry.state.value}"
            raise NotAllowed(f"Submission {submission_id} cannot be judged again by you now: {why}.")
        bundles = {task_id: self._service.bundle(digest) for task_id, digest in entry.submission.bundles}
        self._kept.start_round(submission_id, self._judged(bundles, submission_id), now())
        self._note("had a submission judged again", submission_id)
        return self.entry(submission_id)

    def rename(self, submission_id: str, name: str) -> None:
        """Show all versions of a submission of one's own under this name; "": anonymously. Raises UnknownItem,
        NotAllowed, BadInput."""
        entry = self._own(submission_id)
        self._kept.rename(entry.submission, shown_name(name))
        self._note("named a submission" if name.strip() else "made a submission anonymous", submission_id)

    def withdraw(self, submission_id: str, reason: str = "") -> None:
        """Take back a submission of one's own, for good. Raises UnknownItem, NotAllowed, BadInput."""
        entry = self._own(submission_id)
        self._take_back(entry, reason.strip() or "Withdrawn by its owner.", BY_OWNER)

    def take_back(self, submission_id: str, reason: str) -> None:
        """Take back anybody's submission, for good. For who runs the server. reason: what everybody reads. Raises
        UnknownItem, NotAllowed, BadInput."""
        if not self.rules_all:
            raise NotAllowed("Only who runs this server takes back what others have submitted.")
        self._take_back(self.entry(submission_id), reason, BY_OPERATOR)

    # --- inside ---

    def _sees(self, entry: BoardEntry) -> bool:
        return bool(entry.appeared_at) or self.rules_all or self.is_own(entry)

    def _own(self, submission_id: str) -> BoardEntry:
        entry = self.entry(submission_id)
        if not self.is_own(entry):
            raise NotAllowed(f"Submission {submission_id} is not yours.")
        return entry

    def _take_back(self, entry: BoardEntry, reason: str, by: str) -> None:
        found = entry.submission
        if not self._kept.retract(found.id, retraction(reason, at=now(), by=by)):
            raise BadInput(f"Submission {found.id} was taken back already.")
        for _, run_id in entry.rounds[-1].runs if entry.being_judged else ():
            with contextlib.suppress(PlaygroundError):  # another process judges it, or has finished
                self._service.cancel(run_id)
        self._note("withdrew a submission" if by == BY_OWNER else "took back a submission", found.id)

    def _judged(self, bundles: Mapping[str, Bundle], label: str) -> Sequence[tuple[str, str]]:
        """Start a run for each task; all of them or none."""
        tasks = [self._service.corpus.task(task_id) for task_id in bundles]
        device = self._submitter.device
        # on a CPU nothing can be timed: then values are all that is judged
        stage = Stage.MEASURE if device is Device.CUDA else Stage.VERIFY
        spec = EvalSpec(stage=stage, device=device, profile=Profile.STRICT)
        jobs, owner = sum(len(each.subgraphs) for each in tasks), self._submitter.owner
        started = []
        with self._service.admission(owner), contextlib.ExitStack() as undoing:
            self._visit.admit(jobs, self._service.load_of(owner), on_gpu=device is Device.CUDA)
            for task in tasks:
                run_id = self._submitter.submit(task, bundles[task.id], spec, label=f"submission {label}", fresh=True)
                undoing.callback(self._service.cancel, run_id)
                started.append((task.id, run_id))
            undoing.pop_all()
        return started
