"""A backend for tests of everything but judging: answers come from a function."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from passnet_core.backends.base import DeviceInfo, JobEvent, Survey, outcome_without_judge
from passnet_core.records import Device, Environment, Isolation, Job, Outcome, Verdict

FAKE_ENVIRONMENT = Environment(
    device="fake device",
    driver="",
    python="3.11",
    torch="0",
    triton="0",
    isolation=Isolation.PROCESS,
    judge_digest="fake",
)


class FakeBackend:
    """Answers each job with answer(job), and remembers the jobs it was given, in order. matches: how many matches a
    source has."""

    def __init__(
        self,
        answer: Callable[[Job], Outcome],
        device: Device = Device.CPU,
        matches: Callable[[str], int | None] = lambda code: 0,
    ) -> None:
        self.answer = answer
        self.matches = matches
        self.device = device
        self.jobs: list[Job] = []

    def run(self, job: Job, listen: Callable[[JobEvent], None], cancelled: threading.Event) -> Outcome:
        self.jobs.append(job)
        listen(JobEvent("start", "The fake judge has the job."))
        if cancelled.is_set():
            return outcome_without_judge(job, Verdict.CANCELLED, "Cancelled.")
        outcome = self.answer(job)
        return outcome if outcome.environment else replace(outcome, environment=FAKE_ENVIRONMENT)

    def survey(self, job: Job, codes: Sequence[str], cancelled: threading.Event) -> Survey:
        outcome = self.run(job, lambda event: None, cancelled)
        loaded = outcome.verdict.accepted or outcome.verdict is Verdict.NO_MATCH
        return Survey(outcome, tuple(map(self.matches, codes)) if loaded else ())

    def info(self) -> DeviceInfo:
        return DeviceInfo(self.device, FAKE_ENVIRONMENT.device, FAKE_ENVIRONMENT.isolation, FAKE_ENVIRONMENT)
