"""Strides other than eager's."""

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.verifying import verified

pytestmark = pytest.mark.settled


def test_other_strides_are_right_with_a_warning() -> None:
    columns_first = verified(lambda a, b: torch.relu(a + b).t().contiguous().t())
    assert columns_first.verdict is Verdict.VALUES_ONLY, columns_first.reason
    assert any(each.topic == "strides" and "[1, 4]" in each.text for each in columns_first.evidence)
