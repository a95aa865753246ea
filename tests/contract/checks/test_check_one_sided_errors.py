"""Errors over many elements, each of which the slack of half precision hides."""

import re
from dataclasses import replace

import pytest
import torch

from passnet_core.records import EvalSpec, Profile, Subgraph, TensorSpec, Verdict
from tests.contract.judging import subgraph
from tests.contract.verifying import Function, traced, verified

pytestmark = pytest.mark.settled

GELU = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.nn.functional.gelu(in_0)
        return (tmp_0,)
"""
GELU_PASS = traced(lambda x: torch.nn.functional.gelu(x), lambda x: (x,))


def asked(dtype: str, shape: tuple[int, ...] = (124, 1536)) -> Subgraph:
    return replace(subgraph(), code=GELU, inputs=(TensorSpec("in_0", shape, dtype, mean=0.0, std=1.0),))


def rounded(function: Function) -> Function:
    """A replacement that computes this function in float32 and rounds once."""

    def replacement(x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(function(x.float())).to(x.dtype)

    return replacement


HONEST: dict[str, Function] = {
    "by erf": rounded(lambda x: 0.5 * x * (1 + torch.erf(x * 0.7071067811865476))),
    "with a fast exponential": rounded(lambda x: torch.nn.functional.gelu(x) * (1 + 2.0**-21)),
}
ONE_SIDED: dict[str, Function] = {
    "by tanh": rounded(lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    "one percent too small": rounded(lambda x: torch.nn.functional.gelu(x) * 0.99),
}
SPREAD: dict[str, Function] = {
    "two bits missing": rounded(lambda x: coarsely(torch.nn.functional.gelu(x))),
    "one percent up or down": rounded(lambda x: torch.nn.functional.gelu(x) * torch.where(x.frac() > 0.5, 1.01, 0.99)),
}


def coarsely(value: torch.Tensor) -> torch.Tensor:
    """Six bits of the eight of bfloat16, rounded to nearest."""
    shifted = value * (2.0**18 + 1)
    return shifted - (shifted - value)


@pytest.mark.parametrize("name", HONEST)
def test_rounding_is_right(name: str) -> None:
    found = verified(HONEST[name], asked("bfloat16"), a_pass=GELU_PASS)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason


@pytest.mark.parametrize("name", ONE_SIDED)
def test_errors_with_a_direction_are_too_imprecise(name: str) -> None:
    found = verified(ONE_SIDED[name], asked("bfloat16"), a_pass=GELU_PASS)
    assert found.verdict is Verdict.LOWER_PRECISION, found.reason
    assert found.accuracy is not None
    (output,) = found.accuracy.outputs
    assert output.verdict is Verdict.LOWER_PRECISION
    assert output.smallest_t is not None, "each element alone is close"


def test_the_reason_says_how_much_it_is_in_which_direction_and_where() -> None:
    found = verified(ONE_SIDED["one percent too small"], asked("bfloat16"), a_pass=GELU_PASS)
    said = (
        r"on average \d\.\d\d ulp (towards zero|downwards) \([01]\.\d\d%\) over [\d,]+ elements.* of [2-9] input sets"
    )
    assert re.search(rf"its errors have a direction: {said}, eager's \d\.\d\d ulp", found.reason), found.reason
    assert found.reason.endswith("a formula that is not eager's.")


@pytest.mark.parametrize("name", SPREAD)
def test_errors_that_are_too_large_without_a_direction_are_too_imprecise(name: str) -> None:
    found = verified(SPREAD[name], asked("bfloat16", (8, 65)), a_pass=GELU_PASS)
    assert found.verdict is Verdict.LOWER_PRECISION, found.reason


def test_passnets_profile_knows_no_direction() -> None:
    spec = EvalSpec(profile=Profile.PASSNET)
    found = verified(ONE_SIDED["one percent too small"], asked("bfloat16"), a_pass=GELU_PASS, spec=spec)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason


CODES = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 * in_1
        tmp_1 = torch.round(tmp_0)
        tmp_2 = torch.clamp(tmp_1, LOW, HIGH)
        return (tmp_2.to(torch.int8),)
"""


def cut(x: torch.Tensor) -> torch.Tensor:
    return (x.view(torch.int32) & -65536).view(torch.float32)


@pytest.mark.parametrize(("scale", "low", "high"), [(37.3, -128, 127), (2.73, -8, 7)])
def test_codes_that_rounding_decides_have_no_direction_either(scale: float, low: int, high: int) -> None:
    code_pass = traced(lambda x, s: torch.clamp(torch.round(x * s), low, high).to(torch.int8), lambda x, s: (x, s))
    given = asked("bfloat16", (64, 96))
    scales = TensorSpec("in_1", (64, 1), "bfloat16", mean=scale, std=scale / 9, low=scale / 2, high=scale * 2)
    code = CODES.replace("LOW", str(low)).replace("HIGH", str(high))
    codes = replace(given, code=code, inputs=(*given.inputs, scales))

    def coded(product: Function) -> Function:
        def replacement(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(product(x.float() * s.float())).float().round().clamp(low, high).to(torch.int8)

        return replacement

    rounds: dict[str, Function] = {"once": lambda x: x, "as eager": lambda x: x.bfloat16()}
    for name, product in rounds.items():
        found = verified(coded(product), codes, a_pass=code_pass)
        assert found.verdict is Verdict.VALUES_ONLY, (name, found.reason)
    found = verified(coded(cut), codes, a_pass=code_pass)
    assert found.verdict is Verdict.LOWER_PRECISION
    said = r"[\d,]+ of [\d,]+ elements \([\d.]+ %\) of \d+ input sets are off by one, \d+% of them towards zero"
    assert re.search(said, found.reason), found.reason


def test_a_few_elements_of_all_draws_tell_a_direction() -> None:
    found = verified(ONE_SIDED["one percent too small"], asked("bfloat16", (6, 8)), a_pass=GELU_PASS)
    assert found.verdict is Verdict.LOWER_PRECISION, found.reason
    assert "its errors" in found.reason
    right = verified(HONEST["by erf"], asked("bfloat16", (6, 8)), a_pass=GELU_PASS)
    assert right.verdict is Verdict.VALUES_ONLY, right.reason
