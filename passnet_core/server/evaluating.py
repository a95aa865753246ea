"""From a bundle on a task to the answer of the judge's service: jobs, their outcomes, and what these are worth."""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial

from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends.base import JobEvent, Listen
from passnet_core.execution.jobs import jobs_of, of_job
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import REUSED, UNJUDGED, Bundle, EvalSpec, Job, Outcome, Task, Verdict
from passnet_core.scoring.published import published
from passnet_core.server.forms import EvaluationAnswer, JudgedBy, PartsForm
from passnet_core.server.ledger import Ledger
from passnet_core.server.metrics import ServiceMetrics
from passnet_core.solvers.llm.feedback import summary
from passnet_core.training.rewards import parts_of, reward_of

Told = Callable[[int, JobEvent], None]
"""Hears of the progress of a job, by its position."""


@dataclass(frozen=True)
class Evaluation:
    """A bundle to judge on the subgraphs of a task, None: on all. owner: who takes turns with others at the judges."""

    task: Task
    bundle: Bundle
    spec: EvalSpec
    subgraph_ids: Sequence[str] | None = None
    owner: str = ""
    priority: int = 0
    fresh: bool = False


@dataclass(frozen=True)
class Judging:
    """An evaluation under way: an outcome to come for each job, and how many of them were known."""

    outcomes: "tuple[Future[Outcome], ...]"
    known: int


class EvaluationJudge:
    """Has evaluations judged, and remembers the outcomes. Safe to share between threads.

    Equal jobs are judged once, also those that are asked for at the same time, as groups of equal answers are."""

    def __init__(self, scheduler: Scheduler, ledger: Ledger, metrics: ServiceMetrics) -> None:
        self._scheduler, self._ledger, self._metrics = scheduler, ledger, metrics
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Outcome]] = {}
        """Outcomes to come, by job digest."""

    def begin(
        self, evaluation: Evaluation, cancelled: threading.Event, told: Told = lambda position, event: None
    ) -> Judging:
        """Queue the jobs of an evaluation. Raises UnknownItem if the task lacks a subgraph."""
        jobs = jobs_of(evaluation.task, evaluation.bundle, evaluation.spec, evaluation.subgraph_ids)
        known = [None if evaluation.fresh else self._known(job) for job in jobs]
        outcomes = []
        for position, (job, before) in enumerate(zip(jobs, known)):
            outcome: Future[Outcome] = Future()
            if before is not None:
                outcome.set_result(before)
            else:
                self._judge(job, evaluation, cancelled, partial(told, position), outcome)
            outcomes.append(outcome)
        count = sum(each is not None for each in known)
        self._metrics.known.inc(count)
        return Judging(tuple(outcomes), count)

    def _judge(
        self,
        job: Job,
        evaluation: Evaluation,
        cancelled: threading.Event,
        told: Listen,
        outcome: "Future[Outcome]",
        again: bool = True,
    ) -> None:
        """Have a job judged, or wait for an equal one that is; either sets the outcome. again: whether it is judged
        once more if the machine fails, as when a judge's process is killed."""
        with self._lock:
            under_way = None if evaluation.fresh else self._under_way.get(job.digest)
            coming = under_way or self._scheduler.queue(
                job, told, cancelled, owner=evaluation.owner, priority=evaluation.priority
            )
            self._under_way[job.digest] = coming

        def settle(done: "Future[Outcome]") -> None:
            found = done.result()
            lost = again and found.verdict is Verdict.INFRASTRUCTURE
            # who asked first has gone; this one has not
            left = under_way is not None and found.verdict is Verdict.CANCELLED
            if (lost or left) and not cancelled.is_set():
                self._judge(job, evaluation, cancelled, told, outcome, again and not lost)
            else:
                outcome.set_result(of_job(found, job))

        if under_way is None:
            coming.add_done_callback(self._keep)
        coming.add_done_callback(settle)

    def outcomes(self, evaluation: Evaluation, cancelled: threading.Event) -> tuple[Outcome, ...]:
        """Judge an evaluation, and wait for its outcomes."""
        judging = self.begin(evaluation, cancelled)
        wait(judging.outcomes)
        return tuple(each.result() for each in judging.outcomes)

    def _known(self, job: Job) -> Outcome | None:
        here = self._scheduler.here
        if here.environment is None or here.device is not job.spec.device:
            return None
        found = self._ledger.outcome(job.digest, here.environment.digest)
        return found and of_job(found, job)

    def _keep(self, done: "Future[Outcome]") -> None:
        outcome = done.result()
        with self._lock:
            if self._under_way.get(outcome.job_digest) is done:
                del self._under_way[outcome.job_digest]
        stage = outcome.spec.stage.value
        self._metrics.verdicts.labels(outcome.verdict.value, stage).inc()
        self._metrics.judging.labels(stage).observe(outcome.wall_s)
        if outcome.verdict in REUSED:
            with contextlib.suppress(InfrastructureError):  # it is answered all the same
                self._ledger.keep_outcome(outcome)


def answer_of(
    evaluation: Evaluation,
    outcomes: Sequence[Outcome],
    *,
    key: str | None = None,
    known: int = 0,
    waited_s: float = 0.0,
    details: bool = False,
) -> EvaluationAnswer:
    """The answer for these outcomes. known: how many of them were. waited_s: seconds since the request."""
    parts = [parts_of(outcome) for outcome in outcomes]
    reward = reward_of(parts)
    counts = Counter(part.verdict for part in parts if part.reward is None)
    by = next((each.environment for each in outcomes if each.environment is not None), None)
    return EvaluationAnswer(
        key=key,
        task=evaluation.task.id,
        stage=evaluation.spec.stage,
        device=evaluation.spec.device,
        bundle_digest=evaluation.bundle.digest,
        problem="",
        reward=reward,
        no_reward="" if reward is not None else _why(counts, len(parts)),
        accepted=sum(outcome.verdict.accepted for outcome in outcomes),
        total=len(outcomes),
        parts=[PartsForm.model_validate(each) for each in parts],
        feedback=summary(outcomes),
        judged_by=None if by is None else JudgedBy.model_validate(by),
        known=known,
        judging_s=round(sum(outcome.wall_s for outcome in outcomes), 3),
        waited_s=round(waited_s, 3),
        outcomes=[published(outcome) for outcome in outcomes] if details else None,
    )


def without_bundle(task: Task, spec: EvalSpec, problem: str, key: str | None, total: int) -> EvaluationAnswer:
    """The answer for a text that has no bundle, which is the model's fault: the reward is 0."""
    return EvaluationAnswer(
        key=key,
        task=task.id,
        stage=spec.stage,
        device=spec.device,
        bundle_digest=None,
        problem=problem,
        reward=0.0,
        no_reward="",
        accepted=0,
        total=total,
        parts=[],
        feedback=problem,
        judged_by=None,
        known=0,
        judging_s=0.0,
        waited_s=0.0,
        outcomes=None,
    )


def is_final(answer: EvaluationAnswer) -> bool:
    """Whether an answer would be the same again: nothing in it is a fault of the machine."""
    return not any(part.verdict in UNJUDGED for part in answer.parts)


def _why(counts: Mapping[Verdict, int], total: int) -> str:
    told = ", ".join(f"{count} of {total} subgraphs: {verdict}" for verdict, count in counts.items())
    return f"Nothing can be said of the values on {told}."
