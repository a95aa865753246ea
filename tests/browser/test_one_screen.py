"""The Workbench as one screen: checked as one types, shared by a link, on a phone, and with far too much in it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from passnet_core.bundles.packing import packed
from passnet_core.records import Bundle, PassFile
from tests.browser.typing_code import editor, kept, replace_text
from tests.example_playground import PASS, TASK_ID
from tests.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.settled, pytest.mark.long]

OpenPage = Callable[..., Page]
MISSING = PASS.replace("torch.nn.functional.relu", "torch.relu")


def test_what_is_typed_is_checked_without_a_click_and_a_link_carries_it(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    replace_text(page, MISSING)
    expect(page.get_by_role("heading", name="No match")).to_be_visible()
    # a click on what is being redrawn is lost
    page.get_by_role("button", name="Apply to the editor").click()
    expect(page.get_by_text(re.compile("Changed .*, line"))).to_be_visible()
    expect(page.get_by_role("heading", name="Matches")).to_be_visible()
    for part in (page.locator(".st-key-pane-graph .canvas").first, editor(page), page.get_by_role("tab", name="Time")):
        expect(part).to_be_in_viewport()

    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    stranger = open_page(link.removeprefix(page.url.split("/workbench")[0]))
    expect(editor(stranger)).to_contain_text("torch.nn.functional.relu")
    expect(stranger.get_by_role("heading", name="Matches")).to_be_visible()


def test_ctrl_k_leads_from_the_editor_to_what_is_searched(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    expect(editor(page)).to_contain_text("def pattern")
    editor(page).click()
    page.keyboard.press("Control+k")
    search = page.get_by_role("dialog").get_by_role("textbox")
    search.fill("bloom-gelu-tahn")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    search.fill("bloom-gelu")
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^.*bloom-gelu-tanh")).first.click()
    expect(page.get_by_role("heading", name="bloom-gelu-tanh", level=1)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_cell_of_the_strip_opens_its_subgraph(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    cells = page.get_by_role("toolbar", name=re.compile("^2 subgraphs")).get_by_role("button")
    expect(cells.nth(1)).to_have_accessible_name(re.compile("matches$"))
    first = cells.nth(0)
    expect(first).to_have_attribute("aria-pressed", "false")
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("subgraph=float16"))


def test_an_address_that_names_nothing_leaves_the_editor(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide&run=nothing&subgraph=nothing&bundle=nothing")
    expect(page.get_by_text("Not found")).to_have_count(3)
    expect(editor(page)).to_contain_text("def pattern")
    page = open_page("/workbench?task=nothing")
    expect(page.get_by_text("Not found")).to_be_visible()
    expect(page.get_by_role("link", name="Browse the tasks")).to_be_visible()


def test_a_phone_keeps_the_verdict_in_view(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator(".st-key-verdict-bar").get_by_text("Matches")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_far_too_much_is_taken_and_told(open_page: OpenPage) -> None:
    files = [PassFile(f"helper_{number}.py", f"x = {number}\n") for number in range(199)]
    page = open_page(f"/workbench?task={TASK_ID}-wide&code={packed(Bundle((PassFile('one.py', PASS),), tuple(files)))}")
    expect(page.get_by_role("tab", name=re.compile("helper_198"))).to_be_attached()
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    text = PASS + "# far too much\n" * 66_000
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(editor(page)).to_contain_text("def pattern")
    editor(page).click()
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    kept(page, text)
    page.reload()
    expect(editor(page)).to_contain_text("def pattern")


def test_back_shows_a_page_where_it_was(open_page: OpenPage) -> None:
    page = open_page(f"/explore?order=Name&task={TASK_ID}")
    scrolled = "document.querySelector('[data-testid=stMain]').scrollTop"
    expect(page.get_by_text("All 2 subgraphs")).to_be_visible()
    page.evaluate(f"{scrolled} = 120")
    page.get_by_role("link", name="Write a pass for this task").click()
    expect(editor(page)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name=TASK_ID, level=2, exact=True)).to_be_visible()
    # the pages' policy lets no browser wait for an expression itself
    eventually(lambda: page.evaluate(scrolled) == 120, "the place where the page was")
    expect(page.get_by_text("by name.")).to_be_visible()


def test_back_and_forward_lead_through_every_page(open_page: OpenPage) -> None:
    page = open_page("/")
    expect(page.get_by_role("heading", level=1, name=TASK_ID)).to_be_visible()
    names = ["Explore", "Runs", "Scores", "Help"]
    for name in names:
        page.get_by_test_id("stHeader").get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    for name in reversed(["PassNet Playground", TASK_ID, *names[:-1]]):
        page.go_back()
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    for name in [TASK_ID, *names]:
        page.go_forward()
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
