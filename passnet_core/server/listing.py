"""Lists that grow while they are read: each part names the next one, which begins after what the reader has.

The name of the next part is in the header Link (RFC 8288), as an address of this server with the parameter `after`."""

import urllib.parse
from typing import Annotated, Any

from fastapi import Query, Request, Response

from passnet_core.errors import BadInput

LONGEST_CURSOR = 32_000
After = Annotated[
    str | None,
    Query(max_length=LONGEST_CURSOR, description="what the address of the next part has here; instead of offset"),
]
TOTAL = "X-Total-Count"
"""The header with how many there are, in answers that are a part of a list."""
IN_PARTS: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            TOTAL: {"description": "how many there are in all", "schema": {"type": "integer"}},
            "Link": {
                "description": 'the address of the next part, with rel="next"; none: this is the last one',
                "schema": {"type": "string"},
            },
        }
    }
}


def name_next(request: Request, response: Response, after: str) -> None:
    """Say where the part of a list is that begins after this."""
    asked = [(name, value) for name, value in request.query_params.items() if name not in ("after", "offset")]
    query = urllib.parse.urlencode([*asked, ("after", after)])
    response.headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'


def place_in(after: str | None, offset: int) -> int:
    """Where a part begins of a list that only grows at its end. Raises BadInput for a cursor of another list."""
    if after is None:
        return offset
    if not (after.isascii() and after.isdigit() and len(after) < 10):
        raise BadInput("This is no place in this list. Take the address of the next part from the header Link.")
    return int(after)
