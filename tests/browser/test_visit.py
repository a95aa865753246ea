"""A visit from Start to a verdict, in a real browser, with the real judge."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.typing_code import editor, kept, replace_text
from tests.example_playground import PASS, REFERENCE_NAME, TASK_ID, task
from tests.serving import serving
from tests.waiting import seconds

pytestmark = [pytest.mark.browser, pytest.mark.settled, pytest.mark.long]

OpenPage = Callable[..., Page]


def paste(page: Page, code: str) -> None:
    """Put the code into the only file of a new draft, and wait until the app has saved it."""
    replace_text(page, code)
    kept(page, code)


def choose_first_row(page: Page, heading: str) -> None:
    """Choose the first row of a table, which is drawn on a canvas, and wait for what it opens."""
    table = page.get_by_test_id("stDataFrame").first
    shown = page.get_by_role("heading", name=heading, exact=True)
    for _ in range(5):
        table.click(position={"x": 17, "y": 52})
        try:
            expect(shown).to_be_visible(timeout=1000 * seconds(5))
        except AssertionError:
            continue
        return
    expect(shown).to_be_visible()


def test_the_first_link_that_is_ever_opened_shows_its_page(browser: Browser, tmp_path: Path) -> None:
    with serving({**os.environ, "PASSNET_HOME": str(tmp_path / "home")}, tmp_path / "app.log") as address:
        page = browser.new_page()
        page.goto(f"{address}/explore?q=gelu")
        expect(page.get_by_role("heading", name="Explore")).to_be_visible()
        expect(page.get_by_text(re.compile(r"^\d+ of \d+ tasks"))).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.close()


def test_from_start_to_a_verdict_and_its_permanent_link(open_page: OpenPage) -> None:
    page = open_page("/")
    expect(page.get_by_role("heading", name=TASK_ID, exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^.*Right, faster: 1.50× eager"))).to_be_visible()
    page.get_by_role("link", name="Explore", exact=True).click()

    search = page.get_by_role("textbox", name="Search", exact=True)
    search.fill(f"{TASK_ID} toy")
    search.press("Enter")
    expect(page.get_by_text(re.compile(r"^2 of \d+ tasks"))).to_be_visible()
    choose_first_row(page, TASK_ID)
    expect(page).to_have_url(re.compile(f"task={TASK_ID}"))
    page.get_by_role("link", name="Write a pass for this task").click()

    paste(page, PASS)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("heading", name="Matches")).to_be_visible()
    checked = page.url
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^.*Right"))).to_be_visible()
    expect(page).to_have_url(re.compile(r"run="))
    assert page.url != checked

    run_id = re.findall(r"run=([^&]+)", page.url)[0]
    second = page.context.new_page()
    second.goto(page.url.split("/workbench")[0] + f"/runs?run={run_id}")
    expect(second.get_by_role("heading", name=f"Your passes on {TASK_ID}: right")).to_be_visible()
    expect(second.get_by_text(f"run {run_id}")).to_be_visible()
    expect(second.get_by_role("heading", name=re.compile("^.*Right"))).to_be_visible()

    second.get_by_role("link", name="Scores").click()
    expect(second.get_by_text("2 of 2 subgraphs of 1 task").first).to_be_visible()
    expect(second.get_by_test_id("stVegaLiteChart").first).to_be_visible()


def test_what_was_typed_survives_a_reload_and_links_open_cold(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    text = PASS + "# typed by a visitor\n"
    paste(page, text)
    page.reload()
    expect(editor(page)).to_contain_text("# typed by a visitor")
    kept(page, text)

    expect(page).to_have_title(f"{TASK_ID}-wide · Workbench · PassNet Playground")
    subgraph = task().subgraphs[1].id
    page = open_page(f"/workbench?task={TASK_ID}&subgraph={subgraph}&bundle={REFERENCE_NAME}")
    expect(page.get_by_role("combobox", name=re.compile("^Subgraph"))).to_have_value(subgraph)
    expect(page.get_by_role("combobox", name="Passes")).to_have_value(REFERENCE_NAME)
    expect(page.get_by_label("Code of add_relu.py")).to_contain_text("def pattern")


def test_a_draft_is_seen_in_its_browser_only(open_page: OpenPage) -> None:
    link = f"/workbench?task={TASK_ID}-wide"
    page = open_page(link)
    text = PASS + "# nobody else's\n"
    paste(page, text)
    second = page.context.new_page()
    second.goto(page.url)
    expect(editor(second)).to_contain_text("# nobody else's")
    second.goto(page.url.split("/workbench")[0])
    expect(second).to_have_url(re.compile(f"task={TASK_ID}-wide"))
    expect(editor(second)).to_contain_text("# nobody else's")

    stranger = open_page(link)
    expect(editor(stranger)).to_contain_text("def pattern")
    expect(editor(stranger)).not_to_contain_text("# nobody else's")
    stranger.goto(page.url.split("/workbench")[0])
    expect(stranger).to_have_url(re.compile(f"bundle={REFERENCE_NAME}"))
    expect(stranger.get_by_text("# nobody else's")).to_have_count(0)


def test_two_tabs_that_change_one_draft_lose_nothing(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    paste(page, PASS)
    second = page.context.new_page()
    second.goto(page.url)
    expect(editor(second)).to_contain_text("def pattern")
    paste(second, PASS + "# from the second tab\n")
    replace_text(page, PASS + "# from the first tab\n")
    expect(page.get_by_text("Two versions of one draft")).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_text("+# from the second tab")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Take theirs").click()
    expect(editor(page)).to_contain_text("# from the second tab")
    expect(page.get_by_text("Two versions of one draft")).to_have_count(0)
    editor(page).focus()
    page.keyboard.press("Control+z")
    expect(editor(page)).to_contain_text("# from the first tab")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_draws_in_both_themes(open_page: OpenPage, scheme: str) -> None:
    page = open_page("/", scheme)
    expect(page.get_by_role("heading", name=TASK_ID, exact=True, level=1)).to_be_visible()
    lightness = page.evaluate(
        "getComputedStyle(document.querySelector('.stApp')).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    assert (sum(lightness) > 3 * 128) == (scheme == "light")
    expect(page).to_have_title(f"{TASK_ID} · Workbench · PassNet Playground")
    for name in ("Explore", "Runs", "Scores", "Help"):
        page.get_by_test_id("stHeader").get_by_role("link", name=name).click()
        expect(page).to_have_title(f"{name} · PassNet Playground")
        expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()
        expect(page.get_by_text("sandboxed").first).to_be_visible()
        expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_task_like_this_one_is_a_click_away_and_then_in_the_url(open_page: OpenPage) -> None:
    page = open_page("/explore?task=swiglu-gate")
    page.get_by_text("Tasks like this one").click()
    found = page.get_by_role("button", name=re.compile("% alike"))
    expect(found).to_have_count(
        8
    )  # wait for all labels: they appear in any order, and a click on an incomplete one is lost
    alike = found.first
    name = alike.inner_text().split(" · ")[0]
    alike.click()
    expect(page).to_have_url(re.compile(f"task={name}"))
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def test_one_click_on_a_page_that_draws_itself_again_starts_one_run(open_page: OpenPage) -> None:
    page = open_page("/workbench?task=bloom-gelu-tanh&bundle=pointwise-gelu-tanh")
    page.get_by_role("button", name=re.compile(r"^Run all \d+")).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    first = page.url
    # a busy browser: when it learns of the click, it is time to ask for a part of the page again, and that comes first
    page.get_by_role("button", name="Run", exact=True).evaluate(
        """run => {
            const busy = ms => { const end = performance.now() + ms; while (performance.now() < end); };
            setTimeout(() => busy(1500), 0);
            setTimeout(() => { setTimeout(() => busy(500), 0); run.click(); }, 0);
        }"""
    )
    expect(page).not_to_have_url(first)
    page.goto(f"{page.url.partition('/workbench')[0]}/runs?own=true&of=bloom-gelu-tanh")
    expect(page.get_by_text(re.compile(r"^2 runs\. "))).to_be_visible()
