"""Opening pages by their links in this process, reading them, and waiting for what they show."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from pages.ui import links, resources
from passnet_core.access.hosting import Host
from passnet_core.records import digest_of
from passnet_core.service import Service, open_service
from passnet_core.settings import read_settings
from tests.fake_backend import FakeBackend
from tests.waiting import eventually, seconds

# each visit would search all installed packages for components, which takes longer than the page
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

PROJECT = Path(__file__).resolve().parents[2]
STARTS = ("pages",)
Visit = Callable[..., AppTest]
BROWSER = "0" * 32
VISITOR = digest_of(f"browser {BROWSER}")[:32]
"""Whose drafts and runs those of this browser are."""


@contextlib.contextmanager
def playground(data: Path, home: Path, judge: FakeBackend) -> Iterator[Service]:
    """The service behind the pages, over these folders."""
    settings = read_settings({"PASSNET_DATA": str(data), "PASSNET_HOME": str(home)})
    service = open_service(settings, backend=judge)
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(resources, "open_host", lambda *args, **kwargs: Host(service, None))
        resources.host.clear()
        assert service.problems == (), "reading them waits until all recorded runs are loaded"
        assert service.device(), "it is known before a page asks"
        yield service
        resources.host.clear()
    service.close()


def visit(page: links.Name, browser: str = BROWSER, **selected: str) -> AppTest:
    """Open a page in a new tab of this browser, and see that nothing is raised."""
    app = opened(page, selected, browser)
    assert not app.exception, app.exception[0].message
    return app


def opened(page: links.Name, selected: Mapping[str, str], browser: str = BROWSER) -> AppTest:
    """Open a page in a new tab of this browser. selected: what its address selects."""
    app = AppTest.from_file(str(PROJECT / "pages" / "ui" / "main.py"), default_timeout=seconds(60))
    # no cookies come here
    app.session_state["browser"] = browser
    for key, value in selected.items():
        app.query_params[key] = value
    if page != "start":
        app.switch_page(links.script(page))
    app.run()
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
    redrawn_until(app, lambda: said in texts(app), said)
    return app


def redrawn_until(app: AppTest, shown: Callable[[], bool], what: str = "what the page should show") -> None:
    """Rerun the page, as its polling does, until the condition holds."""

    def look() -> bool:
        if shown():
            return True
        app.run()
        assert not app.exception, app.exception[0].message
        return False

    eventually(look, what, idle_s=60)
