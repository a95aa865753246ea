"""Results that are right although no kernel did anything."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from passnet_core.judge.protocol.messages import CandidateFault, Returned
from passnet_core.judge.stages.findings import Verification
from passnet_core.records import EvalSpec, Profile, Verdict
from tests.contract.verifying import Here, relu_of_sum, verified

pytestmark = pytest.mark.settled


class Idle(Here):
    """A candidate worker whose kernels compute the share `needed` of the result; the library computes the rest."""

    def __init__(self, needed: float) -> None:
        super().__init__()
        self.needed, self.idled = needed, 0

    def run(self, name: str, *, fresh: bool = True, watched: bool = False, idle: bool = False, **_: Any) -> Returned:
        returned = super().run(name, fresh=fresh)
        if not idle:
            return returned
        self.idled += 1
        (output,) = returned.outputs
        assert isinstance(output.value, torch.Tensor)
        value = output.value.flatten()
        value[: int(self.needed * value.numel())] = torch.nan
        return replace(returned, outputs=(replace(output, value=value.view(output.shape)),))


def without_kernels(needed: float, profile: Profile = Profile.STRICT) -> tuple[Verification, Idle]:
    worker = Idle(needed)
    return verified(relu_of_sum, candidate=worker, spec=EvalSpec(profile=profile)), worker


def test_results_that_need_no_kernel_are_a_librarys() -> None:
    found, _ = without_kernels(0.0)
    assert found.executed is not None
    assert found.executed.verdict is Verdict.LIBRARY
    assert "also right if no kernel" in found.executed.reason


def test_results_that_need_the_kernels_are_the_bundles() -> None:
    found, worker = without_kernels(0.1)
    assert found.verdict is Verdict.VALUES_ONLY
    assert found.executed is None
    # on each of two draws
    assert worker.idled == 2


def test_passnets_profile_lets_no_kernel_idle() -> None:
    assert without_kernels(0.0, Profile.PASSNET)[1].idled == 0


def test_a_replacement_that_stumbles_without_its_kernels_is_right() -> None:
    class Stumbling(Here):
        def run(
            self, name: str, *, fresh: bool = True, watched: bool = False, idle: bool = False, **_: Any
        ) -> Returned:
            if idle:
                raise CandidateFault("runtime", "a number that no kernel has written")
            return super().run(name, fresh=fresh)

    found = verified(relu_of_sum, candidate=Stumbling())
    assert found.verdict is Verdict.VALUES_ONLY
    assert found.executed is None
