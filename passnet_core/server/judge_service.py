"""The judge as a service over HTTP: evaluations with rewards for those who train models, and conversations as
environments. The OpenAPI document is served at /openapi.json; each address is also served without its version.

Every refusal has the form of ErrorForm."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeAlias, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
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
from passnet_core.server.answering import answer_errors, body_of, is_same, status_of, token_in
from passnet_core.server.desk import Desk, Hearing
from passnet_core.server.entrance import (
    BATCH_BODY,
    BEARER,
    BUNDLE_BODY,
    SMALL_BODY,
    Entrance,
    IdempotencyKey,
    entered_by,
    no_key,
)
from passnet_core.server.evaluating import EvaluationJudge
from passnet_core.server.forms import (
    MOST_PROMPTS,
    BatchAnswer,
    BatchItem,
    BatchRequest,
    EvaluationAnswer,
    EvaluationRequest,
    EvaluationState,
    HealthForm,
    PartsForm,
    SessionOpening,
    SessionRequest,
    SessionState,
    StepAnswer,
    StepRequest,
    TaskDetail,
    TaskForm,
    WaitS,
    Wellness,
)
from passnet_core.server.ledger import Ledger
from passnet_core.server.metrics import ServiceMetrics
from passnet_core.server.openapi import FOR_STRANGERS_TOO, REFUSALS, include, operation_name, with_versions
from passnet_core.server.refusals import NotSubmitted
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
EventQueue: TypeAlias = "asyncio.Queue[ServerSentEvent | None]"
"""The events of a stream; None ends it."""


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
            Middleware(
                Entrance,
                enter=partial(_caller, tokens),
                open_to_all=("/openapi.json", *with_versions("", "/health")),
            ),
        ],
        dependencies=[BEARER],
        max_body_size=SMALL_BODY,
        generate_unique_id_function=operation_name,
        responses=REFUSALS,
    )
    app.state.close = close
    """Gives up what is under way; call it before the server waits for its requests."""
    answer_errors(app)
    routes = APIRouter()
    caller = Depends(_entered_to_judge)

    async def in_thread(work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, work)

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

    @routes.post("/evaluate", max_body_size=BUNDLE_BODY, summary="Judge a bundle, or a model's answer, on a task")
    async def evaluate(
        asked: EvaluationRequest, request: Request, who: Annotated[str, caller], key: IdempotencyKey = None
    ) -> EvaluationAnswer:
        asked = _keyed(asked, key)
        count = await desk.admit_request(asked, who)
        try:
            return await desk.answer(asked, who, _presence(request), Hearing())
        finally:
            desk.release(count)

    @routes.post(
        "/evaluations",
        status_code=202,
        max_body_size=BUNDLE_BODY,
        summary="The same without waiting: the answer is at the address in the header Location",
    )
    async def submit_evaluation(
        asked: EvaluationRequest,
        request: Request,
        response: Response,
        who: Annotated[str, caller],
        key: IdempotencyKey = None,
    ) -> EvaluationState:
        asked = _keyed(asked, key)
        key = asked.key or secrets.token_urlsafe(16)
        await desk.submit(asked.model_copy(update={"key": key}), key, who)
        response.headers["Location"] = f"{request.url.path}/{quote(key)}"
        return EvaluationState(key=key)

    @routes.get("/evaluations/{key:path}", summary="The answer to what was submitted, if it is there")
    async def get_evaluation(key: str, who: Annotated[str, caller], wait_s: WaitS = 0.0) -> EvaluationState:
        try:
            return EvaluationState(key=key, answer=await desk.answer_to(key, who, wait_s))
        except NotSubmitted:
            raise
        except PlaygroundError as error:
            return EvaluationState(key=key, error=body_of(error), status=status_of(error))

    async def begin_stream(
        asked: EvaluationRequest, request: Request, who: Annotated[str, caller], key: IdempotencyKey = None
    ) -> EventQueue:
        # what is refused here still has a status: a stream that has begun has none
        asked = _keyed(asked, key)
        count = await desk.admit_request(asked, who)
        events: EventQueue = asyncio.Queue()

        def on_phase(subgraph: str, event: JobEvent) -> None:
            if event.phase is not Phase.LOG:
                data = {"subgraph": subgraph, "phase": event.phase.value, "text": event.text}
                events.put_nowait(ServerSentEvent(event="phase", data=data))

        def on_outcome(outcome: Outcome) -> None:
            parts = PartsForm.model_validate(parts_of(outcome)).model_dump(mode="json")
            events.put_nowait(ServerSentEvent(event="outcome", data=parts))

        def ended(done: "asyncio.Task[EvaluationAnswer]") -> None:
            desk.release(count)
            try:
                events.put_nowait(ServerSentEvent(event="answer", data=done.result().model_dump(mode="json")))
            except PlaygroundError as error:
                data = {"error": body_of(error).model_dump(), "status": status_of(error)}
                events.put_nowait(ServerSentEvent(event="error", data=data))
            finally:
                events.put_nowait(None)

        answer = asyncio.create_task(desk.answer(asked, who, _presence(request), Hearing(on_phase, on_outcome)))
        answer.add_done_callback(ended)
        return events

    @routes.post(
        "/evaluate/stream",
        max_body_size=BUNDLE_BODY,
        summary="The same, as server-sent events: phase, outcome, and at last answer or error",
        response_class=EventSourceResponse,
    )
    async def stream_evaluation(events: Annotated[EventQueue, Depends(begin_stream)]) -> AsyncIterator[ServerSentEvent]:
        while (event := await events.get()) is not None:
            yield event

    @routes.post(
        "/evaluate/batch",
        max_body_size=BATCH_BODY,
        summary="Judge many at once; each has an answer or an error of its own",
        dependencies=[no_key("Give each item a key of its own.")],
    )
    async def evaluate_batch(asked: BatchRequest, request: Request, who: Annotated[str, caller]) -> BatchAnswer:
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

    @routes.post(
        "/sessions",
        status_code=201,
        max_body_size=BUNDLE_BODY,
        summary="Begin a conversation about a task: the environment of a policy",
        dependencies=[no_key("A conversation whose answer was lost ends by itself: open another one.")],
    )
    async def open_session(asked: SessionRequest, who: Annotated[str, caller]) -> SessionOpening:
        task = await in_thread(lambda: corpus.task(asked.task))
        start = None if asked.bundle is None else asked.bundle.bundle()
        spec = desk.spec(asked)
        opening = await in_thread(
            lambda: sessions.open(task, spec, who, protocol=asked.protocol, start=start, priority=asked.priority)
        )
        metrics.sessions.set(len(sessions))
        return opening

    @routes.post(
        "/sessions/{session_id}/step",
        max_body_size=BUNDLE_BODY,
        summary="Do what the model asks for: the actions of the environment",
        dependencies=[no_key("Number the steps by the field step: the same number again works once.")],
    )
    async def take_step(session_id: str, asked: StepRequest, who: Annotated[str, caller]) -> StepAnswer:
        desk.admit()
        try:
            return await in_thread(lambda: sessions.step(session_id, who, asked))
        finally:
            desk.release()

    @routes.get("/sessions/{session_id}", summary="Where a conversation stands")
    async def get_session(session_id: str, who: Annotated[str, caller]) -> SessionState:
        return sessions.state(session_id, who)

    @routes.delete("/sessions/{session_id}", summary="End a conversation")
    async def end_session(session_id: str, who: Annotated[str, caller]) -> SessionState:
        ended = sessions.end(session_id, who)
        metrics.sessions.set(len(sessions))
        return ended

    @routes.get("/tasks", summary="The tasks of the corpus")
    async def list_tasks(who: Annotated[str, caller], split: str | None = None) -> list[TaskForm]:
        return [TaskForm.model_validate(each) for each in corpus.tasks() if split in (None, each.split)]

    @routes.get("/tasks/{task_id}", summary="A task, with the first messages of a conversation about it")
    async def get_task(
        task_id: str, who: Annotated[str, caller], protocol: CallProtocol = CallProtocol.TOOLS
    ) -> TaskDetail:
        return await in_thread(lambda: detail(task_id, protocol))

    @routes.get("/prompts", summary="Many tasks with their first messages: the named ones, or those of a split")
    async def list_prompts(
        who: Annotated[str, caller],
        split: str | None = None,
        name: Annotated[list[str] | None, Query()] = None,
        protocol: CallProtocol = CallProtocol.TEXT,
    ) -> list[TaskDetail]:
        names = name or [each.id for each in corpus.tasks() if split in (None, each.split)]
        if len(names) > MOST_PROMPTS:
            raise BadInput(f"These are {len(names):,} tasks, and one answer has {MOST_PROMPTS:,} at most. Name fewer.")
        return await in_thread(lambda: [detail(each, protocol) for each in names])

    @routes.get("/guide", summary="The pages of help that a model may read, by name")
    async def get_guide(who: Annotated[str, caller]) -> dict[str, str]:
        return dict(guide())

    @routes.get(
        "/health",
        summary="Whether the service can judge, and with a token how much it has to do",
        response_model=HealthForm | Wellness,
        responses={503: {"model": HealthForm | Wellness}},
        openapi_extra=FOR_STRANGERS_TOO,
    )
    async def get_health(request: Request) -> JSONResponse:
        capacity = await asyncio.to_thread(scheduler.capacity)
        found = HealthForm.of(
            capacity, scheduler.load(), evaluations=desk.in_progress, most=desk.most, sessions=len(sessions)
        )
        is_known = _caller(tokens, token_in(request.headers.get("authorization"))) is not None
        told = found if is_known else Wellness(ok=found.ok)
        return JSONResponse(told.model_dump(), 200 if found.ok else 503)

    @routes.get("/metrics", summary="Figures, for the token named metrics", response_class=PlainTextResponse)
    async def get_metrics(who: Annotated[str, Depends(_entered_to_look)]) -> PlainTextResponse:
        metrics.sessions.set(len(sessions))
        metrics.judges.set((await asyncio.to_thread(scheduler.capacity)).judges)
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    include(app, routes)
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
