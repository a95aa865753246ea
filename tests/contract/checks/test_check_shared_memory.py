"""Outputs in the memory of an input or of another output."""

from dataclasses import replace

import pytest
import torch

from passnet_core.records import (
    Verdict,
)
from tests.contract.judging import subgraph
from tests.contract.verifying import traced, verified

pytestmark = pytest.mark.settled


def test_outputs_must_not_share_memory_unless_eagers_do() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = torch.relu(in_0)
        b = a * 1.0
        c = in_0 * 1.0
        return (a, b, c)
"""

    def pattern(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        a = torch.relu(x)
        return a, a * 1.0, x * 1.0

    a_pass = traced(pattern, lambda x: (x,))
    asked = replace(subgraph(code=code), inputs=subgraph().inputs[:1])
    own = verified(lambda x: (torch.relu(x), torch.relu(x), x.clone()), asked, a_pass=a_pass)
    assert own.verdict is Verdict.VALUES_ONLY, own.reason

    def twice(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        a = torch.relu(x)
        return a, a, x.clone()

    def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        both = torch.cat((torch.relu(x), torch.relu(x)), -1)
        return both[:, :33], both[:, 33:], x.clone()

    shared = verified(twice, asked, a_pass=a_pass)
    assert shared.verdict is Verdict.WRONG_VALUES
    assert "shares the memory of output 0" in shared.reason
    passed = verified(lambda x: (torch.relu(x), torch.relu(x), x), asked, a_pass=a_pass)
    assert passed.verdict is Verdict.WRONG_VALUES
    assert "shares the memory of input 0" in passed.reason
    # outputs side by side in one buffer share no memory
    apart = verified(halves, asked, a_pass=a_pass)
    assert apart.verdict is Verdict.VALUES_ONLY, apart.reason
    assert any("does not have eager's strides" in warning for warning in apart.warnings)


def test_what_eager_changes_and_returns_must_be_the_input_itself() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = torch.nn.functional.relu(in_0, inplace = True)
        return (a,)
"""
    a_pass = traced(lambda x: torch.nn.functional.relu(x, inplace=True), lambda x: (x,))
    asked = replace(subgraph(code=code), inputs=subgraph().inputs[:1])
    for right in (torch.relu_, lambda x: x.copy_(torch.relu(x)), lambda x: torch.relu_(x).view(x.shape)):
        found = verified(right, asked, a_pass=a_pass)
        assert found.verdict is Verdict.VALUES_ONLY, found.reason
    elsewhere = verified(lambda x: torch.relu_(x).clone(), asked, a_pass=a_pass)
    assert elsewhere.verdict is Verdict.WRONG_VALUES
    assert "eager changes input 0 in place and returns its memory" in elsewhere.reason


def test_a_copy_may_be_returned_for_a_view_of_an_input_that_stays_as_it_is() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = in_0.transpose(0, 1)
        return (a,)
"""
    a_pass = traced(lambda x: x.transpose(0, 1), lambda x: (x,))
    asked = replace(subgraph(code=code), inputs=subgraph().inputs[:1])
    copied = verified(lambda x: x.transpose(0, 1).contiguous(), asked, a_pass=a_pass)
    assert copied.verdict in (Verdict.VALUES_ONLY, Verdict.INCONCLUSIVE), copied.reason
