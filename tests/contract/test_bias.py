"""Errors with a direction: rounding has none, however it is done; a factor, a count or another formula has one."""

import math
from collections.abc import Callable

import pytest
import torch

from passnet_core.judge.numerics import bias
from passnet_core.judge.numerics.elements import ulp

HALF = (torch.float16, torch.bfloat16)
SEEDS = range(3)
ALL_TOWARDS_ZERO = (0, None, False, False, False)
ALL_AWAY_FROM_ZERO = (0, None, False, False, True)


def noise(*shape: int, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale


def found(
    function: Callable[..., torch.Tensor], actual: torch.Tensor, *inputs: torch.Tensor
) -> dict[bias.Key, bias.OneSided]:
    """The directions of the errors of a result, in comparison with the function in its own dtype and in float64."""
    exact = function(*(each.double() for each in inputs))
    size = bias.typical_size(inputs)
    return {each.key: each for each in bias.one_sided(bias.signed_errors(function(*inputs), actual, exact, size))}


def gate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x) * y


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", HALF)
def test_rounding_once_or_after_each_operation_has_no_direction(dtype: torch.dtype, seed: int) -> None:
    x, y = noise(64, 1024, seed=seed).to(dtype), noise(64, 1024, seed=seed + 100).to(dtype)
    assert not found(gate, gate(x.float(), y.float()).to(dtype), x, y)
    assert not found(gate, torch.sigmoid(x) * y, x, y)
    assert not found(gate, (torch.sigmoid(x.float()) * (1 + 2.0**-22) * y.float()).to(dtype), x, y)


def to_nearest_away(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    unit = ulp(dtype, value.abs())
    return (torch.floor(value.abs() / unit + 0.5) * unit * value.sign()).to(dtype)


@pytest.mark.parametrize("dtype", HALF)
def test_halves_may_be_rounded_up_and_truncation_is_one_sided(dtype: torch.dtype) -> None:
    x, y = noise(64, 1024).to(dtype), noise(64, 1024, seed=1).to(dtype)
    total = x.double() + y.double()
    halves = (total.abs() / ulp(dtype, total.abs())).frac() == 0.5
    assert halves.double().mean() > 0.1
    assert not found(torch.add, to_nearest_away(total, dtype), x, y)
    product = x.double() * y.double()
    unit = ulp(dtype, product.abs())
    truncated = found(torch.mul, (torch.floor(product.abs() / unit) * unit * product.sign()).to(dtype), x, y)
    assert truncated[ALL_TOWARDS_ZERO].mean < -0.4


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("dtype", "factor"), [(torch.bfloat16, 0.99), (torch.float16, 0.998)])
def test_a_factor_has_a_direction(dtype: torch.dtype, factor: float, seed: int) -> None:
    x, y = noise(16, 64, seed=seed).to(dtype), noise(16, 64, seed=seed + 100).to(dtype)
    assert ALL_TOWARDS_ZERO in found(gate, (gate(x.float(), y.float()) * factor).to(dtype), x, y)
    assert ALL_AWAY_FROM_ZERO in found(gate, (gate(x.float(), y.float()) / factor).to(dtype), x, y)


@pytest.mark.parametrize("dtype", HALF)
def test_an_offset_has_a_direction(dtype: torch.dtype) -> None:
    x, y = noise(64, 1024).to(dtype), noise(64, 1024, seed=1).to(dtype)
    unit = float(torch.finfo(dtype).eps)
    directions = found(gate, (gate(x.float(), y.float()) + unit / 2).to(dtype), x, y)
    assert any(upwards and grows for *_, upwards, grows in directions)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", HALF)
def test_another_formula_has_a_direction_where_it_differs(dtype: torch.dtype, seed: int) -> None:
    gelu = torch.nn.functional.gelu
    x = noise(124, 1536, seed=seed).to(dtype)
    by_erf = 0.5 * x.float() * (1 + torch.erf(x.float() / math.sqrt(2)))
    assert not found(gelu, by_erf.to(dtype), x)
    directions = found(gelu, gelu(x.float(), approximate="tanh").to(dtype), x)
    assert {sign for sign, *_ in directions} >= {-1}


def normalised(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype", HALF)
def test_what_all_elements_of_a_row_share_may_be_rounded_where_eager_rounds(dtype: torch.dtype, seed: int) -> None:
    x = noise(1, 4096, seed=seed).to(dtype)
    wide = x.float()
    mean = wide.pow(2).mean(-1, keepdim=True)
    assert not found(normalised, (wide * torch.rsqrt(mean)).to(dtype), x)
    for scale in (torch.rsqrt(mean).to(dtype), torch.rsqrt(mean.to(dtype).float())):
        mimic = (wide * scale.float()).to(dtype)
        assert len(found(normalised, mimic, x)) <= 2, "one draw alone may show it, three hardly do"


def test_few_values_show_no_direction() -> None:
    values = torch.tensor([0.1, 0.3, 0.7, 1.1]).bfloat16().repeat(4096)
    assert not found(lambda x: x * 1.1, (values.float() * 1.1 * 0.99).bfloat16(), values)
    assert not found(lambda x: x * 1.1, torch.zeros(20).bfloat16(), noise(20).bfloat16())


def test_only_half_precision_is_looked_at() -> None:
    x = noise(1000)
    assert bias.signed_errors(x, x * 0.9, x.double()) == ()
    half = torch.empty(0, dtype=torch.float16)
    assert bias.signed_errors(half, half, half.double()) == ()
    lost = torch.full((1000,), math.nan, dtype=torch.float16)
    assert bias.signed_errors(lost, lost, lost.double()) == ()


def test_a_large_output_is_sampled_in_every_column() -> None:
    x = noise(2048, 1024).bfloat16()
    exact = x.double() * 1.1
    signed = bias.signed_errors((x * 1.1), (x.float() * 1.1).bfloat16(), exact)
    assert 0.4 * bias.SAMPLED < sum(each.count for each in signed) <= bias.SAMPLED
    skewed = x.float() * 1.1
    skewed[:, 512:] *= 0.98
    assert list(bias.one_sided(bias.signed_errors(x * 1.1, skewed.bfloat16(), exact)))
