"""What the app's server has besides pages: safeguards, and where it serves others the interfaces for programs and
agents, which share the pages' judge and queue."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio.to_thread
import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pages.ui import heads, resources, visitors
from pages.ui.upload_limits import UploadLimits
from passnet_core.server.safeguards import safeguards, script_source

PATHS = ("/api/{rest:path}", "/mcp")
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'wasm-unsafe-eval' " + " ".join(map(script_source, (*heads.SCRIPTS, visitors.REMEMBERED))),
        # tables and plots have WebAssembly, and make styles while they draw
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
"""The Content-Security-Policy of the pages: everything is their own."""
CLOSED = ("/_stcore/metrics", "/_stcore/agent/interact", "/_stcore/agent/mcp", "/_stcore/agent/openapi.json")
"""What Streamlit serves that is for nobody here: figures, which the page Operator has, and an interface that is off."""


def middleware(hosts: Sequence[str]) -> list[Middleware]:
    """The safeguards of everything that the app serves, and limits where it serves others. hosts: the names by which it
    is called; none: any."""
    largest_bytes = st.get_option("server.maxUploadSize") << 20
    limits = [Middleware(UploadLimits, largest_bytes=largest_bytes)] if resources.serves_others() else []
    return [*safeguards(hosts or ("*",), POLICY, CLOSED), *limits]


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
