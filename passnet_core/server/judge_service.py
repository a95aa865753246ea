"""The judge as a service over HTTP: evaluations with rewards for those who train models, and conversations as
environments. The OpenAPI document is served at /openapi.json.

Every refusal has the form of ErrorForm."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeVar

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.middleware import Middleware

from passnet_core import __version__
from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.shapes import read_shapes
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.execution.backends.base import JobEvent
from passnet_core.execution.inspections import Inspections
from passnet_core.execution.scheduler import Scheduler
from passnet_core.people.quotas import NotAllowed
from passnet_core.records import EvalSpec, Outcome, Phase
from passnet_core.server.answering import answer_errors, body_of, is_same, token_in
from passnet_core.server.desk import Desk, Hearing
from passnet_core.server.entrance import BATCH_BODY, BEARER, BUNDLE_BODY, SMALL_BODY, Entrance, entered_by
from passnet_core.server.evaluating import EvaluationJudge
from passnet_core.server.forms import (
    LONGEST_KEY,
    MOST_PROMPTS,
    BatchAnswer,
    BatchItem,
    BatchRequest,
    ErrorForm,
    EvaluationAnswer,
    EvaluationRequest,
    HealthForm,
    PartsForm,
    SessionOpening,
    SessionRequest,
    SessionState,
    StepAnswer,
    StepRequest,
    TaskDetail,
    TaskForm,
    Wellness,
)
from passnet_core.server.ledger import Ledger
from passnet_core.server.metrics import ServiceMetrics
from passnet_core.server.safeguards import safeguards
from passnet_core.server.sessions import Sessions
from passnet_core.settings import LOCAL_HOSTS
from passnet_core.solvers.llm.conversation import guide
from passnet_core.training.prompts import CallProtocol
from passnet_core.training.rewards import parts_of

T = TypeVar("T")

ANYBODY = "anybody"
"""The caller of a service without tokens."""
METRICS = "metrics"
"""The name of the token that reads the figures, and does nothing else."""
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=LONGEST_KEY)]
"""The header that may give the key of a request instead of its field."""


@dataclass(frozen=True)
class ServiceLimits:
    """most: evaluations that may be in progress at once. hosts: the names under which the service is called, to keep
    pages of other sites from calling it by a name of their own; "*" allows any."""

    most: int = 256
    hosts: Sequence[str] = LOCAL_HOSTS


def judge_service(
    corpus: Corpus, scheduler: Scheduler, ledger: Ledger, *, tokens: Mapping[str, str], limits: ServiceLimits
) -> FastAPI:
    """The service. tokens: of each caller, by the caller's name; without any, everybody who can connect is served."""
    metrics = ServiceMetrics()
    judge = EvaluationJudge(scheduler, ledger, metrics)
    desk = Desk(corpus, scheduler, judge, ledger, metrics, limits.most)
    inspections = Inspections(scheduler)
    shapes = read_shapes(corpus.folders)
    sessions = Sessions(judge, scheduler, inspections, shapes, callers=len(set(tokens) - {METRICS}))

    def close() -> None:
        desk.close()
        sessions.close()

    threads = ThreadPoolExecutor(limits.most, thread_name_prefix="passnet-session")

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        close()
        inspections.close()
        threads.shutdown(wait=False, cancel_futures=True)

    app = FastAPI(
        title="PassNet Playground: the judge",
        version=__version__,
        summary="Judges compiler passes, and says what each verdict is worth to a model that learns to write them.",
        docs_url=None,  # its pages would load scripts from another site
        redoc_url=None,
        lifespan=lifespan,
        middleware=[
            *safeguards(limits.hosts),
            Middleware(Entrance, enter=partial(_caller, tokens), open_to_all=("/health", "/openapi.json")),
        ],
        dependencies=[BEARER],
        max_body_size=SMALL_BODY,
        responses={status: {"model": ErrorForm} for status in (401, 403, 404, 409, 422, 429, 503)},
    )
    app.state.close = close
    """Gives up what is under way; call it before the server waits for its requests."""
    answer_errors(app)
    caller = Depends(_entered_to_judge)

    async def in_thread(work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    async def answered(asked: EvaluationRequest, who: str, gone: Callable[[], Awaitable[bool]]) -> EvaluationAnswer:
        desk.admit()
        try:
            return await desk.answer(asked, who, gone, Hearing())
        finally:
            desk.release()

    def detail(task_id: str, protocol: CallProtocol) -> TaskDetail:
        task = corpus.task(task_id)
        messages, tools = sessions.preview(task, EvalSpec(device=scheduler.here.device), protocol)
        return TaskDetail(
            id=task.id,
            split=task.split,
            family=task.family.value,
            subgraph_ids=[each.id for each in task.subgraphs],
            protocol=protocol,
            messages=messages,
            tools=tools,
        )

    @app.post("/evaluate", max_body_size=BUNDLE_BODY, summary="Judge a bundle, or a model's answer, on a task")
    async def evaluate(
        asked: EvaluationRequest, request: Request, who: Annotated[str, caller], key: IdempotencyKey = None
    ) -> EvaluationAnswer:
        return await answered(_keyed(asked, key), who, _presence(request))

    @app.post(
        "/evaluate/stream",
        max_body_size=BUNDLE_BODY,
        summary="The same, as server-sent events: phase, outcome, and at last answer or error",
        response_class=EventSourceResponse,
    )
    async def stream(
        asked: EvaluationRequest, request: Request, who: Annotated[str, caller], key: IdempotencyKey = None
    ) -> AsyncIterator[ServerSentEvent]:
        asked = _keyed(asked, key)
        desk.admit()
        events: asyncio.Queue[ServerSentEvent | None] = asyncio.Queue()

        def on_phase(subgraph: str, event: JobEvent) -> None:
            if event.phase is not Phase.LOG:
                data = {"subgraph": subgraph, "phase": event.phase.value, "text": event.text}
                events.put_nowait(ServerSentEvent(event="phase", data=data))

        def on_outcome(outcome: Outcome) -> None:
            parts = PartsForm.model_validate(parts_of(outcome)).model_dump(mode="json")
            events.put_nowait(ServerSentEvent(event="outcome", data=parts))

        def ended(done: "asyncio.Task[EvaluationAnswer]") -> None:
            desk.release()
            events.put_nowait(None)

        answer = asyncio.create_task(desk.answer(asked, who, _presence(request), Hearing(on_phase, on_outcome)))
        answer.add_done_callback(ended)
        while (event := await events.get()) is not None:
            yield event
        try:
            yield ServerSentEvent(event="answer", data=answer.result().model_dump(mode="json"))
        except PlaygroundError as error:
            yield ServerSentEvent(event="error", data={"error": body_of(error).model_dump()})

    @app.post(
        "/evaluate/batch",
        max_body_size=BATCH_BODY,
        summary="Judge many at once; each has an answer or an error of its own",
    )
    async def batch(asked: BatchRequest, request: Request, who: Annotated[str, caller]) -> BatchAnswer:
        desk.admit(len(asked.items))
        gone = _presence(request)

        async def one(item: EvaluationRequest) -> BatchItem:
            try:
                return BatchItem(answer=await desk.answer(item, who, gone, Hearing()))
            except PlaygroundError as error:
                return BatchItem(error=body_of(error))
            finally:
                desk.release()

        return BatchAnswer(answers=list(await asyncio.gather(*map(one, asked.items))))

    @app.post(
        "/sessions",
        status_code=201,
        max_body_size=BUNDLE_BODY,
        summary="Begin a conversation about a task: the environment of a policy",
    )
    async def open_session(asked: SessionRequest, who: Annotated[str, caller]) -> SessionOpening:
        task = await in_thread(lambda: corpus.task(asked.task))
        start = None if asked.bundle is None else asked.bundle.bundle()
        spec = asked.spec(scheduler.here.device)
        opening = await in_thread(
            lambda: sessions.open(task, spec, who, protocol=asked.protocol, start=start, priority=asked.priority)
        )
        metrics.sessions.set(len(sessions))
        return opening

    @app.post(
        "/sessions/{session_id}/step",
        max_body_size=BUNDLE_BODY,
        summary="Do what the model asks for: the actions of the environment",
    )
    async def step(session_id: str, asked: StepRequest, who: Annotated[str, caller]) -> StepAnswer:
        desk.admit()
        try:
            return await in_thread(lambda: sessions.step(session_id, who, asked))
        finally:
            desk.release()

    @app.get("/sessions/{session_id}", summary="Where a conversation stands")
    async def session_state(session_id: str, who: Annotated[str, caller]) -> SessionState:
        return sessions.state(session_id, who)

    @app.delete("/sessions/{session_id}", summary="End a conversation")
    async def end_session(session_id: str, who: Annotated[str, caller]) -> SessionState:
        ended = sessions.end(session_id, who)
        metrics.sessions.set(len(sessions))
        return ended

    @app.get("/tasks", summary="The tasks of the corpus")
    async def tasks(who: Annotated[str, caller], split: str | None = None) -> list[TaskForm]:
        return [TaskForm.model_validate(each) for each in corpus.tasks() if split in (None, each.split)]

    @app.get("/tasks/{task_id}", summary="A task, with the first messages of a conversation about it")
    async def task_detail(
        task_id: str, who: Annotated[str, caller], protocol: CallProtocol = CallProtocol.TOOLS
    ) -> TaskDetail:
        return await in_thread(lambda: detail(task_id, protocol))

    @app.get("/prompts", summary="Many tasks with their first messages: the named ones, or those of a split")
    async def prompts(
        who: Annotated[str, caller],
        split: str | None = None,
        name: Annotated[list[str] | None, Query()] = None,
        protocol: CallProtocol = CallProtocol.TEXT,
    ) -> list[TaskDetail]:
        names = name or [each.id for each in corpus.tasks() if split in (None, each.split)]
        if len(names) > MOST_PROMPTS:
            raise BadInput(f"These are {len(names):,} tasks, and one answer has {MOST_PROMPTS:,} at most. Name fewer.")
        return await in_thread(lambda: [detail(each, protocol) for each in names])

    @app.get("/guide", summary="The pages of help that a model may read, by name")
    async def pages(who: Annotated[str, caller]) -> dict[str, str]:
        return dict(guide())

    @app.get(
        "/health",
        summary="Whether the service can judge, and with a token how much it has to do",
        response_model=HealthForm | Wellness,
    )
    async def health(request: Request) -> JSONResponse:
        capacity = await asyncio.to_thread(scheduler.capacity)
        found = HealthForm.of(
            capacity, scheduler.load(), evaluations=desk.in_progress, most=desk.most, sessions=len(sessions)
        )
        is_known = _caller(tokens, token_in(request.headers.get("authorization"))) is not None
        told = found if is_known else Wellness(ok=found.ok)
        return JSONResponse(told.model_dump(), 200 if found.ok else 503)

    @app.get("/metrics", summary="Figures, for the token named metrics", response_class=PlainTextResponse)
    async def figures(who: Annotated[str, Depends(_entered_to_look)]) -> PlainTextResponse:
        metrics.sessions.set(len(sessions))
        metrics.judges.set((await asyncio.to_thread(scheduler.capacity)).judges)
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


def _keyed(asked: EvaluationRequest, key: str | None) -> EvaluationRequest:
    if key is None or asked.key == key:
        return asked
    if asked.key is not None:
        raise BadInput("The header Idempotency-Key and the field key differ. Give one of them.")
    return asked.model_copy(update={"key": key})


def _presence(request: Request) -> Callable[[], Awaitable[bool]]:
    """Whether the client has hung up; may be asked by several at once."""
    one_at_a_time = asyncio.Lock()

    async def gone() -> bool:
        async with one_at_a_time:
            return await request.is_disconnected()

    return gone


def _entered_to_judge(request: Request) -> str:
    """The caller. Raises NotAllowed for one who only reads figures."""
    if (who := entered_by(request)) == METRICS:
        raise NotAllowed(f"The token named {METRICS} is for /{METRICS} alone.")
    return str(who)


def _entered_to_look(request: Request) -> str:
    """The caller who may read figures. Raises NotAllowed for any other."""
    if (who := entered_by(request)) not in (METRICS, ANYBODY):
        raise NotAllowed(f"Figures are for the operator: the token named {METRICS} in PASSNET_JUDGE_TOKENS.")
    return str(who)


def _caller(tokens: Mapping[str, str], given: str | None) -> str | None:
    """The name of who has this token; None if a token is needed and this is none of them."""
    if not tokens:
        return ANYBODY
    known = [name for name, token in tokens.items() if given is not None and is_same(token, given)]
    return known[0] if known else None
