"""The app as strangers find it: they visit, sign in with a real OpenID provider, and see what is theirs."""

import http.client
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.browser.conftest import patience_ms
from tests.browser.test_access import lasting
from tests.example_playground import TASK_ID
from tests.signing_in import Doorstep, doorstep
from tests.waiting import seconds

pytestmark = [pytest.mark.browser, pytest.mark.settled, pytest.mark.sandbox, pytest.mark.long]

PEOPLE = {each.lower(): each for each in ("Alice", "Bob", "Carol")}
SignIn = Callable[[str], Page]


class Served(Doorstep):
    """The app, which programs ask too."""

    def ask(self, path: str, token: str = "") -> tuple[int, Any]:
        """Ask the interface for programs."""
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=seconds(60))
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with doorstep(tmp_path_factory.mktemp("served"), PEOPLE) as opened:
        yield Served(opened.address, opened.environment)


@pytest.fixture
def stranger(served: Served, browser: Browser) -> Iterator[Callable[[], Page]]:
    """Open the app in a browser of its own."""
    contexts: list[BrowserContext] = []
    refused: list[str] = []

    def noted(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            refused.append(message.text)

    def arrived() -> Page:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 800}))
        contexts[-1].set_default_timeout(patience_ms())
        expect.set_options(timeout=patience_ms())
        page = contexts[-1].new_page()
        page.on("console", noted)
        page.goto(f"{served.address}/account")
        return page

    yield arrived
    for each in contexts:
        each.close()
    assert not refused


@pytest.fixture
def sign_in(served: Served, stranger: Callable[[], Page]) -> SignIn:
    def signed_in(name: str) -> Page:
        return served.sign_in(stranger(), name)

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
        expect(page.get_by_text(f"run {run}")).to_be_visible()
        expect(page.get_by_text("Shared by its link")).to_have_count(0)

    bob.goto(f"{served.address}/operator")
    expect(bob.get_by_text("Audit log")).to_have_count(0)
    served.give_role("Alice", "operator")
    alice.goto(f"{served.address}/operator")
    expect(alice.get_by_role("heading", name="Audit log")).to_be_visible()
    alice.get_by_label("Name or id").fill("Bob")
    alice.get_by_label("What they are told").fill("Too many runs")
    alice.get_by_role("button", name="Ban", exact=True).click()
    expect(alice.get_by_text("Bob: Too many runs")).to_be_visible()
    bob.reload()
    expect(bob.get_by_text("Nothing is done for you here: Too many runs.")).to_be_visible()
    assert served.ask("/api/health", token)[1]["isolation"] == "sandboxed"


def test_no_page_of_who_has_signed_in_has_a_finding(served: Served, sign_in: SignIn) -> None:
    carol = sign_in("Carol")
    served.give_role("Carol", "operator")
    carol.goto(f"{served.address}/class")
    carol.get_by_label("Name of a new class").fill("Compilers")
    carol.get_by_role("button", name="Make the class").click()
    carol.wait_for_url("**/class?group=*")
    pages = (carol.url, *(f"{served.address}/{name}" for name in ("class", "account", "operator")))
    for scheme in ("light", "dark"):
        carol.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for link in pages:
            carol.goto(link)
            expect(carol.get_by_role("heading", level=1)).to_be_visible()
            expect(carol.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
            assert lasting(carol) == [], f"{link}, {scheme}"
