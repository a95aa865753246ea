"""The app as strangers find it: they visit, sign in with a real OpenID provider, and see what is theirs."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import PATIENCE_MS, PROJECT
from tests.example_playground import TASK_ID, write_data
from tests.serving import free_port, serving

SECRETS = """[auth]
redirect_uri = "{address}/oauth2callback"
cookie_secret = "a secret of this test, and of no server"
client_id = "playground"
client_secret = "known to the provider"
server_metadata_url = "http://localhost:{provider}/.well-known/openid-configuration"
"""
PEOPLE = (User(sub="alice", claims={"name": "Alice"}), User(sub="bob", claims={"name": "Bob"}))
SignIn = Callable[[str], Page]


@dataclass(frozen=True)
class Served:
    address: str
    environment: dict[str, str]

    def command(self, *arguments: str) -> None:
        """Run a command of the playground beside the server."""
        subprocess.run(
            [sys.executable, "-m", "passnet_core", *arguments],
            env=self.environment,
            cwd=PROJECT,
            check=True,
            timeout=120,
        )

    def ask(self, path: str, token: str = "") -> tuple[int, Any]:
        """Ask the interface for programs."""
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=60)
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    home, port = tmp_path / "home", free_port()
    home.mkdir()
    environment = {
        **os.environ, "PASSNET_HOME": str(home), "PASSNET_DATA": str(write_data(tmp_path / "data")),
        "PASSNET_ISOLATION": "auto",
    }  # fmt: skip
    with run_server_in_thread(user_claims=PEOPLE) as provider:
        told = SECRETS.format(address=f"http://127.0.0.1:{port}", provider=provider.server_port)
        (home / "secrets.toml").write_text(told)
        with serving(environment, tmp_path / "app.log", port=port) as address:
            yield Served(address, environment)


@pytest.fixture
def stranger(served: Served, browser: Browser) -> Iterator[Callable[[], Page]]:
    """Open the app in a browser of its own."""
    contexts: list[BrowserContext] = []

    def arrived() -> Page:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 800}))
        contexts[-1].set_default_timeout(PATIENCE_MS)
        page = contexts[-1].new_page()
        page.goto(f"{served.address}/account")
        return page

    yield arrived
    for each in contexts:
        each.close()


@pytest.fixture
def sign_in(stranger: Callable[[], Page]) -> SignIn:
    def signed_in(name: str) -> Page:
        page = stranger()
        page.get_by_role("button", name="Sign in").first.click()
        page.get_by_role("button", name=name.lower()).click()
        expect(page.get_by_role("button", name=name)).to_be_visible()
        return page

    return signed_in


def test_people_sign_in_and_see_what_is_theirs_or_shared(
    served: Served, stranger: Callable[[], Page], sign_in: SignIn
) -> None:
    visitor = stranger()
    expect(visitor.get_by_text("You are a visitor.")).to_be_visible()

    alice = sign_in("Alice")
    alice.goto(f"{served.address}/account")
    expect(alice.get_by_text("You are a member.")).to_be_visible()
    alice.get_by_role("button", name="Make a token").click()
    token = alice.locator("code", has_text="passnet_").first.inner_text()
    status, told = served.ask("/api/me", token)
    assert (status, told["name"], told["role"]) == (200, "Alice", "member")
    assert served.ask("/api/me")[0] == 401

    alice.goto(f"{served.address}/workbench?task={TASK_ID}")
    alice.get_by_role("button", name="Run", exact=True).click()
    expect(alice.get_by_role("link", name="Permanent page of this run")).to_be_visible()
    run = alice.url.partition("run=")[2].partition("&")[0]
    runs = served.ask("/api/runs?mine=true", token)[1]
    assert [each["run"] for each in runs] == [run]

    bob = sign_in("Bob")
    for page in (bob, visitor):
        page.goto(f"{served.address}/runs?run={run}")
        expect(page.get_by_text(f"There is no run '{run}' that you may see.")).to_be_visible()
    alice.goto(f"{served.address}/runs?run={run}")
    with alice.expect_download() as saved:
        alice.get_by_role("button", name="Export").click()
    assert run in Path(saved.value.path()).read_text(), "a download is hers too"
    alice.get_by_text("Shared by its link").click()
    expect(alice.get_by_role("switch")).to_be_checked()
    for page in (bob, visitor):
        page.reload()
        expect(page.get_by_role("heading", name=f"Run {run}")).to_be_visible()
        expect(page.get_by_text("Shared by its link")).to_have_count(0)

    bob.goto(f"{served.address}/operator")
    expect(bob.get_by_text("Audit log")).to_have_count(0)
    served.command("people", "role", "Alice", "operator")
    alice.goto(f"{served.address}/operator")
    expect(alice.get_by_role("heading", name="Audit log")).to_be_visible()
    alice.get_by_label("Name or id").fill("Bob")
    alice.get_by_label("What they are told").fill("Too many runs")
    alice.get_by_role("button", name="Ban", exact=True).click()
    expect(alice.get_by_text("Bob: Too many runs")).to_be_visible()
    bob.reload()
    expect(bob.get_by_text("Nothing is done for you here: Too many runs.")).to_be_visible()
    assert served.ask("/api/health")[1]["isolation"] == "sandboxed"
