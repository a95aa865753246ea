"""Subgraphs that need no computation."""

from dataclasses import replace

import pytest
import torch

from passnet_core.judge.stages.findings import Facts
from passnet_core.records import (
    EvalSpec,
    Profile,
    Stage,
    Verdict,
)
from tests.contract.judging import subgraph
from tests.contract.test_verdicts import MATCH, concluded
from tests.contract.verifying import traced, two_results, verified

pytestmark = pytest.mark.settled


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("torch.nn.functional.dropout(in_0, 0.1, False, False)", "return in_0"),
        ("in_0.reshape(33, 4)", "return in_0"),
        ("torch.relu(in_0) * 0.0", "return zeros"),
        ("torch.ones_like(in_0)", "return its mean everywhere"),
    ],
)
def test_a_subgraph_that_needs_no_computation_ranks_nobody(body: str, named: str) -> None:
    code = f"""
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = {body}
        b = a.contiguous()
        return (b,)
"""
    asked = replace(subgraph(code=code), inputs=subgraph().inputs[:1])
    a_pass = traced(lambda a: a.contiguous(), lambda a: (a,))
    found = verified(lambda a: a.contiguous(), asked, a_pass=a_pass)
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    assert "cannot rank" in found.reason
    assert any(each.topic == "negative control" and named in each.text for each in found.evidence)
    outcome = concluded(Facts(match=MATCH, verification=found), Stage.MEASURE)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    replayed = verified(lambda a: a.contiguous(), asked, a_pass=a_pass, spec=EvalSpec(profile=Profile.PASSNET))
    assert replayed.verdict is Verdict.VALUES_ONLY


@pytest.mark.parametrize("second", ["in_0.view(33, 4)", "torch.zeros_like(in_0)", "in_0.size()"])
def test_one_output_that_needs_a_computation_is_enough(second: str) -> None:
    asked, a_pass = two_results(second)
    found = verified(lambda x: torch.clamp_min(x, 0), asked, a_pass=a_pass)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
