"""What strangers send to a server never reaches its log as it is."""

import http.client
import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from tests.example_playground import TASK_ID, environment_of
from tests.page_client import PageClient, run_apart
from tests.serving import free_port, serving
from tests.waiting import seconds

TOKEN = "passnet_0123456789abcdefghijklmnopqrstuv"
KEY = "sk-a-key-of-somebody-0123456789"
JUDGE = "a-token-of-the-judge-0123456789"
FORGED = "2026-11-29 00:00:00.000 INFO forged: all is well"
HOSTILE = f"x\r\n{FORGED}\n\x1b[2J\x1b]0;owned\x07\x9b31m\u202e {TOKEN} {KEY} {JUDGE}"
LOGGERS = f"""
import logging, threading, warnings
from passnet_core.cli.logs import clean_logs
from passnet_core.settings import read_settings
import streamlit.logger, uvicorn
clean_logs(read_settings())
uvicorn.Config(None)
hostile = {HOSTILE!r}
for name in ("uvicorn.error", "uvicorn.asgi", "asyncio", "mcp.server", "a.package"):
    log = logging.getLogger(name)
    log.error("said %s", hostile)
    log.error(hostile)
    log.error("%d wrong arguments", hostile)
    try:
        raise ValueError(hostile)
    except ValueError as error:
        log.exception("failed: %r", error)
streamlit.logger.get_logger("streamlit.tests").warning("said %s", hostile)
warnings.warn(hostile)
def fails():
    raise RuntimeError(hostile)
thread = threading.Thread(target=fails)
thread.start()
thread.join()
class Lost:
    def __del__(self):
        raise RuntimeError(hostile)
Lost()
"""


def is_clean(text: str) -> bool:
    """Whether a log acts on no terminal, has no line that a stranger wrote, and tells no secret."""
    assert all(sign.isprintable() or sign == "\n" for sign in text), repr(text)
    assert not any(line.startswith(FORGED) for line in text.split("\n")), text
    for secret in (TOKEN, KEY, JUDGE):
        assert secret not in text, text
    return True


def test_no_logger_and_no_failure_writes_what_it_was_given() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOGGERS], env={**os.environ, "PASSNET_JUDGE_TOKENS": f"alice={JUDGE}"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="surrogateescape", timeout=seconds(60),
        check=True,
    )  # fmt: skip
    assert ended.stdout.count(r"x\r\n2026-11-29") >= 17, "everything was logged"
    assert ended.stdout.count("Traceback") == 7
    assert is_clean(ended.stdout)


def test_a_long_text_is_shortened() -> None:
    code = LOGGERS.partition("hostile =")[0] + "logging.getLogger('x').error('y' * 100_000)"
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=seconds(60), check=True)
    assert len(ended.stderr) < 1000


@pytest.mark.sandbox
@pytest.mark.long
def test_nothing_that_strangers_send_is_in_the_log_of_the_app(tmp_path: Path) -> None:
    keys = {"OPENAI_API_KEY": KEY, "PASSNET_JUDGE_TOKENS": f"alice={JUDGE}"}
    environment = environment_of(tmp_path, PASSNET_ISOLATION="auto", **keys)
    log = tmp_path / "app.log"
    with serving(environment, log, port=free_port()) as address:
        place = urlsplit(address).netloc
        for path in (
            "/",
            "/api/runs/",
            "/api/tasks?query=",
            "/_stcore/",
            "/component/",
            "/media/",
            "/_stcore/bidi-components/",
        ):
            for method in ("GET", "POST"):
                ask(place, method, path + quote(HOSTILE), {"Authorization": f"Bearer {TOKEN}"}, HOSTILE.encode())
        for name in ("Cookie", "Host", "Origin", "X-Forwarded-For", "Authorization", "User-Agent", "Accept-Language"):
            raw(place, f"GET /api/me HTTP/1.1\r\nHost: {place}\r\n{name}: \x1b[2J {TOKEN}\r\n\r\n".encode())
        for request in (
            b"\x1b[2J\n" + HOSTILE.encode(),
            HOSTILE.encode() + b"\r\n\r\n",
            b"GET /\x1b[2J HTTP/1.1\r\n\r\n",
        ):
            raw(place, request)
        run_apart(visits(address))
    assert is_clean(log.read_text(errors="surrogateescape"))


async def visits(address: str) -> None:
    """Open pages by hostile links, send what is no message, and check a pass that prints hostile text."""
    async with PageClient(address) as browser:
        for page in ("workbench", "runs", "scores", "explore"):
            for key in ("task", "run", "bundle", "talk", "subgraph", "passes", "search"):
                await browser.open(page, f"{key}={quote(HOSTILE)}")
        await browser.open("workbench", f"task={TASK_ID}")
        printing = (
            f"import sys\nprint({HOSTILE!r})\nprint({HOSTILE!r}, file=sys.stderr)\nraise ValueError({HOSTILE!r})\n"
        )
        await browser.type(printing)
        await browser.press("Check")
        assert browser._socket is not None
        await browser._socket.send(HOSTILE.encode())


def ask(place: str, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
    connection = http.client.HTTPConnection(place, timeout=seconds(60))
    try:
        connection.request(method, path, body if method == "POST" else None, headers)
        connection.getresponse().read()
    finally:
        connection.close()


def raw(place: str, request: bytes) -> None:
    """Send bytes as they are, and wait for the answer or the end."""
    host, _, port = place.partition(":")
    with socket.create_connection((host, int(port)), timeout=seconds(60)) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
