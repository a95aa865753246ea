"""A visitor who opens a page by its link, in this process."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.ui import links

PROJECT = Path(__file__).resolve().parents[2]
Visit = Callable[..., AppTest]


def visit(page: str, **selected: str) -> AppTest:
    """The page as a new visitor sees it."""
    app = AppTest.from_file(str(PROJECT / "pages" / "ui" / "main.py"), default_timeout=60)
    for key, value in selected.items():
        app.query_params[key] = value
    if page != "start":
        app.switch_page(links.script(page))
    app.run()
    assert not app.exception, app.exception[0].message
    return app
