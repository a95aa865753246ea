"""What the OpenAPI documents of both services have in common: versions in addresses, names of operations, refusals."""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from passnet_core.server.forms import ErrorForm

VERSION = "v1"
"""The version in the addresses of both services. Another one comes when a request or an answer changes its meaning."""
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorForm} for status in (401, 403, 404, 408, 409, 413, 422, 429, 503)
}
FOR_STRANGERS_TOO: dict[str, Any] = {"security": [{}]}
"""What openapi_extra says of an address that needs no token."""


def operation_name(route: APIRoute) -> str:
    """The operation's id: the name of its function, which generators make names of methods of."""
    return route.name


def include(app: FastAPI, routes: APIRouter, prefix: str = "") -> None:
    """Serve routes below prefix and the version, and without the version for clients that are older than it."""
    app.include_router(routes, prefix=f"{prefix}/{VERSION}")
    app.include_router(routes, prefix=prefix, include_in_schema=False)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
        for operations in document["paths"].values():
            for operation in operations.values():
                for response in operation["responses"].values():
                    for media in response.get("content", {}).values():
                        if media.pop("itemSchema", None):  # a word of OpenAPI 3.2
                            media["schema"] = {"type": "string", "description": "server-sent events"}
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def with_versions(prefix: str, *paths: str) -> tuple[str, ...]:
    """These addresses with the version and without it."""
    return tuple(f"{prefix}{version}{path}" for version in ("", f"/{VERSION}") for path in paths)
