"""Cases of the fuzzer that speak HTTP as no client should, to the interface for programs and to the judge's service."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from tests.example_playground import PASS, TASK_ID
from tests.fuzzing import requests
from tests.fuzzing.altering import ODD_NUMBERS, ODD_TEXTS, altered
from tests.fuzzing.cases import MOST_TOLD, Case
from tests.fuzzing.ground import Ground
from tests.fuzzing.wire import Door, Sent, picked, problems_after

BUNDLE = {"passes": [{"name": "A.py", "code": PASS}], "helpers": []}
BODIES: dict[str, dict[str, Any]] = {
    "programs": {
        "/api/runs": {"task": TASK_ID, "bundle": BUNDLE, "stage": "verify", "label": "mine"},
        "/api/runs/ALICES/cancel": {},
        "/api/runs/ALICES/shared": {"shared": True},
    },
    "judge": {
        **requests.BODIES,
        "/evaluate/stream": requests.EVALUATION,
        "/sessions/ALICES/step": {"text": "### check"},
    },
}
ADDRESSES: dict[str, tuple[bytes, ...]] = {
    "programs": (
        b"/api/health", b"/api/openapi.json", b"/api/me", b"/api/tasks", b"/api/tasks/add-relu", b"/api/bundles",
        b"/api/bundles/ALICES", b"/api/runs", b"/api/runs?mine=true", b"/api/runs/ALICES", b"/api/runs/ALICES?wait_s=0",
        b"/api/runs/ALICES/outcomes", b"/api/runs/ALICES/export", b"/api/runs/ALICES/scores", b"/api/boards", b"/mcp",
    ),
    "judge": (
        b"/health", b"/openapi.json", b"/metrics", b"/guide", b"/tasks", b"/tasks/add-relu?protocol=text", b"/tasks/x",
        b"/sessions/ALICES", b"/sessions/none",
    ),
}  # fmt: skip
KEYS = ("task", "query", "split", "offset", "limit", "wait_s", "mine", "protocol", "x")
METHODS = (
    b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"OPTIONS", b"PATCH", b"TRACE", b"CONNECT", b"PROPFIND", b"get", b"",
    b"G\0T", b"\xc3\xa9", b"X" * 5000,
)  # fmt: skip
VERSIONS = (b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.10", b"http/1.1", b"HTTP/1.1 x", b"", b"HTTP/9" * 99)
ODD_TARGETS = (
    b"", b"*", b"/", b"//", b"//evil.example/api/me", b"http://evil.example/api/me", b"/api/../api/me", b"/api//me",
    b"/api/%2e%2e/%2e%2e/etc/passwd", b"/api/tasks/%00", b"/api/tasks/%ff", b"/api/tasks/%c0%af", b"/api/me%", b"/a b",
    b"/api/runs/ALICES%20", b"/api/runs/%2e/ALICES", b"/api/me#x", b"/api/me;x", b"/\xff\xfe", b"/" + b"a" * 70_000,
    b"/api/tasks?" + b"query=x&" * 9000, b"/tasks/" + b"../" * 500, b"?", b"/api/tasks?query=%ed%a0%80",
)  # fmt: skip
ODD_HEADERS = (
    (b"Authorization", (b"", b"Bearer", b"Bearer ", b"Bearer \xff", b"Basic YTpi", b"bearer x y",
                        b"Bearer " + b"x" * 9000)),
    (b"Content-Type", (b"", b"text/plain", b"application/json; charset=utf-16", b"multipart/form-data; boundary=x",
                       b"application/x-www-form-urlencoded", b"application/json, application/json", b"a/b;" * 500)),
    (b"Content-Length", (b"0", b"1", b"-1", b"+5", b"1e3", b"0x10", b"5, 6", b"", b"9" * 30, b"33554433", b"\xc2\xb2")),
    (b"Transfer-Encoding", (b"chunked", b"gzip", b"identity", b"chunked, chunked", b"xchunked", b"", b"chunked\x0b")),
    (b"Content-Encoding", (b"gzip", b"br", b"x" * 99)),
    (b"Expect", (b"100-continue", b"a miracle", b"")),
    (b"Range", (b"bytes=0-0", b"bytes=-1", b"bytes=9-1", b"bytes=" + b"0-1," * 999, b"lines=1", b"bytes=a-b", b"")),
    (b"Accept", (b"", b"*/*;q=x", b"text/event-stream", b"image/png", b"," * 5000)),
    (b"Accept-Encoding", (b"", b"gzip;q=9", b"*;q=0", b"x" * 9000)),
    (b"Idempotency-Key", (b"", b"a", b"x" * 9000, b"\xff\xfe", b"k\tk")),
    (b"Host", (b"", b"evil.example", b"127.0.0.1:99999", b"[::1", b"a b", b"\xff", b"127.0.0.1, evil.example")),
    (b"Connection", (b"keep-alive", b"upgrade", b"close, upgrade", b"Authorization", b"")),
    (b"Upgrade", (b"websocket", b"h2c", b"")),
    (b"Origin", (b"null", b"http://evil.example", b"\xff")),
    (b"Cookie", (b"=", b"a=b; " * 999, b"_streamlit_user=x", b"\xff\xfe=\0")),
    (b"X-Forwarded-For", (b"", b"127.0.0.1", b"a" * 999)),
    (b"If-None-Match", (b"*", b'W/"x"', b'"')),
    (b"Last-Event-ID", (b"1", b"", b"\xff")),
    (b"", (b"", b"x")),
    (b"A header", (b"x",)),
    (b"X-Folded", (b"a\r\n b", b"a\nb", b"a\0b", b"a\r\n", b"x" * 70_000)),
)  # fmt: skip
CHUNK_SIZES = (b"0", b"5", b"-5", b"ffffffffffffffffff", b"g", b"", b"5;x=y", b"0x5", b" 5", b"5" * 99)

Oddity = Callable[[Random, Door, Sent], Sent]


def http(rng: Random, ground: Ground, place: Path) -> Case:
    """A request with up to four oddities. Needs the doors."""
    name = rng.choice(list(ground.doors))
    door = ground.doors[name]
    sent = drawn_request(rng, door, name)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        sent = rng.choice(ODDITIES)(rng, door, sent)
    data = sent.encoded()
    match rng.randrange(12):
        case 0:
            data = altered(rng, data)
        case 1:
            data += drawn_request(rng, door, name).encoded()
        case 2:
            data = data[: rng.randrange(len(data) + 1)]
    return Case(f"{name}: {data!r}"[:MOST_TOLD], tuple(problems_after(door, data, sent.pieces)))


def drawn_request(rng: Random, door: Door, name: str) -> Sent:
    """A right request to this door, for what may be there or not."""
    if rng.randrange(2):
        return Sent(rng.choice((b"GET", b"GET", b"GET", b"DELETE")), picked(rng, ADDRESSES[name], door), door.headers())
    path, asked = rng.choice(list(BODIES[name].items()))
    method = b"PUT" if path.endswith("/shared") else b"POST"
    target = picked(rng, (path.encode(),), door)
    return with_body(Sent(method, target, door.headers()), json.dumps(asked).encode())


def with_body(sent: Sent, body: bytes) -> Sent:
    """The same with this body, and its length in the header."""
    return replace(sent.with_header(b"Content-Length", b"%d" % len(body)), body=body)


# --- what is odd about a request -------------------------------------------------------------------------------------


def _method(rng: Random, door: Door, sent: Sent) -> Sent:
    return replace(sent, method=rng.choice(METHODS))


def _version(rng: Random, door: Door, sent: Sent) -> Sent:
    return replace(sent, version=rng.choice(VERSIONS))


def _target(rng: Random, door: Door, sent: Sent) -> Sent:
    return replace(sent, target=picked(rng, ODD_TARGETS, door))


def _part(rng: Random, door: Door, sent: Sent) -> Sent:
    """A part of the path is another one."""
    parts = sent.target.split(b"/")
    odd = rng.choice(ODD_TEXTS).encode(errors="surrogatepass")
    parts[rng.randrange(len(parts))] = quote(odd, safe="").encode() if rng.randrange(4) else odd
    return replace(sent, target=b"/".join(parts))


def _query(rng: Random, door: Door, sent: Sent) -> Sent:
    values = (*ODD_NUMBERS, *(text for text in ODD_TEXTS if text.isprintable()))
    given = b"&".join(f"{rng.choice(KEYS)}={quote(rng.choice(values))}".encode() for _ in range(rng.choice((1, 2, 5))))
    return replace(sent, target=sent.target + (b"&" if b"?" in sent.target else b"?") + given)


def _header(rng: Random, door: Door, sent: Sent) -> Sent:
    name, values = rng.choice(ODD_HEADERS)
    if rng.randrange(3):
        return sent.with_header(name, rng.choice(values))
    return replace(sent, headers=(*sent.headers, (name, rng.choice(values))))


def _many_headers(rng: Random, door: Door, sent: Sent) -> Sent:
    return replace(
        sent, headers=(*sent.headers, *((b"X-%d" % number, b"x") for number in range(rng.choice((200, 3000)))))
    )


def _no_header(rng: Random, door: Door, sent: Sent) -> Sent:
    left_out = rng.randrange(len(sent.headers))
    return replace(sent, headers=tuple(header for at, header in enumerate(sent.headers) if at != left_out))


def _body(rng: Random, door: Door, sent: Sent) -> Sent:
    return with_body(sent, altered(rng, sent.body))


def _odd_body(rng: Random, door: Door, sent: Sent) -> Sent:
    return with_body(sent, odd_json(rng, sent.body))


def odd_json(rng: Random, body: bytes) -> bytes:
    """Something in the place of a JSON document."""
    return rng.choice(
        (
            b"", b"null", b"[]", b"{", b'"', b"NaN", b"[" * 50_000, b'{"a":' * 20_000, b"9" * 5000, b'{"task": 1e999}',
            b'{"task": "a", "task": "b"}', b'{"task": "\\ud800"}', b"\xef\xbb\xbf" + body, body + body,
            body.decode(errors="replace").encode("utf-16"), gzip.compress(body), b'{"task": "\0"}',
            b" " * 70_000 + body,
            b"task=a&bundle=b", b'--x\r\nContent-Disposition: form-data; name="task"\r\n\r\na\r\n--x--\r\n',
        )
    )  # fmt: skip


def _chunked(rng: Random, door: Door, sent: Sent) -> Sent:
    """The body in chunks, one of which may have an odd size."""
    size = rng.choice((1, 7, 1000, 1 << 20))
    parts = [sent.body[start : start + size] for start in range(0, min(len(sent.body), 500 * size), size)]
    sizes = [b"%x" % len(part) for part in parts]
    if sizes and rng.randrange(2):
        sizes[rng.randrange(len(sizes))] = rng.choice(CHUNK_SIZES)
    body = b"".join(b"%s\r\n%s\r\n" % each for each in zip(sizes, parts))
    end = rng.choice((b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\nX-Trailer: x\r\n\r\n", b"", b"0\r\nno trailer\r\n\r\n"))
    headers = tuple(header for header in sent.headers if rng.randrange(4) == 0 or header[0] != b"Content-Length")
    return replace(sent, headers=(*headers, (b"Transfer-Encoding", b"chunked")), body=body + end)


def _pieces(rng: Random, door: Door, sent: Sent) -> Sent:
    return replace(sent, pieces=rng.choice((2, 10, 100)))


ODDITIES: tuple[Oddity, ...] = (
    _method, _version, _target, _part, _part, _query, _query, _header, _header, _header, _header, _many_headers,
    _no_header, _body, _body, _odd_body, _chunked, _pieces,
)  # fmt: skip
