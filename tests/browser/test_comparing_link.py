"""Comparing two runs in a real browser: every choice is in the link."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.example_playground import task

pytestmark = [pytest.mark.browser, pytest.mark.settled]

OpenPage = Callable[..., Page]


def test_a_comparison_opens_by_its_link_as_it_was_left(open_page: OpenPage) -> None:
    subgraph = task().subgraphs[1].id
    page = open_page(f"/runs?run=recorded-passes&against=recorded-inductor&subgraph={subgraph}")
    expect(page.get_by_role("heading", name="▲ 2 faster")).to_be_visible()
    expect(page.get_by_test_id("stCode").get_by_text("+def pattern(a, b):")).to_be_visible()
    page.get_by_role("radio", name="Graph").click()
    expect(page).to_have_url(re.compile("show=Graph"))
    expect(page.get_by_text("− 2 nodes removed, + 1 node added.")).to_be_visible()

    cold = open_page("/runs?" + page.url.split("?")[1])
    expect(cold.get_by_role("heading", name=subgraph)).to_be_visible()
    expect(cold.get_by_text("− 2 nodes removed, + 1 node added.")).to_be_visible()
    cold.get_by_role("button", name="Swap then and now").click()
    expect(cold.get_by_role("heading", name="▼ 2 slower")).to_be_visible()
    expect(cold).to_have_url(re.compile("run=recorded-inductor&against=recorded-passes"))
    cold.get_by_role("button", name="Close the comparison").click()
    expect(cold.get_by_role("heading", name=re.compile("^TorchInductor on"))).to_be_visible()
    expect(cold.get_by_role("button", name="Download report")).to_be_visible()
