"""What the app's server has besides pages where it serves others: the interfaces for programs and agents, which share
the pages' judge and queue."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pages.ui import resources

PATHS = ("/api/{rest:path}", "/mcp")


class _Programs:
    """The interface for programs once it is open. Its own application routes the whole path."""

    app: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.app or _closed)(scope, receive, send)


async def _closed(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("The playground is starting. Ask again.", 503)(scope, receive, send)


_programs = _Programs()


def routes(base: str = "") -> list[Route]:
    """Return the routes of the interfaces, where the app serves others."""
    prefix = f"/{base.strip('/')}".rstrip("/")
    return [Route(f"{prefix}{path}", _programs) for path in PATHS] if resources.serves_others() else []


@contextlib.asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Where the app serves others, open the playground before the first visit, so that it starts with a sandbox or not
    at all, and serve programs."""
    if not resources.serves_others():
        yield
        return
    from passnet_core.server.program_service import Door, program_service  # only a server of programs has its packages

    host = await anyio.to_thread.run_sync(resources.host)
    programs = program_service(host.service, Door(host.register, hosts=("*",)))
    async with programs.router.lifespan_context(programs):
        _programs.app = programs
        yield
        _programs.app = None
        programs.state.close()
