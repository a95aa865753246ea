"""Take a picture of every page, light and dark, on a phone, a laptop and a large screen, from an app of its own.

python -m tests.screenshots FOLDER"""

import io
import os
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.conftest import chromium
from tests.serving import serving
from tests.waiting import seconds

TASK, REFERENCE, LESSON = "rmsnorm", "normalisation-rmsnorm", "first-kernel"
PAGES = {
    "start": "/",
    "learn": "/learn",
    "lesson": f"/learn?lesson={LESSON}",
    "explore": f"/explore?task={TASK}",
    "workbench": f"/workbench?task={TASK}&bundle={REFERENCE}",
    "model": "/model",
    "runs": "/runs",
    "scores": "/scores",
    "help": "/help",
}
SIZES = {390: 844, 1280: 800, 1920: 1080}
"""Widths and heights of the screens, in pixels."""
COLOURS = 256
"""How many colours a picture keeps: enough for a page, at a third of the size."""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PASSNET_HOME": home}
        with serving(environment, Path(home) / "app.log") as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                _take(browser, address, scheme, folder)
            browser.close()


def _take(browser: Browser, address: str, scheme: str, folder: Path) -> None:
    page = browser.new_context(color_scheme=scheme).new_page()  # type: ignore[arg-type]
    for name, link in PAGES.items():
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(address + link)
        _settled(page)
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            _settled(page)
            file = folder / f"{name}-{scheme}-{width}.png"
            picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
            picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
            print(file, f"{file.stat().st_size:,} bytes")
    page.context.close()


def patience_ms() -> float:
    """How long a page may take until it is drawn, in milliseconds."""
    return 1000 * seconds(45)


def _settled(page: Page) -> None:
    """Wait until the page is drawn, with its graphs, charts and checks."""
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=patience_ms())
    for unfinished in ("are being loaded", "Checking…"):
        expect(page.get_by_text(unfinished)).to_have_count(0, timeout=patience_ms())
    expect(page.get_by_test_id("stApp")).to_have_attribute(
        "data-test-script-state", "notRunning", timeout=patience_ms()
    )
    expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=patience_ms())
    # charts draw themselves to the new width after the page has it
    page.wait_for_timeout(1500)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
