"""Typing into the editor like a person."""

from dataclasses import replace

from playwright.sync_api import Locator, Page, expect

from passnet_core.bundles.starting import starting_point
from passnet_core.graphs.source import parse
from tests.example_playground import CODE

BEGINNING = starting_point(parse(CODE))
FILE = BEGINNING.passes[0].name


def editor(page: Page) -> Locator:
    return page.get_by_label(f"Code of {FILE}")


def replace_text(page: Page, code: str) -> None:
    """Replace the text of the editor."""
    expect(editor(page)).to_contain_text("def pattern")
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def digest_of(code: str) -> str:
    """Return the digest of a new draft whose file has this text."""
    return replace(BEGINNING, passes=(replace(BEGINNING.passes[0], code=code),)).digest


def kept(page: Page, code: str) -> None:
    """Wait until the app has saved this text."""
    expect(page.get_by_text(f"digest {digest_of(code)[:8]}")).to_be_visible()
