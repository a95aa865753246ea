"""An HTTP server that speaks the chat protocol. Its models send answers that the tests wrote."""

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import seconds


@dataclass(frozen=True)
class Said:
    """An answer of a model. calls: (tool, arguments as JSON text). status: of an error, whose message is the text.
    dropped: the number of characters until the connection breaks; −1: before any answer. pause_s: before each piece.
    held: all but the first piece waits for it. raw: sent instead. deltas: sent before the text."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    finish: str = ""
    status: int = 200
    code: str = ""
    headers: Sequence[tuple[str, str]] = ()
    dropped: int | None = None
    pause_s: float = 0.0
    held: threading.Event | None = None
    raw: bytes | None = None
    deltas: Sequence[dict[str, Any]] = ()


Script = Callable[[dict[str, Any], int], Said]
"""Gives the answer for a request, and for how often this model was asked before."""

PIECE = 12


class ModelServer(ThreadingHTTPServer):
    """The server. models: by name. asked: the authorization and the body of each request."""

    daemon_threads = True

    def __init__(self, models: dict[str, Script]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.models = models
        self.counts: Counter[str] = Counter()
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore connections that a client left open."""


@contextmanager
def serving(models: dict[str, Script]) -> Iterator[ModelServer]:
    server = ModelServer(models)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def holding_back() -> Iterator[threading.Event]:
    """What an answer can wait for (Said.held). Whoever has not waited for the answer finds it unset; it is set after a
    long time, so that whoever does wait goes on."""
    released = threading.Event()
    timer = threading.Timer(seconds(60), released.set)
    timer.daemon = True
    timer.start()
    try:
        yield released
    finally:
        timer.cancel()
        released.set()


def saying(*said: Said) -> Script:
    """A model that gives these answers in turn, and then always the last one."""
    return lambda request, before: said[min(before, len(said) - 1)]


class _Answer(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = request.get("model", "")
        with self.server.lock:
            self.server.asked.append((self.headers.get("Authorization", ""), request))
            before = self.server.counts[name]
            self.server.counts[name] += 1
        if self.path != "/v1/chat/completions" or name not in self.server.models:
            return self._fail(Said(f"The model `{name}` does not exist", status=404, code="model_not_found"))
        said = self.server.models[name](request, before)
        if said.dropped == -1:
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        if said.raw is not None:
            return self._plain(200, said.raw, said.headers)
        if said.status != 200:
            return self._fail(said)
        return self._stream(request, said)

    def _fail(self, said: Said) -> None:
        body = {"error": {"message": said.text, "type": "error", "code": said.code or None, "param": None}}
        self._plain(said.status, json.dumps(body).encode(), said.headers)

    def _plain(self, status: int, body: bytes, headers: Sequence[tuple[str, str]]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), *headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, request: dict[str, Any], said: Said) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._delta({"role": "assistant", "content": ""})
        for delta in said.deltas:
            self._delta(delta)
        sent = 0
        for start in range(0, len(said.text), PIECE):
            if said.dropped is not None and sent >= said.dropped:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if said.pause_s and self.server.closing.wait(said.pause_s):
                return
            while start and said.held is not None and not said.held.is_set():
                if self.server.closing.wait(0.02):
                    return
            self._delta({"content": said.text[start : start + PIECE]})
            sent += PIECE
        for index, (tool, arguments) in enumerate(said.calls):
            call = {"index": index, "id": f"call_{time.monotonic_ns()}_{index}", "type": "function"}
            self._delta({"tool_calls": [{**call, "function": {"name": tool, "arguments": ""}}]})
            for start in range(0, len(arguments), PIECE):
                piece = {"arguments": arguments[start : start + PIECE]}
                self._delta({"tool_calls": [{"index": index, "function": piece}]})
        self._delta({}, said.finish or ("tool_calls" if said.calls else "stop"))
        if (request.get("stream_options") or {}).get("include_usage"):
            words = sum(len(str(each.get("content") or "").split()) for each in request["messages"])
            written = len(said.text.split()) + sum(len(arguments.split()) for _, arguments in said.calls)
            usage = {"prompt_tokens": words, "completion_tokens": written, "total_tokens": words + written}
            self._event({"choices": [], "usage": usage})
        self._send(b"data: [DONE]\n\n")
        self._send(b"")

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> None:
        self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _event(self, fields: dict[str, Any]) -> None:
        whole = {"id": "said", "object": "chat.completion.chunk", "created": 0, "model": "scripted", **fields}
        self._send(b"data: " + json.dumps(whole).encode() + b"\n\n")

    def _send(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *words: object) -> None:
        pass
