"""Cases of the fuzzer that speak the Model Context Protocol as no agent should."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from passnet_core.server.agents import AGENT_TOOLS
from tests.example_playground import PASS, REFERENCE_NAME, TASK_ID
from tests.fuzzing.altering import ODD_TEXTS, ODD_VALUES, altered
from tests.fuzzing.cases import MOST_TOLD, Case
from tests.fuzzing.ground import Ground
from tests.fuzzing.http_cases import odd_json, with_body
from tests.fuzzing.wire import Sent, problems_after

TODAY, BEFORE = "2026-07-28", "2025-06-18"
"""The protocol without a handshake, and one with it."""
VERSIONS = (
    TODAY, BEFORE, "2025-11-25", "2025-03-26", "2024-11-05", "1999-01-01", "2099-01-01", "", "2.0", "é", "x" * 9000,
)  # fmt: skip
META = {
    "io.modelcontextprotocol/protocolVersion": TODAY,
    "io.modelcontextprotocol/clientInfo": {"name": "an agent", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
PARAMS: dict[str, Any] = {
    "initialize": {"protocolVersion": BEFORE, "capabilities": {}, "clientInfo": {"name": "an agent", "version": "1"}},
    "ping": {},
    "tools/list": {"cursor": "x"},
    "tools/call": {},
    "notifications/initialized": {},
    "notifications/cancelled": {"requestId": 1, "reason": "given up"},
    "notifications/progress": {"progressToken": 1, "progress": 0.5, "total": 1},
    "notifications/roots/list_changed": {},
    "resources/list": {},
    "resources/read": {"uri": "file:///etc/passwd"},
    "resources/subscribe": {"uri": "x"},
    "resources/templates/list": {},
    "prompts/list": {},
    "prompts/get": {"name": "x", "arguments": {}},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}},
    "logging/setLevel": {"level": "debug"},
    "sampling/createMessage": {"messages": [], "maxTokens": 1},
    "elicitation/create": {"message": "x", "requestedSchema": {}},
    "roots/list": {},
    "tasks/list": {},
    "tasks/get": {"taskId": "x"},
    "server/discover": {},
    "subscriptions/listen": {"notifications": {}},
    "rpc.discover": {},
}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "task": (TASK_ID, TASK_ID, TASK_ID, "gone"),
    "name": ("A.py", "B.py", "shared_a.py", "../A.py"),
    "code": (PASS, PASS.replace("relu", "sigmoid"), "x = 1\n"),
    "old": ("relu", "x"),
    "new": ("sigmoid", ""),
    "subgraph": ("float32/48/toy", "gone"),
    "bundle": (REFERENCE_NAME, "ALICES", "gone"),
    "run": ("ALICES", "gone"),
    "wait_s": (1, 61),
    "page": ("contract", "gone"),
    "stage": ("verify", "measure"),
    "query": ("relu", "add->relu", "48x96", ""),
    "split": ("develop", "train"),
    "limit": (1, 200),
}
ODD_IDS = (*ODD_VALUES, "x" * 9000, "é", 2**63, -(2**80), 1e308)

Message = dict[str, Any]
Oddity = Callable[[Random, Message], Message]


def mcp(rng: Random, ground: Ground, place: Path) -> Case:
    """A message with up to four oddities, or several of them, with headers that may be odd too. Needs the doors."""
    door = ground.doors["programs"]
    version = rng.choice((TODAY, BEFORE, BEFORE, rng.choice(VERSIONS)))
    message: Any = drawn_message(rng, door.run_id, version)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        message = rng.choice(ODDITIES)(rng, message)
    headers = _routing(message, version)
    if not rng.randrange(8):
        message = rng.choice(([message], [], [message] * 50, [message, 5], {"jsonrpc": "2.0", "id": 1, "result": {}}))
    body = json.dumps(message, ensure_ascii=rng.randrange(2) == 0).encode(errors="surrogatepass")
    match rng.randrange(10):
        case 0:
            body = altered(rng, body)
        case 1:
            body = odd_json(rng, body)
        case 2:
            body = _nested(rng, body)
    sent = with_body(Sent(b"POST", b"/mcp", (*door.headers(), *headers)), body)
    for _ in range(rng.choice((0, 0, 1, 2))):
        sent = _header(rng, sent)
    if not rng.randrange(12):
        sent = replace(sent, method=rng.choice((b"GET", b"DELETE", b"PUT", b"OPTIONS", b"HEAD")))
    data = sent.encoded()
    if not rng.randrange(15):
        data = data[: rng.randrange(len(data))]  # it breaks off
    told = data.replace(door.token.encode(), b"TOKEN")
    return Case(f"mcp: {told!r}"[:MOST_TOLD], tuple(problems_after(door, data, rng.choice((1, 1, 1, 5)))))


def drawn_message(rng: Random, alices: str, version: str) -> Message:
    """A right message, most often a call of a tool. alices: the id of a run that is not the agent's."""
    method = "tools/call" if rng.randrange(3) else rng.choice(list(PARAMS))
    params = dict(PARAMS[method])
    if method == "tools/call":
        tool = rng.choice(AGENT_TOOLS)
        given = {name: rng.choice(ARGUMENTS[name]) for name in tool.parameters["properties"]}
        params = {"name": tool.name, "arguments": {name: alices if v == "ALICES" else v for name, v in given.items()}}
    if version == TODAY or rng.randrange(4) == 0:
        params["_meta"] = dict(META)
    message = {"jsonrpc": "2.0", "id": rng.choice((1, "a", 2**31)), "method": method, "params": params}
    if method.startswith("notifications/"):
        del message["id"]
    return message


def _routing(message: Message, version: str) -> tuple[tuple[bytes, bytes], ...]:
    """The headers that repeat what a message says, where it says so in text."""
    params = message.get("params")
    told = {
        b"MCP-Protocol-Version": version,
        b"Mcp-Method": message.get("method"),
        b"Mcp-Name": params.get("name") if isinstance(params, dict) else None,
    }
    return tuple((key, text.encode()) for key, text in told.items() if isinstance(text, str) and text.isprintable())


# --- what is odd about a message -------------------------------------------------------------------------------------


def _any(rng: Random) -> Any:
    """A value of any type, rarely one that is large."""
    large = ({"a": "x" * 100_000}, ["x"] * 10_000, {str(number): number for number in range(5000)})
    return rng.choice(large if rng.randrange(10) == 0 else (*ODD_VALUES, *ODD_TEXTS, {"a": [None]}))


def _id(rng: Random, message: Message) -> Message:
    return message | {"id": rng.choice(ODD_IDS)}


def _left_out(rng: Random, message: Message) -> Message:
    left_out = rng.choice(("jsonrpc", "id", "method", "params"))
    return {key: value for key, value in message.items() if key != left_out}


def _field(rng: Random, message: Message) -> Message:
    return message | {rng.choice(("jsonrpc", "method", "params", "result", "error", "x")): _any(rng)}


def _param(rng: Random, message: Message) -> Message:
    params = message.get("params")
    if not isinstance(params, dict):
        return message
    return message | {"params": params | {rng.choice((*params, "_meta", "cursor", "x")): _any(rng)}}


def _argument(rng: Random, message: Message) -> Message:
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("arguments"), dict):
        return message
    arguments = params["arguments"]
    changed = arguments | {rng.choice((*arguments, *ARGUMENTS, "x", "é")): _any(rng)}
    return message | {"params": params | {"arguments": changed}}


def _token(rng: Random, message: Message) -> Message:
    """Asks for progress, with a token of any type."""
    params = message.get("params")
    if not isinstance(params, dict):
        return message
    meta = params.get("_meta")
    token = rng.choice((1, "a", *ODD_IDS))
    return message | {"params": params | {"_meta": (meta if isinstance(meta, dict) else {}) | {"progressToken": token}}}


def _meta(rng: Random, message: Message) -> Message:
    params = message.get("params")
    if not isinstance(params, dict):
        return message
    return message | {"params": params | {"_meta": META | {rng.choice((*META, "x")): _any(rng)}}}


ODDITIES: tuple[Oddity, ...] = (_id, _left_out, _field, _param, _param, _argument, _argument, _argument, _token, _meta)


def _nested(rng: Random, body: bytes) -> bytes:
    """What is in the message's place for arguments is as deep as a parser may not follow."""
    deep = rng.choice((b"[" * 30_000 + b"]" * 30_000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[" * 200 + b"]" * 200))
    return body.replace(b'"arguments": {', b'"arguments": {"x": ' + deep + b", ", 1)


def _header(rng: Random, sent: Sent) -> Sent:
    name, values = rng.choice(
        (
            (b"Mcp-Session-Id", (b"", b"x", b"0" * 32, b"\xff", b"x" * 9000)),
            (b"MCP-Protocol-Version", tuple(version.encode() for version in VERSIONS)),
            (b"Mcp-Method", (b"", b"tools/list", b"\xff")),
            (b"Mcp-Name", (b"", b"check", b"=?base64?!?=", b"\xff")),
            (b"Mcp-Param-Task", (b"", b"x", b"=?base64?eA==?=")),
            (b"Last-Event-ID", (b"", b"1", b"\xff")),
            (
                b"Accept",
                (b"", b"*/*", b"application/json", b"text/event-stream", b"image/png", b"application/json;q=0"),
            ),
            (b"Content-Type", (b"", b"text/plain", b"application/json; charset=latin-1", b"application/json-rpc")),
            (b"Origin", (b"http://evil.example", b"null")),
            (b"Authorization", (b"", b"Bearer x", b"Bearer \xff")),
        )
    )
    return sent.with_header(name, rng.choice(values))
