"""The pages do everything under their Content-Security-Policy, which allows their own scripts alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser.test_access import PAGES, VIEWS

pytestmark = [pytest.mark.browser, pytest.mark.settled, pytest.mark.long]

OpenPage = Callable[..., Page]


def test_no_page_reports_an_error_to_the_console(open_page: OpenPage) -> None:
    page = open_page("/")
    errors: list[str] = []

    def noted(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{page.url}: {message.text}")

    page.on("console", noted)
    address = page.url.rstrip("/")
    for link in (*PAGES, *VIEWS):
        page.goto(address + link)
        expect(page.get_by_role("heading").first).to_be_visible()
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    assert not errors, "\n".join(errors)
