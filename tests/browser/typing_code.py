"""Typing into the editor, as a person does."""

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
    """Puts this text in place of what the editor shows."""
    expect(editor(page)).to_contain_text("def pattern")
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def digest_of(code: str) -> str:
    """Of the bundle that a new draft is, once its file has this text."""
    return replace(BEGINNING, passes=(replace(BEGINNING.passes[0], code=code),)).digest


def kept(page: Page, code: str) -> None:
    """Waits until the app says that it has kept this text."""
    expect(page.get_by_text(f"digest {digest_of(code)[:8]}")).to_be_visible()
