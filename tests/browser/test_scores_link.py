"""The Scores page in a real browser: slider, link and chart always show the same t."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.settled]

OpenPage = Callable[..., Page]


def test_the_slider_the_link_and_a_click_on_a_point_move_together(open_page: OpenPage) -> None:
    page = open_page("/scores?t=-3")
    slider = page.get_by_role("slider", name="Tolerance level t")
    curves = page.get_by_test_id("stVegaLiteChart").first
    expect(slider).to_have_attribute("aria-valuetext", "-3")
    expect(curves.locator("line[aria-label$=': −3']")).to_have_count(1)
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("[?&]t=-2"))
    expect(page.get_by_text("in the ES(-2) of Add and rectify")).to_be_visible()
    expect(curves.locator("line[aria-label$=': −2']")).to_have_count(1)

    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    # the part of the plot that is nearest to the point takes the click
    point = curves.locator("path[aria-label*=': 1;'][aria-label*='TorchInductor']").last
    # away from the bar at the top, which stays where it is
    point.evaluate("each => each.scrollIntoView({block: 'center'})")
    point.click(force=True)
    expect(page).to_have_url(re.compile("[?&]t=1(&|$)"))
    expect(page).to_have_url(re.compile("who=TorchInductor"))
    expect(slider).to_have_attribute("aria-valuetext", "1")
    expect(page.get_by_text("in the ES(1) of TorchInductor")).to_be_visible()
    # until then the chart may be drawn anew, and lose a click
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")

    page.get_by_test_id("stVegaLiteChart").nth(1).locator("text[aria-label*='float16/96/toy']").first.click()
    expect(page.get_by_role("link", name="TorchInductor: the run of add-relu, float16/96/toy")).to_be_visible()

    cold = open_page("/scores?" + page.url.split("?")[1])
    expect(cold.get_by_text("in the ES(1) of TorchInductor")).to_be_visible()
    expect(cold.get_by_role("link", name="TorchInductor: the run of add-relu, float16/96/toy")).to_be_visible()
    cold.get_by_role("button", name="Download: contributions").click()
    for name, start in (("Picture as SVG", b"<svg"), ("Data as CSV", b"task,subgraph")):
        with cold.expect_download() as download:
            cold.get_by_role("button", name=name).click()
        with open(download.value.path(), "rb") as file:
            assert file.read(13).startswith(start)
        assert re.fullmatch(r"scores-add-relu-\w{4}-t=1-contributions\.(svg|csv)", download.value.suggested_filename)

    cold.keyboard.press("Escape")
    cold.get_by_test_id("stVegaLiteChart").last.locator("path[aria-label*='slower than eager']").first.click()
    expect(cold).to_have_url(re.compile(r"/explore\?state=Inductor\+slower\+than\+eager$"))
    expect(cold.get_by_text(re.compile("of [0-9]+ tasks"))).to_be_visible()
