"""How services over HTTP answer what they refuse, and how they learn who asks.

Every refusal has the form of ErrorForm. Tokens are compared in constant time and appear in no answer or log."""

import hashlib
import hmac
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from passnet_core.errors import (
    BadInput,
    EmptyScore,
    InfrastructureError,
    PlaygroundError,
    StoreError,
    StoreRefusal,
    UnknownItem,
)
from passnet_core.people.quotas import NotAllowed, QuotaExceeded
from passnet_core.server.forms import ErrorBody, ErrorForm
from passnet_core.server.refusals import KeyReused, ServiceBusy, StepOutOfOrder

STATUS: Mapping[type[PlaygroundError], int] = {
    NotAllowed: 403,
    UnknownItem: 404,
    KeyReused: 409,
    StepOutOfOrder: 409,
    StoreRefusal: 409,
    BadInput: 422,
    EmptyScore: 422,
    QuotaExceeded: 429,
    ServiceBusy: 429,
    InfrastructureError: 503,
    StoreError: 503,
}


def token_in(authorization: str | None) -> str | None:
    """The token of a header "Bearer TOKEN"; None if there is none."""
    kind, _, given = (authorization or "").partition(" ")
    return given.strip() if kind.lower() == "bearer" and given.strip() else None


def is_same(token: str, given: str) -> bool:
    return hmac.compare_digest(_hashed(token), _hashed(given))


def unauthorized() -> HTTPException:
    """What somebody without a valid token is answered."""
    told = "Send a token of this service in the header Authorization: Bearer TOKEN."
    return HTTPException(401, told, {"WWW-Authenticate": "Bearer"})


def _hashed(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()


def body_of(error: PlaygroundError) -> ErrorBody:
    return ErrorBody(kind=type(error).__name__, message=str(error))


def status_of(error: PlaygroundError) -> int:
    """The status with which this is refused."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def answer_errors(app: FastAPI) -> None:
    """Have every refusal answered in the form of ErrorForm, in a sentence."""

    def refused(status: int, body: ErrorBody, headers: Mapping[str, str] | None = None) -> JSONResponse:
        return JSONResponse(ErrorForm(error=body).model_dump(), status, headers)

    @app.exception_handler(PlaygroundError)
    async def playground_error(request: Request, error: PlaygroundError) -> JSONResponse:
        headers = {"Retry-After": str(error.retry_after_s)} if isinstance(error, ServiceBusy | QuotaExceeded) else None
        return refused(status_of(error), body_of(error), headers)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        return refused(error.status_code, ErrorBody(kind="HTTPError", message=str(error.detail)), error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return refused(422, ErrorBody(kind="BadInput", message=_said(error)))


def _said(error: RequestValidationError) -> str:
    """What is wrong with a request, in a sentence for each field, without what was sent."""
    told: list[str] = []
    for each in error.errors()[:5]:
        place = ".".join(str(part) for part in each["loc"] if part not in ("body", "query", "header"))
        told.append(f"{place}: {each['msg']}" if place else str(each["msg"]))
    return "; ".join(told).removeprefix("Value error, ") + ("" if told and told[-1].endswith(".") else ".")
