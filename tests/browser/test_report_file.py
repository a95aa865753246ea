"""A report opened from disk in a real browser, without the app."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Dialog, Request, expect

from passnet_core.reports.content import Material, content_of
from passnet_core.reports.writing import written
from passnet_core.store.rows import RunFile
from tests.example_playground import REFERENCE, hostile, measured, task

pytestmark = [pytest.mark.browser, pytest.mark.settled]

HOSTILE = (
    "\"'></pre></style></title></svg><script>alert(1)</script><img src=https://evil.test/x.png onerror=alert(2)>"
    "<iframe src=https://evil.test/></iframe><a href=javascript:alert(3)>click</a><svg onload=alert(4)>"
)


def kept(file: RunFile, folder: Path) -> str:
    """Write a report to a file, and return its address."""
    subgraphs = {(each.task_id, each.subgraph_id): task().subgraphs[at] for at, each in enumerate(file.outcomes)}
    material = Material(file.run, len(file.outcomes), "", file.outcomes, file.bundles[0], subgraphs, {})
    path = folder / f"{file.run.id}.html"
    path.write_text(written(content_of(material)), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_strangers_text_does_nothing_in_a_report(browser: Browser, tmp_path: Path, scheme: str, width: int) -> None:
    address = kept(hostile(HOSTILE), tmp_path)
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    seen: list[str] = []

    def dismissed(dialog: Dialog) -> None:
        seen.append(dialog.message)
        dialog.dismiss()

    def asked(request: Request) -> None:
        if request.url != address:
            seen.append(request.url)

    page.on("dialog", dismissed)
    page.on("request", asked)
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.goto(address)

    page.get_by_role("link", name=HOSTILE).first.click()
    expect(page.get_by_role("heading", name="Verdict")).to_be_visible()
    picture = page.locator("svg.graph").first
    drawn = picture.bounding_box()
    assert drawn is not None
    assert drawn["width"] > 50
    assert drawn["height"] > 100
    page.get_by_role("link", name="Show as a list").first.click()
    expect(page.get_by_text("tmp_1 = torch.nn.functional.relu(tmp_0)").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("script, img, iframe, a[href^=javascript]").count() == 0
    assert seen == []
    context.close()


def test_a_report_is_accessible(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(kept(measured(REFERENCE, speedup=1.5), tmp_path))
    for section in page.locator("details").all():
        section.evaluate("each => { each.open = true }")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    context.close()
