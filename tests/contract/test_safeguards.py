"""What the served app answers to other names, other sites' pages and the curious: real requests to a real server."""

import http.client
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.example_playground import TASK_ID
from tests.page_client import PageClient, run_apart
from tests.serving import serving_example
from tests.waiting import seconds

pytestmark = [pytest.mark.sandbox, pytest.mark.long]

EVIL = "evil.example"
UPGRADE: dict[str, Any] = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip
PAGES = ("/", "/workbench", f"/workbench?task={TASK_ID}", "/nothing-here")
FILES = ("/favicon.png", "/_stcore/health", "/_stcore/host-config", "/media/none.png", "/preview/none.png")
DEEDS = ("cancel", "share", "shared", "delete", "start", "check", "submit", "join", "export", "import", "logout")
PROGRAMS = ("/api/health", "/api/openapi.json", "/api/me", "/mcp")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_example(tmp_path_factory.mktemp("served")) as opened:
        yield opened


def ask(address: str, method: str, path: str, body: bytes | None = None, **headers: Any) -> http.client.HTTPResponse:
    """Send a request whose headers are as given; of a WebSocket, its first one. The answer's body has been read."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=seconds(60))
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        if answer.status != http.client.SWITCHING_PROTOCOLS:
            answer.read()
        return answer
    finally:
        connection.close()


@pytest.mark.parametrize("host", [EVIL, f"{EVIL}:8501", "127.0.0.1.evil.example", "", "[::1", "a b", "10.0.0.1"])
def test_the_app_answers_to_its_own_names_only(address: str, host: str) -> None:
    """Else a page could have its name lead here, and read and do whatever its visitor may."""
    for path in (*PAGES, *FILES, *PROGRAMS):
        assert ask(address, "GET", path, Host=host).status == 400, path
    assert ask(address, "PUT", "/_stcore/upload_file/session/file", b"x", Host=host).status == 400
    assert ask(address, "GET", "/_stcore/stream", Host=host, Origin=f"http://{host}", **UPGRADE).status == 400


def test_the_app_answers_to_every_name_of_this_machine(address: str) -> None:
    port = urlsplit(address).port
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        host = f"{name}:{port}"
        assert ask(address, "GET", "/_stcore/health", Host=host).status == 200, host
        assert ask(address, "GET", "/_stcore/stream", Host=host, Origin=f"http://{host}", **UPGRADE).status == 101


def test_every_answer_says_that_other_sites_may_not_frame_it_or_learn_its_address(address: str) -> None:
    for path in (*PAGES, *FILES, *PROGRAMS, "/_stcore/metrics"):
        for host in (urlsplit(address).netloc, EVIL):
            headers = ask(address, "GET", path, Host=host).headers
            assert headers["X-Content-Type-Options"] == "nosniff", path
            assert headers["Referrer-Policy"] == "same-origin", path
            assert headers["X-Frame-Options"] in ("DENY", "SAMEORIGIN"), path
            (policy,) = headers.get_all("Content-Security-Policy", [])
            assert "frame-ancestors 'self'" in policy or "frame-ancestors 'none'" in policy, path
            assert "default-src 'self'" in policy or "default-src 'none'" in policy, path
            scripts = policy.partition("script-src")[2].partition(";")[0]
            assert "unsafe" not in scripts.replace("wasm-unsafe-eval", ""), path


def test_figures_are_not_for_strangers(address: str) -> None:
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/_stcore/metrics?families=session_events", "/metrics"):
        for method in ("GET", "HEAD", "OPTIONS", "POST"):
            answer = ask(address, method, path)
            assert answer.status in (404, 405) or "text/html" in answer.headers["Content-Type"], (method, path)
    assert ask(address, "POST", "/_stcore/agent/mcp", b"{}").status == 404


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", "http://[", "file://"])
def test_the_page_of_another_site_changes_nothing(address: str, origin: str) -> None:
    """Neither a form, nor a beacon, nor a WebSocket of it, whatever the address."""
    for path in (*PAGES, *FILES, *PROGRAMS, "/api/runs", "/api/runs/any/cancel", "/oauth2callback"):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
            assert ask(address, "POST", path, b"{}", Origin=origin, Content_Type=kind).status == 403, path
    for method in ("PUT", "DELETE", "PATCH"):
        assert ask(address, method, "/_stcore/upload_file/session/file", b"x", Origin=origin).status == 403
        assert ask(address, method, "/api/runs/any/shared", b"{}", Origin=origin).status == 403
    assert ask(address, "GET", "/_stcore/stream", Origin=origin, **UPGRADE).status == 403


def test_uploads_need_the_cookie_that_only_a_page_of_the_app_can_read(address: str) -> None:
    for method in ("PUT", "DELETE"):
        answer = ask(address, method, "/_stcore/upload_file/session/file", b"x", Origin=address)
        assert answer.status == 403


def test_open_health_says_whether_the_server_is_well_and_no_more(address: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=seconds(60))
    connection.request("GET", "/api/health")
    assert connection.getresponse().read() == b'{"ok":true}'
    connection.request("GET", "/_stcore/health")
    assert connection.getresponse().read() == b"ok"
    connection.close()


def test_no_link_changes_anything(address: str) -> None:
    """Whatever it selects: who follows a link cancels, shares, deletes and starts nothing by that."""
    mine = {"passnet_browser": "0123456789abcdef" * 2}

    async def tried() -> None:
        async with PageClient(address, mine) as browser, PageClient(address) as stranger:
            await browser.open("workbench", f"task={TASK_ID}")
            await browser.press("Run", drawn=False)
            await browser.until(lambda shown: "run=" in browser._query)
            run = browser._query.partition("run=")[2].partition("&")[0]
            await browser.open("runs", f"run={run}")
            await browser.until(lambda shown: "Export" in shown.buttons or "Cancel" not in shown.buttons)
            await browser.open("runs")
            before = browser.shown.text
            for page in ("runs", "workbench", "account", "class"):
                for deed in DEEDS:
                    await browser.open(page, f"task={TASK_ID}&{deed}={run}&run={run}&{deed.title()}=true")
            await browser.open("runs")
            assert browser.shown.text == before
            await stranger.open("runs", f"run={run}")
            assert f"There is no run '{run}' that you may see." in stranger.shown.text

    run_apart(tried())
