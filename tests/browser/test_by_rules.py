"""Write it for me, in a real browser: from an empty draft to passes that the real judge accepts, without a model."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.typing_code import editor, kept, replace_text
from tests.example_playground import PASS, TASK_ID

pytestmark = [pytest.mark.browser, pytest.mark.settled]

OpenPage = Callable[..., Page]


def test_rules_write_passes_that_the_judge_accepts_and_no_typed_text_is_lost(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    text = PASS + "# typed before\n"
    replace_text(page, text)
    # at once, before the app has saved the text
    page.get_by_role("button", name="Write it for me").click()
    expect(page.get_by_role("heading", name="Passes written by rules")).to_be_visible()
    expect(page.get_by_test_id("stCode").first).to_contain_text("-# typed before")
    page.get_by_role("button", name="Open it in the editor").click()

    expect(page.get_by_role("heading", name="Passes written by rules")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"bundle=[0-9a-f]{8}"))
    expect(page.get_by_role("tab", name="add_relu_sigmoid.py")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^.*Right"))).to_be_visible()

    page.goto(f"{page.url.split('/workbench')[0]}/workbench?task={TASK_ID}-wide")
    kept(page, text)
    expect(editor(page)).to_contain_text("# typed before")
