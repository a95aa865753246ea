"""The app as a visitor meets it, in this process: real pages, real service and store, a fake judge."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from example_playground import answer, write_data
from streamlit.testing.v1 import AppTest

from pages.ui import links, resources
from passnet_core.backends.fake import FakeBackend
from passnet_core.service import Service, open_service
from passnet_core.settings import read_settings

PROJECT = Path(__file__).resolve().parents[2]
Visit = Callable[..., AppTest]


@pytest.fixture
def judge() -> FakeBackend:
    return FakeBackend(answer)


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: FakeBackend) -> Iterator[Service]:
    """The service that the pages get, over the small playground."""
    settings = read_settings(
        {"PASSNET_DATA": str(write_data(tmp_path / "data")), "PASSNET_HOME": str(tmp_path / "home")}
    )
    opened = open_service(settings, backend=judge)
    monkeypatch.setattr(resources, "open_service", lambda *args, **kwargs: opened)
    resources.service.clear()
    yield opened
    resources.service.clear()
    opened.close()


@pytest.fixture
def visit(service: Service) -> Visit:
    """Opens a page by its link, as a new visitor would."""

    def opened(page: str, **selected: str) -> AppTest:
        app = AppTest.from_file(str(PROJECT / "pages" / "ui" / "main.py"), default_timeout=60)
        for key, value in selected.items():
            app.query_params[key] = value
        if page != "start":
            app.switch_page(links.script(page))
        app.run()
        assert not app.exception, app.exception[0].message
        return app

    return opened
