"""Where requests are taken in: how many at once, each idempotency key once, and none judged for nobody."""

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.execution.backends.base import JobEvent
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, Device, EvalSpec, Outcome, Stage, Task, Verdict, digest_of
from passnet_core.server.evaluating import Evaluation, EvaluationJudge, answer_of, is_final, without_bundle
from passnet_core.server.forms import EvaluationAnswer, EvaluationRequest, SpecForm
from passnet_core.server.ledger import Ledger
from passnet_core.server.metrics import ServiceMetrics
from passnet_core.server.refusals import KeyReused, NotSubmitted, ServiceBusy

STOPPING = "The service is stopping. Ask again once it runs: nothing of this was kept."
LOOK_EVERY_S = 0.5
"""How often it is looked whether who asked is still there."""
GUESS_S = 2.0
"""How long an evaluation takes, before any has been timed."""
MOST_ENDED = 4096
"""How many submitted evaluations without an answer that is kept are remembered."""

Gone = Callable[[], Awaitable[bool]]
"""Whether who asked has hung up."""


@dataclass
class Hearing:
    """Who hears of an evaluation's progress, in the event loop's thread."""

    on_phase: Callable[[str, JobEvent], None] = lambda subgraph, event: None
    on_outcome: Callable[[Outcome], None] = lambda outcome: None


@dataclass
class _Judged:
    """An evaluation under way for a key."""

    request: str
    answer: "asyncio.Task[EvaluationAnswer]"


class Desk:
    """Answers evaluations in an event loop. most: how many may be in progress at once."""

    def __init__(
        self,
        corpus: Corpus,
        scheduler: Scheduler,
        judge: EvaluationJudge,
        ledger: Ledger,
        metrics: ServiceMetrics,
        most: int,
    ) -> None:
        self.corpus, self.scheduler, self.judge, self.ledger, self.metrics = corpus, scheduler, judge, ledger, metrics
        self.most = most
        self.in_progress = 0
        self._running: dict[tuple[str, str], _Judged] = {}
        self._ended: dict[tuple[str, str], asyncio.Future[EvaluationAnswer]] = {}
        """What was submitted and is not kept, the oldest first."""
        self._cancelled: set[threading.Event] = set()
        """Of the evaluations under way: setting one gives it up."""
        self._closing = False
        self._seconds = GUESS_S

    def admit(self, count: int = 1) -> None:
        """Make room for so many evaluations. Raises ServiceBusy; BadInput if there can never be so much room."""
        if count > self.most:
            raise BadInput(f"{count} evaluations at once are more than the {self.most} that may be in progress.")
        if self.in_progress + count > self.most:
            self.metrics.answered.labels("refused").inc(count)
            judges = max(1, self.scheduler.capacity().judges)
            over = self.in_progress + count - self.most
            wait_s = max(1, min(600, math.ceil(over * self._seconds / judges)))
            raise ServiceBusy(self.in_progress, self.most, count, wait_s)
        self.in_progress += count
        self.metrics.waiting.set(self.in_progress)

    async def admit_request(self, asked: EvaluationRequest, caller: str) -> int:
        """Make room for a request, unless it asks again for what is under way. Returns for how many, to release. Raises
        what read() raises, and ServiceBusy."""
        await asyncio.to_thread(self.read, asked)
        count = int(asked.key is None or (caller, asked.key) not in self._running)
        self.admit(count)
        return count

    def release(self, count: int = 1) -> None:
        """Give up the room for so many evaluations."""
        self.in_progress -= count
        self.metrics.waiting.set(self.in_progress)

    def close(self) -> None:
        """Give up all evaluations: each is refused as soon as its judges let go of it."""
        self._closing = True
        for each in self._cancelled:
            each.set()

    async def answer(self, asked: EvaluationRequest, caller: str, gone: Gone, hearing: Hearing) -> EvaluationAnswer:
        """The answer to an admitted request. Without a key, it is given up when who asked is gone.

        Raises UnknownItem for an unknown task or subgraph, BadInput for a bundle that is none, KeyReused, and
        InfrastructureError while closing."""
        try:
            return await self._answer(asked, caller, gone, hearing)
        except asyncio.CancelledError:
            if not self._closing:
                raise
            # the server's patience was over before the judges had let go of it
            raise InfrastructureError(STOPPING) from None

    async def _answer(self, asked: EvaluationRequest, caller: str, gone: Gone, hearing: Hearing) -> EvaluationAnswer:
        if asked.key is not None:
            return await asyncio.shield(await self._begun(asked, asked.key, caller, hearing))
        cancelled = threading.Event()
        task = asyncio.create_task(self._judged(asked, caller, cancelled, hearing))
        while not (await asyncio.wait([task], timeout=LOOK_EVERY_S))[0]:
            if await gone():
                cancelled.set()
        return task.result()

    async def submit(self, asked: EvaluationRequest, key: str, caller: str) -> None:
        """Begin to judge a request for answer_to(), unless its key is known. Raises what answer() raises, and
        ServiceBusy."""
        count = await self.admit_request(asked, caller)
        with contextlib.ExitStack() as room:
            room.callback(self.release, count)
            if asked.bundle is not None:
                asked.bundle.bundle()
            answer = await self._begun(asked, key, caller, Hearing())
            # from here on the answer gives up the room
            room.pop_all()
        answer.add_done_callback(lambda done: self.release(count))
        answer.add_done_callback(lambda done: self._remember((caller, key), done))

    async def answer_to(self, key: str, caller: str, wait_s: float) -> EvaluationAnswer | None:
        """The answer to what was submitted; None: not within so many seconds. Raises NotSubmitted for a key that is not
        known here, and what answer() raises."""
        place = (caller, key)
        running = self._running.get(place)
        coming = self._ended.get(place) if running is None else running.answer
        if coming is None:
            kept = await asyncio.to_thread(self.ledger.answer, *place)
            if kept is None:
                raise NotSubmitted(key)
            return EvaluationAnswer.model_validate(kept[1])
        await asyncio.wait([coming], timeout=wait_s)
        if coming.done() and coming.cancelled():
            raise InfrastructureError(STOPPING)
        return coming.result() if coming.done() else None

    def _remember(self, place: tuple[str, str], answer: "asyncio.Future[EvaluationAnswer]") -> None:
        """Hold what is not kept for the key: an error, or an answer that a fault spoilt."""
        if answer.cancelled() or answer.exception() is not None or not is_final(answer.result()):
            self._ended[place] = answer
            while len(self._ended) > MOST_ENDED:
                del self._ended[next(iter(self._ended))]

    async def _begun(
        self, asked: EvaluationRequest, key: str, caller: str, hearing: Hearing
    ) -> "asyncio.Future[EvaluationAnswer]":
        """The answer to come for a key: a new one, the one under way, or the one that is kept. Raises KeyReused."""
        request = digest_of(asked.model_dump(mode="json", exclude={"key", "priority"}))
        place = (caller, key)
        running = self._running.get(place)
        if running is None:
            kept = await asyncio.to_thread(self.ledger.answer, *place)
            if kept is not None:
                if kept[0] != request:
                    raise KeyReused(key)
                self.metrics.answered.labels("repeated").inc()
                answer = asyncio.get_running_loop().create_future()
                answer.set_result(EvaluationAnswer.model_validate(kept[1]))
                return answer
            # another request with this key may have begun meanwhile
            running = self._running.get(place)
        if running is None:
            running = _Judged(request, asyncio.create_task(self._once(asked, caller, key, request, hearing)))
            self._running[place] = running
            self._ended.pop(place, None)
            running.answer.add_done_callback(lambda done: self._running.pop(place))
        if running.request != request:
            raise KeyReused(key)
        return running.answer

    async def _once(
        self, asked: EvaluationRequest, caller: str, key: str, request: str, hearing: Hearing
    ) -> EvaluationAnswer:
        answer = await self._judged(asked, caller, threading.Event(), hearing)
        if not is_final(answer):
            return answer  # the same key may be judged again
        kept = await asyncio.to_thread(self.ledger.keep_answer, caller, key, request, answer.model_dump(mode="json"))
        return EvaluationAnswer.model_validate(kept)

    async def _judged(
        self, asked: EvaluationRequest, caller: str, cancelled: threading.Event, hearing: Hearing
    ) -> EvaluationAnswer:
        began = time.monotonic()
        task, spec = await asyncio.to_thread(self.read, asked)
        try:
            bundle: Bundle = asked.candidate()
        except BadInput as error:
            if asked.bundle is not None:
                raise
            total = len(asked.subgraphs or task.subgraphs)
            self.metrics.answered.labels("reward").inc()
            return without_bundle(task, spec, str(error), asked.key, total)
        evaluation = Evaluation(task, bundle, spec, asked.subgraphs, caller, asked.priority, asked.fresh)
        loop = asyncio.get_running_loop()
        subgraphs = asked.subgraphs or [each.id for each in task.subgraphs]

        def told(position: int, event: JobEvent) -> None:
            loop.call_soon_threadsafe(hearing.on_phase, subgraphs[position], event)

        self._cancelled.add(cancelled)
        if self._closing:
            cancelled.set()
        judging = await asyncio.to_thread(self.judge.begin, evaluation, cancelled, told)
        coming = [asyncio.wrap_future(each) for each in judging.outcomes]
        for each in coming:
            each.add_done_callback(lambda done: None if done.cancelled() else hearing.on_outcome(done.result()))
        outcomes = await asyncio.gather(*coming)
        self._cancelled.discard(cancelled)
        if self._closing and any(each.verdict is Verdict.CANCELLED for each in outcomes):
            raise InfrastructureError(STOPPING)
        seconds = time.monotonic() - began
        if judging.known < len(outcomes):
            self._seconds += 0.1 * (sum(each.wall_s for each in outcomes) - self._seconds)
        self.metrics.waited.observe(seconds)
        answer = answer_of(
            evaluation, outcomes, key=asked.key, known=judging.known, waited_s=seconds, details=asked.details
        )
        self.metrics.answered.labels("no_reward" if answer.reward is None else "reward").inc()
        return answer

    def read(self, asked: EvaluationRequest) -> tuple[Task, EvalSpec]:
        """The task and the spec that a request names. Raises UnknownItem; BadInput for times without a GPU."""
        task = self.corpus.task(asked.task)
        for each in asked.subgraphs or ():
            task.subgraph(each)
        return task, self.spec(asked)

    def spec(self, asked: SpecForm) -> EvalSpec:
        """How to judge. Raises BadInput for times without a GPU: a right bundle would be paid as if it were not
        faster."""
        devices = {each.device for each in self.scheduler.capacity().devices}
        spec = asked.spec(self.scheduler.here.device)
        if spec.stage is Stage.MEASURE and (spec.device is not Device.CUDA or Device.CUDA not in devices):
            where = "on the CPU" if Device.CUDA in devices else "here, since this service has no GPU"
            raise BadInput(f"No times are taken {where}. Ask for the stage verify, or a service with a GPU.")
        return spec
