"""Calls whose values are compared: when prepare(weights) runs, and whose memory the results lie in."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from passnet_core.judge.worker.staging import Staging
from passnet_core.records import Device


class Scaling:
    """x * w, where prepare(weights) hands out the weight and a list. keeps: how many buffers for results the calls keep
    in that list and use in turn."""

    weights = frozenset({1})

    def __init__(self, keeps: int = 0) -> None:
        self.keeps, self.packs = keeps, 0

    def pack(self, inputs: Sequence[Any]) -> None:
        self.packs += 1
        self.weight, self.places, self.calls = inputs[1], list[torch.Tensor](), 0

    def __call__(self, inputs: Sequence[Any]) -> torch.Tensor:
        out = torch.empty_like(inputs[0])
        if self.keeps:
            if len(self.places) < self.keeps:
                self.places.append(out)
            out = self.places[self.calls % self.keeps]
        self.calls += 1
        return torch.mul(inputs[0], self.weight, out=out)


def test_weights_are_prepared_anew_only_when_they_are_others_or_elsewhere() -> None:
    staging, scaling = Staging(Device.CPU), Scaling()
    x, weight = torch.rand(4, 3), torch.rand(3)

    def called(*inputs: torch.Tensor, fresh: bool = False) -> int:
        staging.give(inputs)
        returned = staging.call("passes", scaling, fresh=fresh).returned
        assert torch.equal(returned, inputs[0] * inputs[1])
        return scaling.packs

    assert called(x, weight) == 1
    assert called(torch.rand(4, 3), weight.clone()) == 1, "equal weights in the same tensors"
    other = weight.clone()
    other[1] += 1
    assert called(x, other) == 2, "other weights in the same tensors"
    assert called(x, other, fresh=True) == 3, "the same weights at another address"
    scaling = Scaling()
    assert called(x, other) == 1, "another callable"


def test_a_buffer_that_lives_as_long_as_prepared_weights_is_seen() -> None:
    for keeps in (1, 2):
        staging, scaling = Staging(Device.CPU), Scaling(keeps)
        staging.give([torch.rand(4, 3), torch.rand(3)])
        seen = [staging.call("passes", scaling, fresh=False).overwrote for _ in range(3)]
        assert seen[:keeps] == [()] * keeps, "the first results have memory of their own"
        assert seen[keeps] == (0,), "equal values, but in memory that an earlier call returned"


def test_results_in_memory_of_their_own_are_not_taken_for_overwritten() -> None:
    staging, scaling = Staging(Device.CPU), Scaling()
    for fresh in (True, False, False, True):
        staging.give([torch.rand(4, 3), torch.rand(3)])
        assert staging.call("passes", scaling, fresh=fresh).overwrote == ()


def test_what_was_not_finished_in_time_is_seen_of_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU is stood for by hooks: another stream ends when the device is waited for."""
    staging, pending, delays = Staging(Device.CPU), list[torch.Tensor](), list[bool]()

    def beside(inputs: Sequence[Any]) -> torch.Tensor:
        pending.append(torch.zeros_like(inputs[0]))
        return pending[-1]

    monkeypatch.setattr(staging, "_delay_inputs", lambda: delays.append(True))
    monkeypatch.setattr(staging, "_seen_by_stream", lambda outputs: {0: outputs[0].clone()})
    monkeypatch.setattr(staging, "_synchronise", lambda: pending[-1].add_(1))
    staging.give([torch.rand(4, 3)])
    assert staging.call("passes", beside, fresh=True).late == (0,)
    assert delays == [True]
    seen = staging.call("eager", beside, fresh=True, trusted=True)
    assert (seen.late, delays) == ((), [True]), "nobody asks whether torch's own code waits for its inputs"


def test_what_trusted_code_returned_is_not_kept() -> None:
    staging, scaling = Staging(Device.CPU), Scaling(keeps=1)
    staging.give([torch.rand(4, 3), torch.rand(3)])
    seen = [staging.call("eager", scaling, fresh=False, trusted=True) for _ in range(3)]
    assert [each.overwrote for each in seen] == [()] * 3
    assert not staging.kept
    assert staging.output_sizes == {4 * 3 * 4}, "free memory of this size is poisoned"
    assert staging.call("passes", scaling, fresh=False).overwrote == ()
    assert staging.call("passes", scaling, fresh=False).overwrote == (0,)


def test_what_no_kernel_writes_is_the_same_nonsense_with_and_without_a_watch_and_another_in_the_next_pair() -> None:
    """Otherwise 1, which is what large nonsense is after tanh, might be taken for the work of somebody unseen."""
    staging = Staging(Device.CPU)
    staging.give([torch.full((1 << 15,), 60.0)])

    def unwritten(inputs: Sequence[Any]) -> torch.Tensor:
        return torch.tanh(torch.empty(1 << 15))

    def seen(*, again: bool) -> torch.Tensor:
        with staging.idle(again=again):
            returned = staging.call("passes", unwritten, fresh=False).returned
        assert isinstance(returned, torch.Tensor)
        return returned.clone()

    first, first_again = seen(again=False), seen(again=True)
    second, second_again = seen(again=False), seen(again=True)
    assert torch.equal(first, first_again)
    assert torch.equal(second, second_again)
    assert not (first == second).any()
