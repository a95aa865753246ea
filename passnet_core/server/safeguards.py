"""What keeps the pages of other sites away from a server, and what its answers tell browsers: middlewares for the app,
the interface for programs and the judge's service."""

import base64
import hashlib
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHANGES_NOTHING = ("GET", "HEAD", "OPTIONS")
OTHER_SITE = "The page of another site may not do this."
NO_DOCUMENT = "default-src 'none'; frame-ancestors 'none'"
"""The policy of answers that no browser draws."""


def safeguards(hosts: Sequence[str], policy: str = NO_DOCUMENT, closed: Collection[str] = ()) -> list[Middleware]:
    """The middlewares, the outermost first. hosts: the names under which the server is called; "*" allows any. policy:
    the Content-Security-Policy of its answers. closed: ends of paths that are answered as if they led nowhere."""
    return [
        Middleware(AnswerHeaders, policy=policy),
        Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        Middleware(SameOrigin),
        Middleware(Closed, paths=tuple(closed)),
    ]


def script_source(script: str) -> str:
    """The source expression that allows one inline script (Content Security Policy Level 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


class AnswerHeaders:
    """Adds to every answer what browsers may do with it, unless the answer says so itself."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Frame-Options": "DENY" if policy == NO_DOCUMENT else "SAMEORIGIN",
            "X-Content-Type-Options": "nosniff",
            # links hold passes, and the ids of what is shared by its link
            "Referrer-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answered(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, answered)


class SameOrigin:
    """Refuses what the page of another origin asks for, unless it can change nothing: browsers name the origin of every
    request that is not GET, HEAD or OPTIONS, and of every WebSocket. Programs name none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asks = scope["type"] == "websocket" or (scope["type"] == "http" and scope["method"] not in CHANGES_NOTHING)
        if asks and not _is_same_origin(Headers(scope=scope)):
            await PlainTextResponse(OTHER_SITE, 403, {"Connection": "close"})(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_same_origin(headers: Headers) -> bool:
    """Whether every origin that the request names is the host that it asks. The scheme is not compared, as it is the
    proxy's."""
    host = headers.get("host", "").lower()
    return all(_place(origin) == host for origin in headers.getlist("origin"))


def _place(origin: str) -> str | None:
    """The host of an origin; None for one that has none, such as that of a page in a sandbox."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


class Closed:
    """Answers paths that end like this as if they led nowhere."""

    def __init__(self, app: ASGIApp, paths: tuple[str, ...]) -> None:
        self._app, self._paths = app, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope["path"].rstrip("/").endswith(self._paths):
            await PlainTextResponse("There is nothing at this address.", 404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
