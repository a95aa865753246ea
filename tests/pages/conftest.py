"""The app in this process: real pages, a real service and store, and a fake judge."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.pages.visiting as visiting
from pages.ui import resources
from passnet_core.service import Service
from tests.example_playground import answer, write_data
from tests.fake_backend import FakeBackend
from tests.pages.visiting import Visit


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """A server reads its environment once; here each test has another one."""
    resources.settings.cache_clear()
    yield
    resources.settings.cache_clear()


@pytest.fixture
def judge() -> FakeBackend:
    return FakeBackend(answer)


@pytest.fixture
def service(tmp_path: Path, judge: FakeBackend) -> Iterator[Service]:
    """The service behind the pages, with the data of the example playground."""
    with visiting.playground(write_data(tmp_path / "data"), tmp_path / "home", judge) as opened:
        yield opened


@pytest.fixture
def visit(service: Service) -> Visit:
    """Open a page of the example playground by its link."""
    return visiting.visit
