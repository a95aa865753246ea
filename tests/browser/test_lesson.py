"""A lesson as a newcomer takes it, by keyboard alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.example_playground import PASS

pytestmark = [pytest.mark.browser, pytest.mark.settled]

OpenPage = Callable[..., Page]
MOST_STOPS = 120
FOCUSED = """() => {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  const own = ["MAIN", "BODY"].includes(found?.tagName) ? "" : found?.innerText;
  return `${found?.ariaLabel ?? ""} ${own ?? ""} ${found?.className ?? ""}`;
}"""


def tab_to(page: Page, words: str) -> None:
    """Press Tab until what has the focus has these words in its label, its text or its class."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if words in page.evaluate(FOCUSED):
            return
    raise AssertionError(f"Tab does not come to {words!r}, but to {page.evaluate(FOCUSED)!r}")


def test_a_lesson_is_passed_by_keyboard_alone_and_leads_to_the_next(open_page: OpenPage) -> None:
    page = open_page("/")
    expect(page.get_by_role("button", name="Start the course")).to_be_visible()
    tab_to(page, "Start the course")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1. A title")).to_be_visible()
    expect(page.get_by_text("The pattern has to add.")).to_be_visible()
    tab_to(page, "cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(PASS)
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_text("You have all stars of this lesson")).to_be_visible()
    page.keyboard.press("Escape")
    tab_to(page, "Go on: 2. A title")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="2. A title")).to_be_visible()
    page.goto(page.url.partition("?")[0])
    expect(page.get_by_text("1 of 2 lessons done")).to_be_visible()
