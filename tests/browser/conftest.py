"""The app in a process of its own, with its real judge, and a real browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.conftest import chromium
from tests.example_playground import write_data
from tests.serving import serving
from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]
STARTS = ("assets", "data/bundles", "data/solved")
"""What the app reads besides what tests/serving.py names."""
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
OpenPage = Callable[..., Page]


def patience_ms() -> float:
    """How long the browser waits for what a page should show, in milliseconds."""
    return 1000 * seconds(30)


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app that serves the bundled tasks and those of the example playground."""
    folder = tmp_path_factory.mktemp("app")
    data = write_data(folder / "data")
    for kind in ("tasks", "bundles", "solved"):
        if (PROJECT / "data" / kind).is_dir():
            shutil.copytree(PROJECT / "data" / kind, data / kind, dirs_exist_ok=True)
    environment = {**os.environ, "PASSNET_DATA": str(data), "PASSNET_HOME": str(folder / "home")}
    with serving(environment, folder / "app.log") as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=patience_ms())
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=list(SWITCHES), timeout=patience_ms())
        yield launched
        launched.close()


@pytest.fixture
def open_page(app: str, browser: Browser) -> Iterator[OpenPage]:
    """Open a link as a new visitor. Errors of scripts, requests to other servers, and what the
    page's policy refuses fail the test."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []
    own = (app, "data:", "blob:")

    def noted(asked: Request) -> None:
        if not asked.url.startswith(own):
            problems.append(asked.url)

    def refused(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            problems.append(message.text)

    def opened(link: str, scheme: str = "light") -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        context.set_default_timeout(patience_ms())
        expect.set_options(timeout=patience_ms())
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", noted)
        page.on("console", refused)
        page.goto(app + link)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not problems
