"""Which sums of products the rules write as products of matrices."""

import pytest

from passnet_core.solvers.rules.solver import written
from tests.contract.rules_cases import CASES, Case


def code_of(body: str, **inputs: tuple[int, ...]) -> str:
    bundle = written(Case(f"tmp_0 = {body}\nreturn (tmp_0,)", inputs).task("product")).bundle
    return "\n".join(each.code for each in bundle.passes)


@pytest.mark.parametrize(
    "name", [name for name in CASES if "-tiles" in name and name != "sum-of-products-tiles-turned"]
)
def test_each_case_of_a_product_is_one(name: str) -> None:
    bundle = written(CASES[name].task(name)).bundle
    assert any("tl.dot(" in each.code for each in bundle.passes)


@pytest.mark.parametrize("sizes", [(15, 64, 64), (64, 15, 64), (64, 64, 15)])
def test_few_rows_columns_or_terms_stay_rows_of_their_own(sizes: tuple[int, int, int]) -> None:
    rows, columns, terms = sizes
    code = code_of("torch.matmul(in_0, in_1)", in_0=(rows, terms), in_1=(terms, columns))
    assert "tl.dot(" not in code
    assert "tl.sum(" in code


def test_a_depthwise_convolution_is_no_product() -> None:
    given = {"in_0": (2, 64, 128), "in_1": (64, 1, 32)}
    assert "tl.dot(" not in code_of("torch.conv1d(in_0, in_1, None, (1,), (0,), (1,), 64)", **given)


def test_terms_that_eager_rounds_are_not_summed_unrounded() -> None:
    given = {"in_0": (32, 64), "in_1": (48, 64)}
    assert "tl.dot(" not in code_of("(in_0.unsqueeze(1) * in_1).sum(dim=-1)", **given)


def test_one_broadcast_batch_is_walked_with_the_other_operands_columns() -> None:
    code = code_of("torch.matmul(in_0, in_1)", in_0=(32, 64), in_1=(9, 64, 48))
    assert "OUTER=()," in code
    assert "ROWS=(in_0.shape[0],)," in code
    assert " 1, in_0.shape[0], in_1.shape[0] * in_1.shape[2], in_0.shape[1], in_0.dtype\n" in code
