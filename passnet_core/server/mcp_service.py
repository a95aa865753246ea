"""The tools of coding agents over the Model Context Protocol, through standard input and output or HTTP."""

import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import anyio
from mcp import types
from mcp.server import Server, streamable_http
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from passnet_core import __version__
from passnet_core.access.personal import PersonalService
from passnet_core.errors import PlaygroundError
from passnet_core.server import agent_resources
from passnet_core.server.agents import AGENT_TOOLS, EFFECTS, INSTRUCTIONS, AgentAnswer, AgentDesk, for_agents
from passnet_core.server.entrance import BUNDLE_BODY, entered_by

T = TypeVar("T")

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
                    annotations=_hints(each.name),
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
            answer = AgentAnswer(for_agents(error), failed=True)
        finally:
            cancelled.set()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.data,
            is_error=answer.failed,
        )

    async def read_of(context: ServerRequestContext[Any, Any], work: Callable[[PersonalService], T]) -> T:
        """What work reads for who asks, in a thread."""
        try:
            return await anyio.to_thread.run_sync(
                lambda: work(access(context)), abandon_on_cancel=True, limiter=limiter
            )
        except PlaygroundError as error:
            raise MCPError(types.INVALID_PARAMS, for_agents(error)) from error

    async def read(
        context: ServerRequestContext[Any, Any], asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        found = await read_of(context, lambda access: agents.read(access, asked.uri))
        text = types.TextResourceContents(uri=found.uri, mime_type=found.kind, text=found.text)
        return types.ReadResourceResult(contents=[text])

    async def prompt(
        context: ServerRequestContext[Any, Any], asked: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        text = await read_of(context, lambda access: agents.prompt(access, asked.name, asked.arguments or {}))
        words = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[words])

    return Server(
        NAME,
        title="PassNet Playground",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=_resources,
        on_list_resource_templates=_templates,
        on_read_resource=read,
        on_list_prompts=_prompts,
        on_get_prompt=prompt,
    )


def _hints(name: str) -> types.ToolAnnotations:
    effect = EFFECTS.get(name)
    return types.ToolAnnotations(
        read_only_hint=effect is None,
        destructive_hint=effect is not None and effect.destroys,
        idempotent_hint=effect is None or effect.idempotent,
        open_world_hint=False,
    )


async def _resources(
    context: ServerRequestContext[Any, Any], asked: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    listed = agent_resources.pages().items()
    kind = agent_resources.MARKDOWN
    return types.ListResourcesResult(
        resources=[types.Resource(name=name, uri=uri, mime_type=kind) for name, uri in listed]
    )


async def _templates(
    context: ServerRequestContext[Any, Any], asked: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                name=each.name, uri_template=each.uri, description=each.description, mime_type=each.kind
            )
            for each in agent_resources.TEMPLATES
        ]
    )


async def _prompts(
    context: ServerRequestContext[Any, Any], asked: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=each.name,
                title=each.title,
                arguments=[
                    types.PromptArgument(name=name, description=about, required=True)
                    for name, about in each.arguments.items()
                ],
            )
            for each in agent_resources.PROMPTS
        ]
    )
