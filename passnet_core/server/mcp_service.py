"""The tools of coding agents over the Model Context Protocol, through standard input and output or HTTP."""

import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
from mcp import types
from mcp.server import Server, streamable_http
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from passnet_core import __version__
from passnet_core.access.personal import PersonalService
from passnet_core.errors import PlaygroundError
from passnet_core.server.agents import AGENT_TOOLS, CHANGING, INSTRUCTIONS, AgentAnswer, AgentDesk
from passnet_core.server.entrance import BUNDLE_BODY, entered_by

NAME = "passnet"
MOST_CALLS = 256
"""How many calls of all persons are executed at once; others wait. The desk refuses what exceeds a person's share."""


class McpService:
    """An ASGI application, while running() is entered: each request is served for itself, for whom the entrance has
    let in."""

    def __init__(self, agents: AgentDesk) -> None:
        def access(context: ServerRequestContext[Any, Any]) -> PersonalService:
            request: Any = context.request
            found: PersonalService = entered_by(request)
            return found

        logging.getLogger(streamable_http.__name__).addFilter(_is_failure)
        self._sessions = StreamableHTTPSessionManager(
            _server(agents, access), stateless=True, max_request_body_size=BUNDLE_BODY
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            # a GET would open a stream on which nothing ever comes, as no session is held
            await PlainTextResponse("Only POST is answered here.", 405, {"Allow": "POST"})(scope, receive, send)
            return
        with contextlib.suppress(ClientDisconnect):  # who has hung up while sending hears no answer
            await self._sessions.asgi_app(scope, receive, send)


def _is_failure(logged: logging.LogRecord) -> bool:
    """Whether what MCP's transport logs is a failure: that a client has hung up while sending is none."""
    return not (logged.exc_info and isinstance(logged.exc_info[1], ClientDisconnect))


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
