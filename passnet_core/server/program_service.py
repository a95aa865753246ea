"""The playground as an interface for programs, over HTTP: tasks, bundles, runs, outcomes and scores.

The OpenAPI document is served at /api/openapi.json; each address is also served without its version. Every refusal has
the form of ErrorForm. Coding agents find their tools at /mcp."""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.middleware import Middleware
from starlette.routing import Route

from passnet_core import __version__
from passnet_core.access.personal import PersonalService
from passnet_core.corpus import searching
from passnet_core.errors import UnknownItem
from passnet_core.people.register import Register
from passnet_core.records.text import is_valid
from passnet_core.scoring.published import published
from passnet_core.server.agents import AgentDesk
from passnet_core.server.answering import answer_errors, token_in
from passnet_core.server.entrance import BEARER, BUNDLE_BODY, SMALL_BODY, Entrance, IdempotencyKey, entered_by
from passnet_core.server.forms import ServerHealth, TaskForm, WaitS, Wellness
from passnet_core.server.ledger import Ledger
from passnet_core.server.listing import IN_PARTS, TOTAL, After, name_next, place_in
from passnet_core.server.mcp_service import McpService
from passnet_core.server.openapi import FOR_STRANGERS_TOO, REFUSALS, include, operation_name, with_versions
from passnet_core.server.program_forms import (
    MOST_LISTED,
    BoardForm,
    PersonForm,
    ReferenceForm,
    RunForm,
    RunLine,
    RunRequest,
    SharingForm,
    StandingForm,
    StoredBundle,
    TaskList,
    WholeTask,
)
from passnet_core.server.run_keys import RunKeys
from passnet_core.server.safeguards import safeguards
from passnet_core.service import Service
from passnet_core.settings import LOCAL_HOSTS
from passnet_core.store.exchange import summary_to_json

if TYPE_CHECKING:
    from passnet_core.leaderboard.boards import Board

LOOK_EVERY_S = 0.2
RUN_PAGE = "/runs?run="
MOST_BOARDS = 10
"""How many boards are answered unless more are asked for."""
ACCEPTED = 202
FARTHEST = 1_000_000_000
OPEN_TO_ALL = ("/api/openapi.json", *with_versions("/api", "/health"))


class JsonLines(PlainTextResponse):
    media_type = "application/jsonl"


@dataclass(frozen=True)
class Door:
    """Who is let in. register: of the persons with tokens; None: everybody who can connect may do everything. hosts:
    the names under which the server is called, to keep pages of other sites from calling it by a name of their own;
    "*" allows any. page: the address of the app, to which answers link."""

    register: Register | None
    hosts: Sequence[str] = LOCAL_HOSTS
    page: str = ""

    def access(self, service: Service, token: str | None) -> PersonalService | None:
        """The service as the holder of a token sees it; None for nobody. Raises NotAllowed for somebody banned."""
        if self.register is None:
            return PersonalService(service)
        person = None if token is None else self.register.holder(token)
        return None if person is None else PersonalService(service, self.register, person)

    def page_of(self, run_id: str) -> str:
        """Where a person can watch a run; "" if no address of the app is known."""
        return f"{self.page.rstrip('/')}{RUN_PAGE}{run_id}" if self.page else ""


def program_service(service: Service, door: Door) -> FastAPI:
    """The application: /api for programs, /mcp for coding agents."""
    agents = AgentDesk(door.page_of)
    mcp = McpService(agents)
    keys = RunKeys(Ledger(service.settings.home))

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with mcp.running():
            yield
        agents.close()
        keys.close()

    app = FastAPI(
        title="PassNet Playground",
        version=__version__,
        summary="Tasks, bundles, runs, outcomes and scores, for programs.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # its pages would load scripts from another site
        redoc_url=None,
        lifespan=lifespan,
        middleware=[
            *safeguards(door.hosts),
            Middleware(Entrance, enter=lambda token: door.access(service, token), open_to_all=OPEN_TO_ALL),
        ],
        dependencies=[BEARER],
        max_body_size=SMALL_BODY,
        generate_unique_id_function=operation_name,
        responses=REFUSALS,
    )
    app.state.close = agents.close
    """Gives up what is under way; call it before the server waits for its requests."""
    answer_errors(app)
    include(app, _routes(service, door, keys), "/api")
    app.router.routes.append(Route("/mcp", endpoint=mcp))
    return app


def _routes(service: Service, door: Door, keys: RunKeys) -> APIRouter:
    routes = APIRouter()

    def caller(request: Request) -> PersonalService:
        _readable(request)
        found: PersonalService = entered_by(request)
        return found

    Caller = Annotated[PersonalService, Depends(caller)]
    Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
    Offset = Annotated[int, Query(ge=0, le=FARTHEST)]

    def form_of(access: PersonalService, run_id: str) -> RunForm:
        return RunForm.of(access.progress(run_id), door.page_of(run_id))

    @routes.get(
        "/health",
        summary="Whether anything can be judged, and with a token by what",
        response_model=ServerHealth | Wellness,
        responses={503: {"model": ServerHealth | Wellness}},
        openapi_extra=FOR_STRANGERS_TOO,
    )
    def get_health(request: Request) -> JSONResponse:
        found = ServerHealth.of(service.capacity(), service.load())
        is_known = door.access(service, token_in(request.headers.get("authorization"))) is not None
        told = found if is_known else Wellness(ok=found.ok)
        return JSONResponse(told.model_dump(), 200 if found.ok else 503)

    @routes.get("/me", summary="Who asks, and how much may be judged")
    def get_me(access: Caller) -> PersonForm:
        person = access.person
        if person is None:
            return PersonForm(name="", role="operator", device_s=None, used_s=0.0, most_jobs=1_000_000, gpu=True)
        allowed = person.allowance
        return PersonForm(
            name=person.name,
            role=person.role.value,
            device_s=allowed.device_s if math.isfinite(allowed.device_s) else None,
            used_s=access.used_s(),
            most_jobs=allowed.jobs,
            gpu=allowed.gpu,
        )

    @routes.get("/tasks", summary="Find tasks, by the search text of Explore", responses=IN_PARTS)
    def list_tasks(
        access: Caller,
        request: Request,
        response: Response,
        query: Annotated[str, Query(max_length=1000)] = "",
        split: str | None = None,
        after: After = None,
        offset: Offset = 0,
        limit: Limit = 100,
    ) -> TaskList:
        found = [each for each in searching.found(query, service.corpus.tasks()) if split in (None, each.split)]
        response.headers[TOTAL] = str(len(found))
        # by name
        coming = found[offset:] if after is None else [each for each in found if each.id > after]
        if len(coming) > limit:
            name_next(request, response, coming[limit - 1].id)
        return TaskList(total=len(found), tasks=[TaskForm.model_validate(each) for each in coming[:limit]])

    @routes.get("/tasks/{task_id}", summary="A task with its subgraphs: sources and inputs")
    def get_task(access: Caller, task_id: str) -> WholeTask:
        return WholeTask.model_validate(service.corpus.task(task_id))

    @routes.get("/bundles", summary="The bundles that come with the playground")
    def list_bundles(access: Caller) -> list[ReferenceForm]:
        return [
            ReferenceForm(
                name=each.name,
                title=each.title,
                description=each.description,
                tasks=list(each.task_ids),
                digest=each.bundle.digest,
            )
            for each in service.reference_bundles()
        ]

    @routes.get("/bundles/{digest}", summary="A bundle: of a run that you see, or one that comes with the playground")
    def get_bundle(access: Caller, digest: str) -> StoredBundle:
        return StoredBundle.of(access.bundle(digest))

    @routes.post(
        "/runs", status_code=ACCEPTED, max_body_size=BUNDLE_BODY, summary="Have a bundle or TorchInductor judged"
    )
    def start_run(
        access: Caller, asked: RunRequest, request: Request, response: Response, key: IdempotencyKey = None
    ) -> RunForm:
        found = service.corpus.task(asked.task)
        made = None
        if asked.bundle is not None:
            made = asked.bundle.bundle()
        elif asked.bundle_digest is not None:
            made = access.bundle(asked.bundle_digest)
        spec = asked.spec(service.device().device)

        def submit(run_id: str) -> str:
            return access.submit(
                found, made, spec, subgraph_ids=asked.subgraphs, label=asked.label, fresh=asked.fresh, run_id=run_id
            )

        run_id = submit("") if key is None else keys.run_for(key, asked, access, submit)
        response.headers["Location"] = f"{request.url.path}/{run_id}"
        return form_of(access, run_id)

    @routes.get("/runs", summary="Runs that you see, the newest first", responses=IN_PARTS)
    def list_runs(
        access: Caller,
        request: Request,
        response: Response,
        task: str | None = None,
        mine: bool = False,
        after: After = None,
        offset: Offset = 0,
        limit: Limit = 100,
    ) -> list[RunLine]:
        response.headers[TOTAL] = str(access.count_runs(task, mine=mine))
        found = access.runs(limit + 1, task, mine=mine, offset=0 if after is not None else offset, after=after)
        if len(found) > limit:
            name_next(request, response, found[limit - 1].run.id)
        return [RunLine(**summary_to_json(each)) for each in found[:limit]]

    @routes.get("/runs/{run_id}", summary="How far a run has come")
    async def get_run(access: Caller, run_id: str, wait_s: WaitS = 0.0) -> RunForm:
        until = time.monotonic() + wait_s
        while True:
            found = await asyncio.to_thread(form_of, access, run_id)
            if found.finished or time.monotonic() >= until:
                return found
            await asyncio.sleep(LOOK_EVERY_S)

    @routes.post("/runs/{run_id}/cancel", summary="Cancel a run of yours")
    def cancel_run(access: Caller, run_id: str) -> RunForm:
        access.cancel(run_id)
        return form_of(access, run_id)

    @routes.put("/runs/{run_id}/shared", summary="Let everybody who has its link see a run of yours, or nobody else")
    def share_run(access: Caller, run_id: str, asked: SharingForm) -> SharingForm:
        access.share(run_id, asked.shared)
        return asked

    @routes.get(
        "/runs/{run_id}/outcomes",
        summary="The outcomes so far as they came, in PassBench's published form",
        description="As long as the run has not finished, the last part names a next one, with what comes later.",
        responses=IN_PARTS,
    )
    def list_outcomes(
        access: Caller,
        run_id: str,
        request: Request,
        response: Response,
        after: After = None,
        offset: Offset = 0,
        limit: Limit = MOST_LISTED,
    ) -> list[dict[str, Any]]:
        is_finished = access.progress(run_id).finished  # before: what comes meanwhile must not be missed
        found = access.outcomes(run_id, as_they_came=True)
        response.headers[TOTAL] = str(len(found))
        begin = place_in(after, offset)
        part = found[begin : begin + limit]
        if not is_finished or begin + limit < len(found):
            name_next(request, response, str(begin + len(part)))
        return [published(each) for each in part]

    @routes.get("/runs/{run_id}/export", summary="A finished run as a run file", response_class=JsonLines)
    def export_run(access: Caller, run_id: str) -> JsonLines:
        return JsonLines(access.export_run(run_id))

    @routes.get("/runs/{run_id}/scores", summary="ES(t) and the aggregate score of a run")
    def get_scores(access: Caller, run_id: str) -> list[dict[str, Any]]:
        from passnet_core.scoring.report import entry_of, report_to_json, score_reports

        entries = [entry_of(each) for each in access.outcomes(run_id)]
        return [report_to_json(each) for each in score_reports(entries)]

    @routes.get("/boards", summary="Solvers ranked on the same subgraphs under the same conditions", responses=IN_PARTS)
    def list_boards(
        access: Caller,
        request: Request,
        response: Response,
        task: str | None = None,
        after: After = None,
        offset: Offset = 0,
        limit: Limit = MOST_BOARDS,
    ) -> list[BoardForm]:
        # those that say most come first, which changes with each run
        found = access.boards(task)
        response.headers[TOTAL] = str(len(found))
        # so the next part is what the reader does not have, whatever its place is then
        names = {f"{each.id}-{each.profile.value}": each for each in found}
        given = list(names)[:offset] if after is None else after.split(".")
        coming = [name for name in names if name not in given]
        if len(coming) > limit:
            name_next(request, response, ".".join([*given, *coming[:limit]]))
        return [board_form(names[name]) for name in coming[:limit]]

    return routes


def board_form(board: "Board") -> BoardForm:
    """A board with the best of its solvers, at most MOST_LISTED."""
    from passnet_core.leaderboard.boards import standings_of
    from passnet_core.scoring.report import report_to_json

    standings = standings_of(board)
    return BoardForm(
        **board.facts,
        total=board.total,
        solvers=len(standings),
        standings=[StandingForm(name=name, report=report_to_json(report)) for name, report in standings[:MOST_LISTED]],
    )


def _readable(request: Request) -> None:
    """Refuse addresses that are no text. Raises UnknownItem."""
    given = (*request.path_params.values(), *request.query_params.values())
    if not all(is_valid(each) and "\0" not in each for each in given):
        raise UnknownItem("There is nothing at this address.")
