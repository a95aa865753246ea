"""The editor in a real browser: a command carries its text, and no typed text is lost."""

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from passnet_core.records import Verdict
from passnet_core.service import open_service
from passnet_core.settings import read_settings
from tests.browser.typing_code import FILE, editor, kept, replace_text
from tests.example_playground import PASS, REFERENCE_NAME, TASK_ID, environment_of
from tests.serving import serving

pytestmark = [pytest.mark.browser, pytest.mark.settled, pytest.mark.long]

OpenPage = Callable[..., Page]
PRESSED = 60


def test_what_is_typed_and_run_at_once_is_what_is_judged(browser: Browser, tmp_path: Path) -> None:
    environment = environment_of(tmp_path)
    # a rule rejects every text but the last: loading a text would start a process and take seconds per press
    begun = PASS + "import torch.nn  # "
    typed, last = begun + "x" * PRESSED, PASS + "# and this at last"
    with serving(environment, tmp_path / "app.log") as address:
        page = browser.new_page()
        page.goto(f"{address}/workbench?task={TASK_ID}")
        replace_text(page, begun)
        kept(page, begun)
        page.keyboard.press("Control+End")
        for number in range(PRESSED):
            page.keyboard.insert_text("x")
            if number % 10 == 9:
                page.get_by_role("button", name="Check", exact=True).click()
                editor(page).focus()
            else:
                page.keyboard.press("Control+Enter")
        kept(page, typed)
        replace_text(page, last)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name="Matches")).to_be_visible()
        page.wait_for_url(re.compile("run="))
        page.close()
        with contextlib.closing(open_service(read_settings(environment))) as service:
            runs = [each for each in service.runs(PRESSED + 2, TASK_ID, checks=True) if not each.run.recorded]
            judged = [service.bundle(each.run.bundle_digest or "").passes[0].code for each in reversed(runs)]
            verdicts = [dict(each.counts) for each in reversed(runs)]
    assert judged[-2:] == [typed, last], "the last press judged what was there, and so did the one before"
    assert verdicts == [*([{Verdict.REJECTED: 1}] * (len(runs) - 1)), {Verdict.MATCHED: 1}]
    sizes = [len(code) for code in judged[:-1]]
    assert all(code == typed[: len(code)] for code in judged[:-1])
    assert sizes == sorted(sizes), "no press judged an older text than the one before"


def test_what_is_replaced_can_be_undone(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}&undone")
    text = PASS + "# to be replaced\n"
    replace_text(page, text)
    kept(page, text)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Start over").click()
    page.keyboard.press("Escape")
    expect(editor(page)).not_to_contain_text("# to be replaced")
    editor(page).focus()
    page.keyboard.press("Control+z")
    kept(page, text)
    page.get_by_label("Replace this file with a template").select_option(index=2)
    expect(editor(page)).to_contain_text("softmax")
    editor(page).focus()
    page.keyboard.press("Control+z")
    kept(page, text)


def test_typing_into_a_reference_goes_on_in_a_copy(open_page: OpenPage) -> None:
    link = f"/workbench?task={TASK_ID}&bundle={REFERENCE_NAME}"
    page = open_page(link)
    code = page.get_by_label("Code of add_relu.py")
    expect(code).to_contain_text("def pattern")
    code.click()
    page.keyboard.press("Control+Home")
    for number in range(60):
        page.keyboard.insert_text(f"# {number}\n")
    page.wait_for_url(re.compile(rf"bundle={REFERENCE_NAME}\.1"))
    page.keyboard.insert_text("# last\n")
    expect(code).to_contain_text("# last")
    written = "".join(f"# {number}" for number in range(60)) + "# last"
    assert written in (code.text_content() or ""), "not a key is lost"
    page.keyboard.press("Control+z")
    expect(code).not_to_contain_text("# last")
    expect(code).to_contain_text("# 59")
    page.go_back()
    # the editor draws only the lines around the view
    expect(code).not_to_contain_text("# 30")
    page.go_forward()
    expect(code).to_contain_text("# 30")


def test_the_editor_goes_to_the_line_of_a_finding(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}&line")
    broken = "# one\n" * 80 + "x = (\n" + PASS
    replace_text(page, broken)
    kept(page, broken)
    page.keyboard.press("Control+Home")
    line = page.locator(".cm-activeLine")
    expect(line).to_have_text("# one")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(line).to_have_text("x = (")
    page.keyboard.press("Control+Home")
    page.get_by_role("button", name=f"Go to line 81 of {FILE}").click()
    expect(line).to_have_text("x = (")
    expect(editor(page)).to_be_focused()


def test_text_that_never_reached_the_app_comes_back(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}-wide")
    text = PASS + "# before the crash\n"
    replace_text(page, text)
    kept(page, text)
    page.context.set_offline(True)
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("# amid it\n")
    expect(editor(page)).to_contain_text("# amid it")
    page.context.set_offline(False)
    page.reload()
    kept(page, text + "# amid it\n")


def test_two_tabs_see_each_others_text_and_lose_none(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}")
    text = PASS + "# in the first tab\n"
    replace_text(page, text)
    kept(page, text)
    second = page.context.new_page()
    second.goto(page.url)
    kept(second, text)
    second.keyboard.press("Tab")
    editor(second).click()
    second.keyboard.press("Control+End")
    second.keyboard.insert_text("# in the second\n")
    kept(second, text + "# in the second\n")
    page.reload()
    kept(page, text + "# in the second\n")


def test_a_finding_is_marked_on_its_line_and_said_in_words(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}")
    replace_text(page, "import torch.nn\n" + PASS)
    expect(page.get_by_role("tab", name=re.compile(f"{re.escape(FILE)} ⚠"))).to_be_visible()
    expect(page.locator(".cm-line").filter(has=page.locator(".cm-lintRange-error"))).to_have_text("import torch.nn")
    editor(page).focus()
    page.keyboard.press("Control+Shift+M")
    expect(page.locator(".cm-panel-lint")).to_contain_text("forbidden-import")
    page.keyboard.press("Escape")
    expect(page.locator(".cm-panel-lint")).to_have_count(0)


def test_the_operations_of_the_subgraph_are_completed(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}")
    replace_text(page, "x = torch.nn.functional.re")
    page.keyboard.press("Control+Space")
    option = page.get_by_role("option", name=re.compile("torch.nn.functional.relu"))
    expect(option).to_be_visible()
    option.click()
    expect(editor(page)).to_contain_text("torch.nn.functional.relu(tmp_0")
    page.keyboard.press("End")
    page.keyboard.insert_text("\ny = tl.ato")
    page.keyboard.press("Control+Space")
    expect(page.get_by_role("option", name=re.compile("tl.atomic_add"))).to_be_visible()


def test_code_is_text_and_never_markup(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}")
    hostile = '"""</textarea><img src=x onerror="document.title = 1"><script>document.title = 1</script>"""\n'
    replace_text(page, hostile + "import torch.nn\n" + PASS)
    kept(page, hostile + "import torch.nn\n" + PASS)
    expect(editor(page)).to_contain_text("<img src=x")
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "1"


def test_a_node_of_the_graph_is_shown_with_its_shape_and_comes_into_the_pattern(open_page: OpenPage) -> None:
    page = open_page(f"/workbench?task={TASK_ID}")
    replace_text(page, PASS)
    kept(page, PASS)
    node = page.get_by_role("option", name=re.compile("sigmoid"))
    node.click()
    expect(page.get_by_text("tmp_2 = torch.sigmoid(tmp_1)", exact=True)).to_be_visible()
    expect(page.get_by_text("float32", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Insert into pattern").click()
    expect(page.locator(".cm-line", has_text="tmp_2 = torch.sigmoid(tmp_1)")).to_be_visible()
    expect(page.locator(".cm-line", has_text="tmp_2 = torch.sigmoid(tmp_1)")).to_have_text(re.compile("^    tmp_2"))
    # as long as a finger takes: the press ends the typing, the release follows the link
    page.get_by_test_id("stHeader").get_by_role("link", name="Help").click(delay=100)
    expect(page.get_by_role("heading", name="Help", exact=True, level=1)).to_be_visible()
    page.go_back()
    expect(page.locator(".cm-line", has_text="tmp_2 = torch.sigmoid(tmp_1)")).to_have_count(1)
