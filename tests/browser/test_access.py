"""The accessibility checker axe finds nothing on any page, light or dark."""

import contextlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.example_playground import LESSONS, REFERENCE_NAME, TASK_ID
from tests.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.settled, pytest.mark.long]

OpenPage = Callable[..., Page]
FADED_S = 7.0
FADING = "document.getAnimations().some(each => each instanceof CSSTransition)"
LOOKS = 3
PAGES = {
    "/": TASK_ID,
    "/learn": "Learn to write passes",
    f"/learn?lesson={LESSONS[0]}": "1. A title",
    "/explore": "Explore",
    f"/explore?task={TASK_ID}": TASK_ID,
    "/workbench": TASK_ID,
    f"/workbench?task={TASK_ID}&bundle={REFERENCE_NAME}": TASK_ID,
    f"/workbench?task={TASK_ID}&talk=new": "Have a language model write the passes",
    "/workbench?task=clip-quick-gelu&talk=rules": "Passes written by rules",
    "/model": "Your model",
    "/runs": "Runs",
    "/scores": "Scores",
    "/help": "Help",
}
"""Links to pages, each with a heading of its page."""
VIEWS = {
    "/scores?view=Speedups": "Scores",
    "/scores?view=Against%20TorchInductor": "Scores",
    "/scores?view=Two%20solvers": "Scores",
    "/runs?run=recorded-passes": "Reference on",
    "/runs?run=recorded-passes&against=recorded-inductor": "Two runs compared",
}
"""More views, checked only in the dark theme, where contrast is harder."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_finding(open_page: OpenPage, scheme: str) -> None:
    found = []
    page = open_page("/", scheme)
    address = page.url.rstrip("/")
    for link, heading in {**PAGES, **(VIEWS if scheme == "dark" else {})}.items():
        page.goto(address + link)
        expect(page.get_by_role("heading", name=re.compile(re.escape(heading))).first).to_be_visible()
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        for each in lasting(page):
            places = [(node["target"], node["any"][0]["message"] if node["any"] else "") for node in each["nodes"]]
            found.append((link, each["id"], places[:3]))
    assert not found


def lasting(page: Page) -> list[dict[str, Any]]:
    """What axe finds however often it looks. What was stale fades in, and is pale until then; what is polled may begin
    to fade again between the end of a wait and the look."""
    found: list[dict[str, Any]] = []
    for _ in range(LOOKS):
        with contextlib.suppress(AssertionError):
            eventually(lambda: not page.evaluate(FADING), "the end of fading", idle_s=FADED_S)
        found = Axe().run(page).response["violations"]
        if not found:
            break
    return found
