"""A visitor who opens a page by its link, reads it and waits for it, in this process."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from pages.ui import links

PROJECT = Path(__file__).resolve().parents[2]
Visit = Callable[..., AppTest]


def visit(page: links.Name, **selected: str) -> AppTest:
    """The page as a new visitor sees it."""
    app = AppTest.from_file(str(PROJECT / "pages" / "ui" / "main.py"), default_timeout=60)
    for key, value in selected.items():
        app.query_params[key] = value
    if page != "start":
        app.switch_page(links.script(page))
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def texts(app: AppTest) -> str:
    """All that a page says in words and in code, as Markdown."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "success", "code")
    return "\n".join(str(each.value) for kind in kinds for each in getattr(app, kind))


def read(app: AppTest) -> str:
    """The same without Markdown's escapes."""
    return texts(app).replace("\\", "")


def page_links(app: AppTest) -> list[Any]:
    """Elements that Streamlit's test library has no class for: their fields are those of the message."""
    return list(app.get("page_link"))


def button(app: AppTest, label: str) -> Button:
    return next(each for each in app.button if each.label == label)


def until(app: AppTest, said: str) -> AppTest:
    """Draws the page again, as its polling does, until it says this."""
    deadline = time.monotonic() + 60
    while said not in texts(app):
        assert time.monotonic() < deadline, texts(app)
        app.run()
        assert not app.exception, app.exception[0].message
    return app
