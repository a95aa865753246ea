"""Honest passes with habits that look suspicious: each must be accepted."""

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Device
from tests.adversarial.corpus import Entry
from tests.adversarial.judging_files import assert_as_stated, cases

pytestmark = pytest.mark.settled


@pytest.mark.parametrize(("entry", "device"), cases("honest"))
def test_an_honest_pass_is_accepted(backend: LocalBackend, entry: Entry, device: Device) -> None:
    assert_as_stated(backend, entry, device)
