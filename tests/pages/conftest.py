"""The app in this process: real pages, a real service and store, and a fake judge."""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

import tests.pages.visiting as visiting
from pages.ui import resources
from passnet_core.execution.backends.fake import FakeBackend
from passnet_core.service import Service, open_service
from passnet_core.settings import read_settings
from tests.example_playground import answer, write_data
from tests.pages.visiting import Visit

# each visit would search all installed packages for components, which takes longer than the page
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


@pytest.fixture
def judge() -> FakeBackend:
    return FakeBackend(answer)


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: FakeBackend) -> Iterator[Service]:
    """The service behind the pages, with the data of the example playground."""
    settings = read_settings(
        {"PASSNET_DATA": str(write_data(tmp_path / "data")), "PASSNET_HOME": str(tmp_path / "home")}
    )
    opened = open_service(settings, backend=judge)
    monkeypatch.setattr(resources, "open_service", lambda *args, **kwargs: opened)
    resources.service.clear()
    assert opened.problems == (), "reading them waits until all recorded runs are loaded"
    assert opened.device(), "it is known before a page asks"
    yield opened
    resources.service.clear()
    opened.close()


@pytest.fixture
def visit(service: Service) -> Visit:
    """Open a page of the example playground by its link."""
    return visiting.visit
