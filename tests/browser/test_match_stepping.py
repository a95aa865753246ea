"""A missing match is explained and fixed from the page; then the matches are stepped through by keyboard."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.typing_code import editor, replace_text
from tests.example_playground import PASS

pytestmark = [pytest.mark.browser, pytest.mark.settled]

OpenPage = Callable[..., Page]
WRONG = "return torch.mul(a, b)"
RIGHT = "return a * b"


def graph(page: Page, name: str) -> Locator:
    return page.get_by_role("listbox", name=re.compile(rf"^{name}"))


def paired(page: Page, name: str, mark: str) -> Locator:
    """Return the box in a graph that has this mark."""
    return graph(page, name).get_by_role("option", name=re.compile(rf"pair {mark}: "))


def test_no_match_is_explained_mended_and_then_stepped_through(open_page: OpenPage) -> None:
    page = open_page("/workbench?task=clip-quick-gelu")
    replace_text(page, PASS.replace("return torch.nn.functional.relu(a + b)", WRONG))
    page.keyboard.press("Control+Enter")
    page.get_by_role("tab", name="Match").click()

    expect(page.get_by_text("Nearest miss of MyPass")).to_be_visible()
    expect(page.get_by_text(re.compile("with it the pattern has 2 matches"))).to_be_visible()
    expect(graph(page, "The pattern of MyPass").get_by_role("option", name=re.compile("nearest miss"))).to_be_visible()
    page.get_by_role("button", name="Apply to the editor").click()
    expect(editor(page)).to_contain_text(RIGHT)
    editor(page).focus()
    page.keyboard.press("Control+z")
    expect(editor(page)).to_contain_text(WRONG)
    page.keyboard.press("Control+y")
    expect(editor(page)).to_contain_text(RIGHT)
    page.keyboard.press("Control+Enter")

    expect(page.get_by_text("Match 1 of 2 of pass MyPass", exact=True).first).to_be_visible()
    expect(paired(page, "The pattern of MyPass", "1")).to_have_accessible_name(re.compile("the graph's tmp_0"))
    canvas = graph(page, "The subgraph")
    canvas.focus()
    place = page.get_by_test_id("stMain").evaluate("each => each.scrollTop")
    page.keyboard.press("n")
    expect(page.get_by_text("Match 2 of 2 of pass MyPass", exact=True).first).to_be_visible()
    expect(paired(page, "The subgraph", "1")).to_have_accessible_name(re.compile("tmp_2"))
    expect(paired(page, "The pattern of MyPass", "1")).to_have_accessible_name(re.compile("the graph's tmp_2"))
    expect(page).to_have_url(re.compile(r"match=1\.2"))
    expect(canvas).to_be_focused()
    assert page.get_by_test_id("stMain").evaluate("each => each.scrollTop") == place
    page.keyboard.press("n")
    expect(page.get_by_text("Match 1 of 2 of pass MyPass", exact=True).first).to_be_visible()
    following = page.get_by_role("button", name="Next")
    following.press("Enter")
    expect(page.get_by_text("Match 2 of 2 of pass MyPass", exact=True).first).to_be_visible()
    expect(following).to_be_focused()
