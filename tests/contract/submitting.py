"""A playground with submissions, and a judge whose verdicts the test chooses."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from passnet_core.access.personal import PersonalService
from passnet_core.corpus.layout import write_task
from passnet_core.leaderboard.boards import Board
from passnet_core.leaderboard.submissions import BoardEntry
from passnet_core.people.person import PersonRole
from passnet_core.people.quotas import Quotas
from passnet_core.people.register import Register
from passnet_core.records import Bundle, Device, Finding, Job, Outcome, PassFile, Verdict
from passnet_core.service import Service, open_service
from passnet_core.settings import Settings
from tests.contract.made import outcome, task
from tests.fake_backend import FAKE_ENVIRONMENT, FakeBackend
from tests.waiting import seconds

TASKS = (task("relu", 3), task("wide", 2))


def bundle(code: str = "def pattern(x):\n    return x\n", author: str = "") -> Bundle:
    return Bundle((PassFile("Fused.py", code),), author=author)


@dataclass
class VerdictsOfTests:
    """Answers jobs: with verdict, or as the first of `told` says whose word is in the code or the subgraph's id."""

    verdict: Verdict = Verdict.FASTER
    speedup: float = 1.5
    digest: str = FAKE_ENVIRONMENT.judge_digest
    told: dict[str, Verdict] = field(default_factory=dict)
    lets_go: threading.Event = field(default_factory=threading.Event)
    """While it is not set, nothing is answered."""

    def __post_init__(self) -> None:
        self.lets_go.set()

    def __call__(self, job: Job) -> Outcome:
        assert self.lets_go.wait(seconds(60))
        where = "".join(each.code for each in job.bundle.files) if job.bundle else ""
        where += f"{job.subgraph.task_id} {job.subgraph.id}"
        verdict = next((each for word, each in self.told.items() if word in where), self.verdict)
        if job.spec.device is Device.CPU and verdict is Verdict.FASTER:
            verdict = Verdict.VALUES_ONLY
        made = outcome(job, Verdict.VALUES_ONLY if verdict is Verdict.REJECTED else verdict, speedup=self.speedup)
        if verdict is Verdict.REJECTED:
            finding = Finding("Fused.py", 1, 1, "imports", "It imports torch.nn.", "Do not.")
            made = replace(made, verdict=verdict, findings=(finding,), reason="It imports torch.nn.")
        return replace(made, environment=replace(FAKE_ENVIRONMENT, judge_digest=self.digest))


@dataclass
class SubmissionServer:
    """A server for many, and what its judge says."""

    service: Service
    register: Register
    judge: VerdictsOfTests
    backend: FakeBackend

    def person(self, name: str, role: PersonRole = PersonRole.MEMBER) -> PersonalService:
        """The service as this person sees it, who is entered if need be."""
        known = {each.name: each for each in self.register.people()}
        return PersonalService(self.service, self.register, known.get(name) or self.register.add(name, role))

    def finished(self, entry: BoardEntry) -> BoardEntry:
        """The submission once all of its runs have finished, as who runs the server sees it."""
        for run_id in entry.run_ids:
            self.service.wait(run_id)
        return PersonalService(self.service, self.register, None).submissions.entry(entry.submission.id)

    def submitted(self, name: str, *codes: str, title: str = "Fast") -> BoardEntry:
        """What became of a submission by this person with a bundle for each of the tasks, in order."""
        bundles = {each.id: bundle(code) for each, code in zip(TASKS, codes)}
        return self.finished(self.person(name).submissions.submit(bundles, title))

    def ranked(self, access: PersonalService) -> set[str]:
        """Who is on any board that this person sees."""
        return {each.name for board in access.boards() for each in board.contestants}

    def board_of(self, access: PersonalService, solver: str) -> Board:
        return next(each for each in access.boards() if solver in {one.name for one in each.contestants})


def settings_for(folder: Path) -> Settings:
    for each in TASKS:
        if not (place := folder / "data" / "tasks" / each.id).exists():
            write_task(each, place)
    return Settings(home=folder / "home", data=folder / "data", python=Path(sys.executable))


@contextlib.contextmanager
def submission_server(folder: Path, device: Device = Device.CUDA) -> Iterator[SubmissionServer]:
    judge = VerdictsOfTests()
    backend = FakeBackend(judge, device)
    settings = settings_for(folder)
    with contextlib.closing(Register(settings.home)) as register:
        service = open_service(settings, backend=backend, meter=Quotas(register))
        try:
            yield SubmissionServer(service, register, judge, backend)
        finally:
            service.close()
