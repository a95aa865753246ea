"""Results remembered by a fingerprint that stays the same when two elements change places."""

import pytest

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import Function, assert_wrong, remembering, verified

pytestmark = pytest.mark.settled

CHEATS: dict[str, tuple[Function, Verdict]] = {
    "remembered by id": (remembering(lambda a, b: (id(a), id(b))), Verdict.WRONG_VALUES),
    "remembered by address": (remembering(lambda a, b: (a.data_ptr(), b.data_ptr())), Verdict.WRONG_VALUES),
    "remembered by shape": (remembering(lambda a, b: (a.shape, a.stride())), Verdict.WRONG_VALUES),
    "remembered by version": (remembering(lambda a, b: (id(a), a._version, b._version)), Verdict.WRONG_VALUES),
    "remembered by a few elements": (
        remembering(lambda a, b: (*a.view(-1)[::29].tolist(), *b.view(-1)[::29].tolist())),
        Verdict.WRONG_VALUES,
    ),
    "remembered by sums": (
        remembering(lambda a, b: (round(float(a.double().sum()), 6), round(float(b.double().sum()), 6))),
        Verdict.WRONG_VALUES,
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])


def test_a_remembered_result_is_named_with_the_call_that_showed_it() -> None:
    found = verified(remembering(lambda a, b: (a[0, 0].item(), b[0, 0].item())))
    assert found.verdict is Verdict.WRONG_VALUES
    assert "typical inputs, two elements exchanged in place" in found.reason
