"""Opening pages by their links in this process, reading them, and waiting for what they show."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from pages.ui import links
from passnet_core.records import digest_of

PROJECT = Path(__file__).resolve().parents[2]
Visit = Callable[..., AppTest]
BROWSER = "0" * 32
VISITOR = digest_of(f"browser {BROWSER}")[:32]
"""Whose drafts and runs those of this browser are."""


def visit(page: links.Name, browser: str = BROWSER, **selected: str) -> AppTest:
    """Open a page in a new tab of this browser."""
    app = AppTest.from_file(str(PROJECT / "pages" / "ui" / "main.py"), default_timeout=60)
    # no cookies come here
    app.session_state["browser"] = browser
    for key, value in selected.items():
        app.query_params[key] = value
    if page != "start":
        app.switch_page(links.script(page))
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def texts(app: AppTest) -> str:
    """Return all text and code of a page, as Markdown."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "success", "code")
    return "\n".join(str(each.value) for kind in kinds for each in getattr(app, kind))


def read(app: AppTest) -> str:
    """Return the same without Markdown's escapes."""
    return texts(app).replace("\\", "")


def page_links(app: AppTest) -> list[Any]:
    """Return the page links. Streamlit's test library has no class for them: their fields are those of the message."""
    return list(app.get("page_link"))


def button(app: AppTest, label: str) -> Button:
    return next(each for each in app.button if each.label == label)


def turned(app: AppTest, tab: str) -> AppTest:
    """Open this tab of the results."""
    app.session_state["tab"] = tab
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def until(app: AppTest, said: str) -> AppTest:
    """Rerun the page, as its polling does, until it shows this text."""
    deadline = time.monotonic() + 60
    while said not in texts(app):
        assert time.monotonic() < deadline, texts(app)
        app.run()
        assert not app.exception, app.exception[0].message
    return app
