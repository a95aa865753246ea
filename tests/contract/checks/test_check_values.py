"""Outputs that differ from the float64 reference."""

from dataclasses import replace

import pytest
import torch

from passnet_core.records import (
    TensorSpec,
    Verdict,
)
from tests.contract.judging import ADD_RELU, subgraph
from tests.contract.verifying import Function, assert_wrong, traced, verified

pytestmark = pytest.mark.settled


@pytest.mark.parametrize(
    ("replacement", "verdict", "said"),
    [
        (lambda a, b: a + b, Verdict.WRONG_VALUES, "Output 0 is wrong on"),
    ],
)
def test_the_reason_says_how_a_replacement_is_wrong(replacement: Function, verdict: Verdict, said: str) -> None:
    assert_wrong(replacement, verdict, said)


def only_rows(count: int) -> Function:
    def replacement(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(a)
        out[:count] = torch.relu(a[:count] + b[:count])
        return out

    return replacement


def unwritten_tail(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(a)
    whole = out.numel() // 64 * 64
    out.view(-1)[:whole] = torch.relu(a + b).view(-1)[:whole]
    return out


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "uninitialised": (lambda a, b: torch.empty_like(a), Verdict.WRONG_VALUES),
    "first rows only": (only_rows(2), Verdict.WRONG_VALUES),
    "no tail block": (unwritten_tail, Verdict.WRONG_VALUES),
    "input returned": (lambda a, b: a, Verdict.WRONG_VALUES),
    "zeros": (lambda a, b: torch.zeros_like(a), Verdict.WRONG_VALUES),
    "huge constant": (lambda a, b: torch.full_like(a, 1e30), Verdict.WRONG_VALUES),
}


@pytest.mark.parametrize("name", CHEATS)
def test_code_that_only_looks_right_is_found(name: str) -> None:
    assert_wrong(*CHEATS[name])


def test_a_zero_recorded_spread_does_not_hide_a_wrong_kernel() -> None:
    """If all recorded elements are equal, the mean of each row equals every element."""
    constant = subgraph()
    constant = replace(constant, inputs=tuple(replace(each, std=0.0) for each in constant.inputs))
    found = verified(lambda a, b: torch.relu((a + b).mean(-1, keepdim=True).expand_as(a).contiguous()), constant)
    assert found.verdict is Verdict.WRONG_VALUES
    assert found.accuracy is not None
    assert found.accuracy.outputs[0].profile != "recorded"


def test_the_second_of_several_outputs_is_named() -> None:
    code = ADD_RELU.replace("return (tmp_1,)", "return (tmp_1, tmp_0)").replace(";  tmp_0 = None", "")

    def pattern(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = a + b
        return torch.nn.functional.relu(total), total

    both = traced(pattern, lambda a, b: (a, b))
    asked = subgraph(code=code)
    right = verified(lambda a, b: (torch.relu(a + b), a + b), asked, a_pass=both)
    assert right.verdict is Verdict.VALUES_ONLY, right.reason
    wrong = verified(lambda a, b: (torch.relu(a + b), a - b), asked, a_pass=both)
    assert wrong.verdict is Verdict.WRONG_VALUES
    assert "Output 1" in wrong.reason
    assert wrong.accuracy is not None
    assert [output.smallest_t for output in wrong.accuracy.outputs] == [-10, None]


def test_recorded_statistics_that_make_a_computation_an_identity_do_not_excuse_its_absence() -> None:
    code = ADD_RELU.replace("in_0 + in_1", "in_0 * in_1").replace(
        "torch.nn.functional.relu(tmp_0, inplace = False)", "tmp_0 * 1"
    )
    weights = TensorSpec("in_1", (33,), "float32", mean=1.0, std=0.0, original_name="L_self_parameters_weight_")
    asked = replace(subgraph(code=code), inputs=(subgraph().inputs[0], weights))
    a_pass = traced(lambda a, w: a * w, lambda a, w: (a, w))
    assert verified(lambda a, w: a * w, asked, a_pass=a_pass).verdict is Verdict.VALUES_ONLY
    dropped = verified(lambda a, w: a.clone(), asked, a_pass=a_pass)
    assert dropped.verdict is Verdict.WRONG_VALUES
    assert "on recorded inputs" not in dropped.reason


def test_weights_kept_from_call_to_call_are_stale() -> None:
    code = ADD_RELU.replace("in_0 + in_1", "in_0 * in_1")
    asked = subgraph(code=code)
    weights = TensorSpec("in_1", (33,), "float32", mean=1.0, std=0.0, original_name="L_self_parameters_weight_")
    asked = replace(asked, inputs=(asked.inputs[0], weights))
    a_pass = traced(lambda a, w: torch.nn.functional.relu(a * w), lambda a, w: (a, w))
    packed: list[torch.Tensor] = []

    def replacement(a: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        if not packed:
            packed.append(w.clone())
        return torch.relu(a * packed[0])

    assert verified(lambda a, w: torch.relu(a * w), asked, a_pass=a_pass).verdict is Verdict.VALUES_ONLY
    assert verified(replacement, asked, a_pass=a_pass).verdict is Verdict.WRONG_VALUES
