"""The cheats of the families clock and harness: each must get the verdict that its header states."""

from collections.abc import Iterator

import pytest

from passnet_core.backends.local import LocalBackend
from passnet_core.records import Device
from tests.adversarial.corpus import Entry
from tests.adversarial.judging_files import assert_as_stated, cases, running_backend


@pytest.fixture(scope="module")
def backend() -> Iterator[LocalBackend]:
    with running_backend() as made:
        yield made


@pytest.mark.parametrize(("entry", "device"), cases("clock", "harness"))
def test_gets_the_verdict_its_header_states(backend: LocalBackend, entry: Entry, device: Device) -> None:
    assert_as_stated(backend, entry, device)
