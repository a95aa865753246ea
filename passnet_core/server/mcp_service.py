"""The tools of coding agents over the Model Context Protocol, through standard input and output or HTTP."""

import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
from mcp import types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from passnet_core import __version__
from passnet_core.access.personal import PersonalService
from passnet_core.errors import PlaygroundError
from passnet_core.people.quotas import NotAllowed
from passnet_core.server.agents import AGENT_TOOLS, CHANGING, INSTRUCTIONS, AgentAnswer, AgentDesk
from passnet_core.server.answering import LARGEST_BODY, body_of, token_in, unauthorized
from passnet_core.server.forms import ErrorBody, ErrorForm

NAME = "passnet"
ENTERED = "passnet.entered"
"""Where the scope of a request has the service as who asks sees it."""
MOST_CALLS = 64
"""How many calls are executed at once; others wait."""
Enter = Callable[[str | None], PersonalService | None]
"""The service as the holder of a token sees it, or None for nobody. Raises NotAllowed for somebody who is banned."""


class McpService:
    """An ASGI application, while running() is entered: each request is served for itself, for whose token it bears."""

    def __init__(self, agents: AgentDesk, enter: Enter) -> None:
        self._enter = enter

        def access(context: ServerRequestContext[Any, Any]) -> PersonalService:
            request: Any = context.request
            found: PersonalService = request.scope[ENTERED]
            return found

        self._sessions = StreamableHTTPSessionManager(
            _server(agents, access), stateless=True, max_request_body_size=LARGEST_BODY
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = token_in(Request(scope).headers.get("authorization"))
        entered = await anyio.to_thread.run_sync(self._entered, token)
        if isinstance(entered, JSONResponse):
            await entered(scope, receive, send)
        else:
            await self._sessions.asgi_app({**scope, ENTERED: entered}, receive, send)

    def _entered(self, token: str | None) -> PersonalService | JSONResponse:
        """The service as who asks sees it, or the answer to who is not let in."""
        try:
            if (found := self._enter(token)) is not None:
                return found
        except NotAllowed as error:
            return JSONResponse(ErrorForm(error=body_of(error)).model_dump(), 403)
        told = unauthorized()
        body = ErrorBody(kind="HTTPError", message=told.detail)
        return JSONResponse(ErrorForm(error=body).model_dump(), told.status_code, told.headers)


def serve_stdio(agents: AgentDesk, access: PersonalService) -> None:
    """Serve one agent through standard input and output, until it closes them."""

    async def serving() -> None:
        server = _server(agents, lambda context: access)
        async with stdio_server() as (receiving, sending):
            await server.run(receiving, sending, server.create_initialization_options())

    anyio.run(serving)


def _server(agents: AgentDesk, access: Callable[[ServerRequestContext[Any, Any]], PersonalService]) -> Server[Any]:
    limiter = anyio.CapacityLimiter(MOST_CALLS)

    async def tools(context: ServerRequestContext[Any, Any], asked: types.PaginatedRequestParams | None) -> Any:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=each.name,
                    description=each.description,
                    input_schema=each.parameters,
                    annotations=types.ToolAnnotations(
                        read_only_hint=each.name not in CHANGING, destructive_hint=False, open_world_hint=False
                    ),
                )
                for each in AGENT_TOOLS
            ]
        )

    async def call(context: ServerRequestContext[Any, Any], asked: types.CallToolRequestParams) -> types.CallToolResult:
        cancelled = threading.Event()
        latest: list[tuple[int, int, str]] = []

        def told(done: int, total: int, text: str) -> None:
            if latest[-1:] != [(done, total, text)]:
                latest.append((done, total, text))
                anyio.from_thread.run(report, len(latest), f"{done} of {total} subgraphs: {text}")

        async def report(step: int, text: str) -> None:
            await context.session.report_progress(float(step), message=text)

        def execute() -> AgentAnswer:
            return agents.call(access(context), asked.name, asked.arguments or {}, cancelled, told)

        try:
            answer = await anyio.to_thread.run_sync(execute, abandon_on_cancel=True, limiter=limiter)
        except PlaygroundError as error:
            answer = AgentAnswer(str(error), failed=True)
        finally:
            cancelled.set()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.data,
            is_error=answer.failed,
        )

    return Server(
        NAME,
        title="PassNet Playground",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=tools,
        on_call_tool=call,
    )
