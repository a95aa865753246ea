"""Results of a pass come to lie in memory as those of the operations that it replaces."""

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch

from passnet_core.integrate.layouts import ResultLayout, laid_out, layouts, unlike


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        pytest.param(lambda x: (x + 1).t(), lambda x: (x.t() + 1).contiguous(), id="strides"),
        pytest.param(lambda x: (x[:1] + 1).expand(4, 6), lambda x: (x[:1] + 1).repeat(4, 1), id="expanded"),
        pytest.param(lambda x: x.t()[1:], lambda x: x.t()[1:].contiguous(), id="a view of the input"),
        pytest.param(lambda x: x + 0, lambda x: x, id="the input for a copy"),
        pytest.param(
            lambda x: ((y := x + 1), y[1]), lambda x: (x + 1, (x + 1)[1].clone()), id="a view of another result"
        ),
        pytest.param(
            lambda x: ((y := x + 1)[2:], y[:2]), lambda x: ((x + 1)[2:].clone(), (x + 1)[:2].clone()), id="two parts"
        ),
    ],
)
def test_results_lie_as_wanted(wanted: Callable[..., object], made: Callable[..., object]) -> None:
    given = torch.arange(48.0).reshape(8, 6)[2:6]
    before: list[ResultLayout | None] = []
    after: list[ResultLayout | None] = []
    for function, kept in ((wanted, before), (made, after)):
        results = function(given)
        kept += layouts([given], results if isinstance(results, tuple) else (results,))
    assert unlike([given], before, after) == ""
    function = laid_out(made, before, after)
    right, results = wanted(given), function(given)
    assert layouts([given], results if isinstance(results, tuple) else (results,)) == before
    torch.testing.assert_close(results, right)


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(lambda x: (x + 1).as_strided((4, 4), (2, 1)), id="overlapping"),
        pytest.param(lambda x: x.view(torch.int32), id="another dtype"),
    ],
)
def test_what_cannot_lie_as_wanted_is_said(wanted: Callable[..., torch.Tensor]) -> None:
    given = torch.arange(24.0).reshape(4, 6)
    before = layouts([given], [wanted(given)])
    after = layouts([given], [wanted(given).clone(memory_format=torch.contiguous_format)])
    assert "output 0" in unlike([given], before, after)
