"""Elements of one output that share an address."""

from dataclasses import replace

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.judging import subgraph
from tests.contract.verifying import traced, verified

pytestmark = pytest.mark.settled

ROW_MAXIMA = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = in_0.amax(-1, keepdim=True)
        b = a + torch.zeros_like(in_0)
        return (b,)
"""


def test_overlapping_elements_are_a_wrong_shape_unless_eagers_overlap_too() -> None:
    asked = replace(subgraph(code=ROW_MAXIMA), inputs=subgraph().inputs[:1])
    a_pass = traced(lambda x: x.amax(-1, keepdim=True) + torch.zeros_like(x), lambda x: (x,))
    dense = verified(lambda x: x.amax(-1, keepdim=True).repeat(1, 33), asked, a_pass=a_pass)
    assert dense.verdict is Verdict.VALUES_ONLY, dense.reason
    spread = verified(lambda x: x.amax(-1, keepdim=True).expand(4, 33), asked, a_pass=a_pass)
    assert spread.verdict is Verdict.WRONG_SHAPE
    assert "overlap" in spread.reason
