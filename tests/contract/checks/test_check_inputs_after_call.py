"""The inputs after a call."""

from dataclasses import replace

import pytest
import torch

from passnet_core.records import (
    TensorSpec,
    Verdict,
)
from tests.contract.judging import ADD_RELU, subgraph
from tests.contract.verifying import Function, assert_wrong, clearing_its_input, relu_of_sum, traced, verified

pytestmark = pytest.mark.settled

CHEATS: dict[str, tuple[Function, Verdict]] = {
    "input cleared": (clearing_its_input, Verdict.WRONG_VALUES),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])


def test_a_changed_input_that_eager_leaves_alone_is_named() -> None:
    found = verified(clearing_its_input)
    assert "Input in_0 after the call is wrong on recorded inputs" in found.reason
    assert "eager does not" in found.reason
    assert found.accuracy is not None
    assert found.accuracy.smallest_t is None


def test_even_a_slight_change_of_an_input_counts() -> None:
    found = verified(lambda a, b: (torch.relu(a + b), a.mul_(1 + 1e-6))[0])
    assert found.verdict is Verdict.WRONG_VALUES
    assert "Input in_0 after the call" in found.reason


def test_an_input_that_eager_changes_must_change_in_the_same_way() -> None:
    code = ADD_RELU.replace("tmp_0 = in_0 + in_1;  in_0 = in_1 = None", "in_0 += in_1;  tmp_0 = in_0")

    def pattern(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a += b
        return torch.nn.functional.relu(a)

    a_pass = traced(pattern, lambda a, b: (a, b))
    asked = subgraph(code=code)
    right = verified(lambda a, b: torch.relu(a.add_(b)), asked, a_pass=a_pass)
    assert right.verdict is Verdict.VALUES_ONLY, right.reason
    left = verified(relu_of_sum, asked, a_pass=a_pass)
    assert left.verdict is Verdict.WRONG_VALUES
    assert "left unchanged" in left.reason
    other = verified(lambda a, b: (torch.relu(a + b), a.mul_(3))[0], asked, a_pass=a_pass)
    assert other.verdict is Verdict.WRONG_VALUES
    assert "Input in_0 after the call" in other.reason


def test_a_changed_input_is_compared_with_float64_too() -> None:
    code = ADD_RELU.replace("in_0, in_1)", "in_0, in_1, in_2)").replace(
        "tmp_0 = in_0 + in_1;  in_0 = in_1 = None", "tmp_2 = in_1 * in_2;  in_0 += tmp_2;  tmp_0 = in_0"
    )
    asked = replace(
        subgraph(code=code), inputs=tuple(TensorSpec(f"in_{index}", (64, 512), "bfloat16") for index in range(3))
    )

    def pattern(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        product = b * c
        a += product
        return torch.nn.functional.relu(a)

    def rounding_once(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        return torch.relu(a.copy_(a.double() + b.double() * c.double()))

    def cutting_off(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        total = (a.double() + b.double() * c.double()).bfloat16()
        a.copy_(torch.where(total.abs() < 0.05, 0.0, total))
        return torch.relu(total)

    a_pass = traced(pattern, lambda a, b, c: (a, b, c))
    right = verified(rounding_once, asked, a_pass=a_pass)
    assert right.verdict is Verdict.VALUES_ONLY, right.reason
    wrong = verified(cutting_off, asked, a_pass=a_pass)
    assert wrong.verdict is Verdict.WRONG_VALUES
    assert "Input in_0 after the call" in wrong.reason
