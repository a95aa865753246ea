"""Calls whose values are compared: when prepare(weights) runs, and what lies in free memory."""

from collections.abc import Sequence
from typing import Any

import torch

from passnet_core.judge.worker.staging import Staging
from passnet_core.records import Device


class Scaling:
    """x * w, where prepare(weights) hands out the weight."""

    weights = frozenset({1})

    def __init__(self) -> None:
        self.packed: list[torch.Tensor] = []

    def pack(self, inputs: Sequence[Any]) -> None:
        self.packed.append(inputs[1])

    def __call__(self, inputs: Sequence[Any]) -> torch.Tensor:
        assert self.packed[-1] is inputs[1], "prepared where this call has them"
        return torch.mul(inputs[0], self.packed[-1])


def test_weights_are_prepared_for_each_call_where_that_call_has_them() -> None:
    staging, scaling = Staging(Device.CPU), Scaling()
    x, weight = torch.rand(4, 3), torch.rand(3)
    for each in (weight, weight, weight + 1):
        staging.give([x, each])
        assert torch.equal(staging.call(scaling).returned, x * each)
    assert len({packed.data_ptr() for packed in scaling.packed}) == 3, "at an address that it has not seen"
    *former, latest = scaling.packed
    assert all(packed.isnan().all() for packed in former), "who still reads the old addresses reads NaN"
    assert torch.equal(latest, weight + 1)


def test_free_memory_of_the_outputs_sizes_is_poisoned() -> None:
    staging, scaling = Staging(Device.CPU), Scaling()
    staging.give([torch.rand(4, 3), torch.rand(3)])
    staging.call(scaling)
    assert staging.output_sizes == {4 * 3 * 4}


def test_what_nobody_writes_is_other_nonsense_in_the_next_call() -> None:
    """Otherwise 1, which is what large nonsense is after tanh, might be right by chance in every call."""
    staging = Staging(Device.CPU)
    staging.give([torch.full((1 << 15,), 60.0)])

    def unwritten(inputs: Sequence[Any]) -> torch.Tensor:
        return torch.tanh(torch.empty(1 << 15))

    first, second = (torch.as_tensor(staging.call(unwritten).returned).clone() for _ in range(2))
    assert not (first == second).any()
