"""The gallery in a real browser: opened by keyboard, turned back from, and started from."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.browser.typing_code import editor, kept, replace_text
from tests.example_playground import PASS

pytestmark = [pytest.mark.browser, pytest.mark.settled]

OpenPage = Callable[..., Page]


def test_a_bundle_is_opened_and_started_from_and_no_typed_text_is_lost(open_page: OpenPage) -> None:
    page = open_page("/explore?view=Gallery&family=single-operator")
    family = page.get_by_role("heading", name=re.compile("^Single-operator"))
    start = page.get_by_role("button", name="Start from this one")
    expect(family).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^Fusible"))).to_have_count(0)
    page.get_by_test_id("data-grid-canvas").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Space")
    expect(start).to_be_visible()
    expect(page).to_have_url(re.compile("family=single-operator.*entry="))
    place = urlparse(page.url)
    workbench = f"{place.scheme}://{place.netloc}/workbench?task={parse_qs(place.query)['entry'][0]}"
    page.go_back()
    expect(family).to_be_visible()
    expect(page).not_to_have_url(re.compile("entry="))

    page.goto(workbench)
    text = PASS + "# typed before\n"
    replace_text(page, text)
    kept(page, text)
    page.goto(place.geturl())
    start.click()
    expect(page).to_have_url(re.compile(r"/workbench\?task=.*bundle=[0-9a-f]{8}"))
    expect(page.get_by_role("tab", name="batch_norm.py")).to_be_visible()
    expect(page.get_by_text("# typed before")).to_have_count(0)
    page.goto(workbench)
    expect(editor(page)).to_contain_text("# typed before")
