"""What one person may see and do: the service, narrowed to what is this person's or everybody's.

A run is its owner's until the owner shares it. Runs of nobody are everybody's: those that came with the playground,
were imported, or were made by a command on the server. Whatever somebody may not see is told apart from nothing in no
way."""

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from passnet_core.access.account import Account
from passnet_core.access.classes import PersonalClasses
from passnet_core.access.operations import OperatorDesk
from passnet_core.access.searches import PersonalSearches
from passnet_core.access.submissions import Submissions
from passnet_core.access.talks import PersonalTalks
from passnet_core.access.visit import Visit
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.surveying import TaskMatches
from passnet_core.errors import UnknownItem
from passnet_core.execution.backends.base import Capacity, DeviceInfo
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.execution.scheduler import NOBODY
from passnet_core.lessons.course import Course
from passnet_core.lessons.lesson import Lesson
from passnet_core.lessons.progress import GradedRun
from passnet_core.outside import quoted
from passnet_core.people.groups import Groups
from passnet_core.people.person import TEACHERS, Person, PersonRole
from passnet_core.people.quotas import NotAllowed, ban_of
from passnet_core.people.register import Register
from passnet_core.records import (
    Baseline,
    Bundle,
    Device,
    EvalSpec,
    Inspection,
    Outcome,
    PassKernels,
    PassTrace,
    Run,
    SolverKind,
    Subgraph,
    Task,
    Verdict,
)
from passnet_core.service import ReferenceBundle, Service
from passnet_core.settings import Settings
from passnet_core.solvers.attempts import Judge, JudgeBench
from passnet_core.store.rows import (
    BaselineRow,
    Certificate,
    Draft,
    RunNote,
    RunSummary,
    SavedDraft,
    ScoreRow,
    Standing,
)

if TYPE_CHECKING:
    from passnet_core.leaderboard.boards import Board
    from passnet_core.leaderboard.example import Example
    from passnet_core.leaderboard.gallery import Exhibit


class SharedService(Protocol):
    """The part of Service that is everybody's: what comes with the playground, and what the judge says of it."""

    settings: Settings
    course: Course
    corpus: Corpus

    @property
    def problems(self) -> tuple[str, ...]: ...

    @property
    def importing_recorded(self) -> bool: ...

    def wait_until_imported(self) -> None: ...

    def device(self) -> DeviceInfo: ...

    def device_within(self, seconds: float) -> DeviceInfo | None: ...

    def capacity(self) -> Capacity: ...

    def load(self, *, light: bool = False) -> int: ...

    def under_way(self) -> int: ...

    def reference_bundles(self) -> tuple[ReferenceBundle, ...]: ...

    def inspection(self, subgraph: Subgraph, baseline: Baseline = ...) -> Inspection | None: ...

    def inspect_within(
        self, subgraphs: Sequence[Subgraph], seconds: float, cancelled: threading.Event
    ) -> Mapping[str, Inspection]: ...

    def example(self) -> "Example | None": ...

    def certificate(self, certificate_id: str) -> Certificate: ...


class PersonalService:
    """The service for one person. person: None for who may do everything, as on a machine of one's own. owner: who owns
    what is begun here, as the store names it; by default that person, or nobody."""

    def __init__(
        self,
        service: Service,
        register: Register | None = None,
        person: Person | None = None,
        *,
        owner: str = NOBODY,
        groups: Groups | None = None,
    ) -> None:
        self._service, self.person, self._visit = service, person, Visit(register, person)
        self._register, self._groups, self._note = register, groups, self._visit.note
        self.owner = owner if person is None else person.id
        if person is not None and ban_of(person):
            raise NotAllowed(ban_of(person))

    @property
    def shared(self) -> SharedService:
        """What is everybody's."""
        return self._service

    @property
    def corpus(self) -> Corpus:
        return self._service.corpus

    def reference_bundles(self) -> tuple[ReferenceBundle, ...]:
        return self._service.reference_bundles()

    @property
    def role(self) -> PersonRole:
        return PersonRole.OPERATOR if self.person is None else self.person.role

    @property
    def device(self) -> Device:
        """On what passes are judged for this person: the machine's GPU, or the CPU for who may not use it."""
        return self._service.device().device if self.may_use_gpu else Device.CPU

    @property
    def may_import(self) -> bool:
        """Whether this person may add runs from files, which everybody sees then."""
        return self.role in TEACHERS

    @property
    def operations(self) -> OperatorDesk:
        """What an operator sees and does. Raises NotAllowed for others."""
        return OperatorDesk(self._service, self._register, self.person)

    @property
    def account(self) -> Account:
        """This person's tokens, use and deeds. Raises NotAllowed for who has not signed in."""
        return Account(self._register, self.person)

    @property
    def classes(self) -> PersonalClasses:
        """The classes that this person teaches, or is in. Raises NotAllowed for who has not signed in."""
        return PersonalClasses(self._service, self._visit, self._groups)

    @property
    def talks(self) -> PersonalTalks:
        """The conversations with language models that this person sees."""
        return PersonalTalks(self._service, self._visit, self.owner, self.viewer)

    @property
    def searches(self) -> PersonalSearches:
        """This person's searches for passes for whole models."""
        return PersonalSearches(self._service, self.person, self.owner, self.viewer)

    @property
    def submissions(self) -> Submissions:
        """The submissions to the leaderboard that this person sees."""
        return Submissions(self._service, self._visit, self)

    @property
    def viewer(self) -> str | None:
        """Whose runs are seen, besides those of nobody; None for all."""
        return None if self.person is None or self.person.role is PersonRole.OPERATOR else self.person.id

    @property
    def may_use_gpu(self) -> bool:
        return self.person is None or self.person.allowance.gpu

    @property
    def longest_job_s(self) -> float:
        """How many seconds a pass of this person may take in a job."""
        return math.inf if self.person is None else self.person.allowance.job_s

    # --- judging ---

    def submit(
        self,
        task: Task,
        bundle: Bundle | None,
        spec: EvalSpec,
        *,
        subgraph_ids: Sequence[str] | None = None,
        label: str = "",
        fresh: bool = False,
        run_id: str = "",
    ) -> str:
        """Like Service.submit. Raises NotAllowed and QuotaExceeded too."""
        jobs = len(task.subgraphs if subgraph_ids is None else subgraph_ids)
        with self._service.admission(self.owner):
            self._visit.admit(
                jobs,
                self._service.load_of(self.owner),
                on_gpu=spec.device is Device.CUDA,
                kept_bytes=self._service.kept_bytes,
            )
            run_id = self._service.submit(
                task, bundle, spec, subgraph_ids=subgraph_ids, label=label, fresh=fresh, owner=self.owner, run_id=run_id
            )
        self._note("started a run", run_id)
        return run_id

    def wait(self, run_id: str) -> tuple[Outcome, ...]:
        self._see(run_id)
        return self._service.wait(run_id)

    def bench(self, task: Task, spec: EvalSpec, judge: Judge) -> JudgeBench:
        """Like Service.bench: judge has its bundles judged, as this person's."""
        return self._service.bench(task, spec, judge)

    def cancel(self, run_id: str) -> None:
        """Like Service.cancel, for a run of one's own."""
        if not self.is_own(run_id) and self.viewer is not None:
            raise NotAllowed(f"Run {run_id} is not yours, so you cannot cancel it.")
        self._service.cancel(run_id)
        self._note("cancelled a run", run_id)

    def check_within(
        self, task: Task, bundle: Bundle, spec: EvalSpec, subgraph_id: str, seconds: float
    ) -> Outcome | None:
        """Like Service.check_within. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit()
        return self._service.check_within(task, bundle, spec, subgraph_id, seconds, owner=self.owner)

    def survey(self, bundle: Bundle, task_ids: Sequence[str]) -> Iterator[TaskMatches]:
        """Like Service.survey. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit()
        return self._service.survey(bundle, task_ids, owner=self.owner)

    def kernels(self, subgraph: Subgraph, bundle: Bundle) -> PassKernels | None:
        """Like Service.kernels. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit()
        return self._service.kernels(subgraph, bundle, owner=self.owner)

    def programs(self, subgraph: Subgraph, bundle: Bundle) -> PassTrace | None:
        """Like Service.programs. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit()
        return self._service.programs(subgraph, bundle, owner=self.owner)

    # --- sharing ---

    def is_own(self, run_id: str) -> bool:
        """Whether this person asked for a run. Raises UnknownItem for a run that this person may not see."""
        self._see(run_id)
        return self._service.visitor_of(run_id) == self.owner

    def sees(self, run_id: str) -> bool:
        """Whether this person may see a run."""
        try:
            self._see(run_id)
        except UnknownItem:
            return False
        return True

    def is_shared(self, run_id: str) -> bool:
        """Whether everybody who has its link sees a run."""
        return self._register is None or self._register.is_shared(run_id)

    def share(self, run_id: str, shared: bool = True) -> None:
        """Let everybody who has its link see a run of one's own, or nobody else any more."""
        if not self.is_own(run_id):
            raise NotAllowed(f"Run {run_id} is not yours, so you cannot share it.")
        if self._register is None:
            raise NotAllowed("No person has a token here, so everybody sees every run.")
        self._register.share(run_id, self.owner, shared)
        self._note("shared a run" if shared else "stopped sharing a run", run_id)

    # --- what was judged ---

    def run(self, run_id: str) -> Run:
        self._see(run_id)
        return self._service.run(run_id)

    def progress(self, run_id: str, *, within_s: float = 0.0) -> Progress:
        self._see(run_id)
        return self._service.progress(run_id, within_s=within_s)

    def outcomes(self, run_id: str, *, as_they_came: bool = False) -> tuple[Outcome, ...]:
        """Like Service.outcomes."""
        self._see(run_id)
        return self._service.outcomes(run_id, as_they_came=as_they_came)

    def judged_run(self, bundle_digest: str, task_id: str, subgraph_digest: str) -> str | None:
        return self._service.judged_run(bundle_digest, task_id, subgraph_digest, self.viewer)

    def export_run(self, run_id: str) -> str:
        self._see(run_id)
        self._note("exported a run", run_id)
        return self._service.export_run(run_id)

    def import_run(self, text: str) -> str:
        """Like Service.import_run, for who may import. Raises NotAllowed too."""
        if not self.may_import:
            raise NotAllowed("Everybody would see an imported run, so only teachers and operators import runs here.")
        run_id = self._service.import_run(text)
        self._note("imported a run", run_id)
        return run_id

    def runs(
        self,
        limit: int,
        task_id: str | None = None,
        solver: SolverKind | None = None,
        *,
        checks: bool = False,
        mine: bool = False,
        verdicts: Sequence[Verdict] = (),
        starred: bool = False,
        offset: int = 0,
        after: str | None = None,
    ) -> tuple[RunSummary, ...]:
        """The newest runs first. mine: only one's own. starred: only those that one starred. Else as Service.runs.
        Raises UnknownItem if this person may not see the run `after`."""
        if after is not None:
            self._see(after)
        return self._service.runs(
            limit,
            task_id,
            solver,
            checks=checks,
            visitor=(self.owner or None) if mine else None,
            verdicts=verdicts,
            starred_by=self.owner if starred else None,
            viewer=self.viewer,
            offset=offset,
            after=after,
        )

    def count_runs(self, task_id: str | None, *, mine: bool = False) -> int:
        """How many runs there are. The arguments are those of runs."""
        visitor = (self.owner or None) if mine else None
        return self._service.count_runs(task_id, visitor=visitor, viewer=self.viewer)

    def bundle(self, digest: str) -> Bundle:
        """The bundle of a run that one sees, or one that comes with the playground."""
        for each in self._service.reference_bundles():
            if digest in (each.name, each.bundle.digest):
                return each.bundle
        shared = self._register is not None and self._register.is_shared(digest)
        shared = shared or self._service.submitted.opens(digest)
        if self.viewer is not None and not shared and not self._service.sees_bundle(digest, self.viewer):
            raise UnknownItem(f"There is no bundle {quoted(digest)} here. Take the digest from a run.")
        return self._service.bundle(digest)

    def add_bundle(self, bundle: Bundle) -> None:
        """Store a bundle that need not have been judged, for everybody who has its link. Raises NotAllowed for who has
        stored too much."""
        self._visit.keep(self._service.kept_bytes)
        self._service.add_bundle(bundle)
        if self._register is not None:
            self._register.share(bundle.digest, self.owner, True)

    def has_measured(self) -> bool:
        """Whether anything was measured for this person, which boards then have besides what is everybody's."""
        return self._service.has_measured(self.owner)

    def revision(self) -> int:
        """A number that changes whenever boards, rows or standings may change."""
        self.submissions.settle()
        return self._service.revision(self.viewer)

    def boards(self, task_id: str | None = None, *, aborts_fail: bool = False) -> "tuple[Board, ...]":
        self.submissions.settle()
        return self._service.boards(task_id, aborts_fail=aborts_fail, viewer=self.viewer)

    def score_rows(self, task_id: str | None = None) -> tuple[ScoreRow, ...]:
        return self._service.score_rows(task_id, self.viewer)

    def baseline_rows(self) -> tuple[BaselineRow, ...]:
        return self._service.baseline_rows(self.viewer)

    def standings(self) -> tuple[Standing, ...]:
        return self._service.standings(self.viewer)

    def gallery(self) -> "tuple[Exhibit, ...]":
        return self._service.gallery(self.viewer)

    # --- the course ---

    def attempts(self) -> Mapping[str, GradedRun]:
        return self._service.attempts(self.owner)

    def has_attempts(self) -> bool:
        return self._service.has_attempts(self.owner)

    def certify(self, holder: str) -> Certificate:
        return self._service.certify(self.owner, holder)

    def judge_lesson(self, lesson: Lesson, bundle: Bundle, *, fresh: bool = False) -> str:
        """Like Service.judge_lesson. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit(kept_bytes=self._service.kept_bytes)
        return self._service.judge_lesson(lesson, bundle, fresh=fresh, owner=self.owner)

    def time_lesson(self, lesson: Lesson, bundle: Bundle) -> str:
        """Like Service.time_lesson. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit(on_gpu=True, kept_bytes=self._service.kept_bytes)
        return self._service.time_lesson(lesson, bundle, owner=self.owner)

    def judge_certificate(self, certificate_id: str) -> Mapping[str, str]:
        """Have the passes of a certificate judged afresh, and return the run of each lesson. Who makes a certificate
        lets everybody who has its link do that. Raises UnknownItem, NotAllowed, QuotaExceeded."""
        self._visit.admit()
        course, judge = self._service.course, self._service.judge_lesson
        return {
            each.lesson_id: judge(
                course.lesson(each.lesson_id), self._service.bundle(each.bundle_digest), fresh=True, owner=self.owner
            )
            for each in self._service.certificate(certificate_id).lessons
        }

    def export_course(self) -> str:
        return self._service.export_course(self.owner)

    def import_course(self, text: str) -> int:
        """Like Service.import_course. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit(kept_bytes=self._service.kept_bytes)
        return self._service.import_course(self.owner, text)

    # --- notes and drafts ---

    def note_run(self, run_id: str, note: str) -> None:
        self._see(run_id)
        self._service.note_run(self.owner, run_id, note)

    def star_run(self, run_id: str, starred: bool) -> None:
        self._see(run_id)
        self._service.star_run(self.owner, run_id, starred)

    def run_note(self, run_id: str) -> RunNote:
        return self._service.run_note(self.owner, run_id)

    def run_notes(self) -> Mapping[str, RunNote]:
        return self._service.run_notes(self.owner)

    def save_draft(self, task_id: str, slot: str, bundle: Bundle, after: int | None) -> int | None:
        """Like Service.save_draft. Raises NotAllowed for who has stored too much."""
        self._visit.keep(self._service.kept_bytes)
        return self._service.save_draft(self.owner, task_id, slot, bundle, after)

    def draft(self, task_id: str, slot: str, place: int | None = None) -> SavedDraft | None:
        return self._service.draft(self.owner, task_id, slot, place)

    def drafts(self) -> tuple[Draft, ...]:
        return self._service.drafts(self.owner)

    def adopt_drafts(self) -> None:
        """Take over the drafts of a store from before drafts belonged to anybody, on a machine of one's own."""
        if self.person is None:
            self._service.adopt_drafts(self.owner)

    def used_s(self) -> float:
        """How many seconds were judged for this person in the last hour."""
        return 0.0 if self._register is None else self._register.used(self.owner)

    # --- inside ---

    def _see(self, run_id: str) -> None:
        """Raises UnknownItem for a run that is not here, and in the same words for one that this person may not see."""
        if self.viewer is None:
            self._service.run(run_id)
            return
        nothing = UnknownItem(
            f"There is no run {quoted(run_id)} that you may see. Ask its owner to share it by its link."
        )
        try:
            self._service.run(run_id)
        except UnknownItem:
            raise nothing from None
        owner = self._service.visitor_of(run_id)
        if owner in (NOBODY, self.owner) or (self._register is not None and self._register.is_shared(run_id)):
            return
        if self._service.submitted.opens(run_id):  # the evidence on a submission is everybody's
            return
        raise nothing
