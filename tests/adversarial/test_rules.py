"""The cheats of the family rules: each must get the verdict in its header."""

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Device
from tests.adversarial.corpus import Entry
from tests.adversarial.judging_files import assert_as_stated, cases

pytestmark = pytest.mark.settled


@pytest.mark.parametrize(("entry", "device"), cases("rules"))
def test_a_cheat_gets_the_verdict_in_its_header(backend: LocalBackend, entry: Entry, device: Device) -> None:
    assert_as_stated(backend, entry, device)
