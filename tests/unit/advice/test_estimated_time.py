"""Estimates of what right passes take, from what their plans do."""

from dataclasses import replace

import pytest

from passnet_core.advice.estimated_time import CallWork, EagerTime, estimated_us, work_of
from passnet_core.graphs import source
from passnet_core.records import EXECUTED, Accuracy, Evidence, Outcome, TensorForm, Verdict
from tests.contract.made import job, outcome

SOURCE = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.relu(in_0)
        tmp_1 = tmp_0.view(4, 2)
        tmp_2 = torch.sin(tmp_1)
        return (tmp_2,)
"""
GRAPH = source.parse(SOURCE)
ONE = SOURCE.replace("torch.relu(in_0)", "replacement_0(in_0)").replace("torch.sin(tmp_1)", "tmp_1.view(8)")
LEFT = SOURCE.replace("torch.relu(in_0)", "replacement_0(in_0)")
WORK = CallWork(launches=1, moved_bytes=64, least_bytes=64, views=0, eager_launches=2, eager_views=1)
EAGER = EagerTime(21.0, 3.0)


def judged(rewritten: str, **changed: object) -> Outcome:
    figures = (("launches", 2.0), ("moved_bytes", 96.0), ("least_bytes", 48.0))
    found = outcome(job(), Verdict.VALUES_ONLY)
    assert found.match is not None
    found = replace(found, match=replace(found.match, rewritten=rewritten))
    return replace(found, **{"evidence": (Evidence(EXECUTED, "", figures),), **changed})  # type: ignore[arg-type]


def test_what_right_passes_do_is_counted_from_their_plans() -> None:
    found = work_of(judged(ONE), GRAPH, {})
    assert found == CallWork(2.0, 96.0, 48.0, views=2, eager_launches=2, eager_views=1)
    assert found.traffic == 2.0


def test_bytes_of_a_smaller_call_grow_with_the_recorded_sizes() -> None:
    forms = {name: [TensorForm((8_000,), "float32")] for name in ("in_0", "tmp_2")}
    smaller = judged(ONE, accuracy=Accuracy((), ("typical",), reduced="smaller ones were compared"))
    found = work_of(smaller, GRAPH, forms)
    assert found is not None
    assert (found.moved_bytes, found.least_bytes) == (128_000.0, 64_000.0)
    assert work_of(smaller, GRAPH, {}) is None, "the recorded sizes are not known"


@pytest.mark.parametrize(
    "found",
    [judged(LEFT), judged(ONE, evidence=()), replace(judged(ONE), verdict=Verdict.INCONCLUSIVE)],
    ids=["eager computes as well", "no plans", "inconclusive"],
)
def test_there_is_none_where_something_is_not_known(found: Outcome) -> None:
    assert work_of(found, GRAPH, {}) is None


def test_more_launches_more_bytes_and_a_slower_host_take_longer() -> None:
    one = estimated_us(WORK, EAGER)
    assert 5 < one < 20
    assert estimated_us(replace(WORK, launches=3), EAGER) > one + 5
    assert estimated_us(replace(WORK, moved_bytes=400e6), EAGER) > 90
    assert estimated_us(WORK, EagerTime(42.0, 3.0)) > 1.3 * one
    assert estimated_us(WORK, EagerTime(42.0, 40.0)) == estimated_us(WORK, EagerTime(84.0, 80.0)), "the device decides"
