"""Who may ask is decided before a body is read, and a body has to come within a time."""

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Annotated, Any

from fastapi import Depends, Header
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from passnet_core.people.quotas import NotAllowed
from passnet_core.server.answering import body_of, token_in, unauthorized
from passnet_core.server.forms import LONGEST_KEY, ErrorBody, ErrorForm
from passnet_core.server.refusals import KeyNotTaken

SMALL_BODY = 64 << 10
"""The most bytes of a request that carries no bundle."""
BUNDLE_BODY = 8 << 20
"""The most bytes of a request with one bundle or one model's answer."""
BATCH_BODY = 32 << 20
"""The most bytes of a request with many of them."""
BODY_S = 60.0
"""How many seconds the body of a request may take to come."""
BEARER = Depends(
    HTTPBearer(scheme_name="Bearer", auto_error=False, description="A token of this service, where it asks for one.")
)
"""Says in the OpenAPI document how a token is sent. It is the entrance that looks at it."""
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=LONGEST_KEY)]
"""The header with the key of a request: the same request with the same key works once."""
ENTERED = "passnet.entered"
"""Where the scope of a request has what Enter returned for it."""
Enter = Callable[[str | None], Any]
"""Who asks, by the token of a request; None for nobody. Raises NotAllowed for somebody who is banned. Called in a
thread."""


def no_key(instead: str) -> Any:
    """A dependency of addresses that keep no idempotency key: refuses one, which would promise too much. instead: how
    to repeat such a request."""

    def refuse(request: Request) -> None:
        if "idempotency-key" in request.headers:
            raise KeyNotTaken(instead)

    return Depends(refuse)


class Entrance:
    """An ASGI middleware that lets in whom enter knows, and answers all others without reading what they send.

    open_to_all: addresses that nobody needs a token for. ENTERED of their requests is None."""

    def __init__(self, app: ASGIApp, enter: Enter, open_to_all: Collection[str]) -> None:
        self._app, self._enter, self._open_to_all = app, enter, frozenset(open_to_all)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        entered: Any = None
        if scope["path"] not in self._open_to_all:
            token = token_in(Request(scope).headers.get("authorization"))
            entered = await asyncio.to_thread(self._entered, token)
        if isinstance(entered, JSONResponse):
            await entered(scope, receive, send)
        else:
            await self._app({**scope, ENTERED: entered}, _in_time(receive), send)

    def _entered(self, token: str | None) -> Any:
        """Who asks, or the answer to who is not let in."""
        try:
            if (found := self._enter(token)) is not None:
                return found
        except NotAllowed as error:
            return _refusal(403, body_of(error), {})
        told = unauthorized()
        return _refusal(told.status_code, ErrorBody(kind="HTTPError", message=told.detail), dict(told.headers or {}))


def entered_by(request: Request) -> Any:
    """Whom the entrance has let in with this request."""
    return request.scope[ENTERED]


def _refusal(status: int, body: ErrorBody, headers: dict[str, str]) -> JSONResponse:
    # the connection may still bring a body that nobody wants
    return JSONResponse(ErrorForm(error=body).model_dump(), status, {**headers, "Connection": "close"})


def _in_time(receive: Receive) -> Receive:
    """Receive a request whose body takes no longer than BODY_S. Afterwards only the end of the connection comes, for
    which there is no limit. Raises HTTPException."""
    until, complete = time.monotonic() + BODY_S, False

    async def received() -> Message:
        nonlocal complete
        if complete:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), until - time.monotonic())
        except TimeoutError:
            raise HTTPException(408, f"The request did not come within {BODY_S:.0f} s.") from None
        complete = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return received
