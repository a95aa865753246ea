"""Comparing outputs with eager and float64: honest fusions are right in every dtype, sloppy and broken ones wrong."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from passnet_core.judge.numerics import elements, perturbing
from passnet_core.judge.numerics.comparing import (
    References,
    compare,
    gather,
    other_strides,
    overlaps_itself,
    structure_problem,
)
from passnet_core.judge.protocol.messages import Produced, Returned
from passnet_core.judge.protocol.reference_bench import OutputDifference
from passnet_core.judge.worker.moving import moved
from passnet_core.records import LEVELS, Accuracy, Verdict

pytestmark = pytest.mark.settled

FLOATS = ("float16", "bfloat16", "float32")
NAN, INF = math.nan, math.inf


def produced(value: torch.Tensor | float | None, **fields: Any) -> Produced:
    if not isinstance(value, torch.Tensor):
        return Produced(type(value).__name__, value)
    dtype = str(value.dtype).removeprefix("torch.")
    described = {"type": "torch.Tensor", "dtype": dtype, "shape": tuple(value.shape), "device": "cpu", **fields}
    return Produced(value=value, **described)


def noise(*shape: int, seed: int = 1, dtype: str = "float32", scale: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * scale).to(getattr(torch, dtype))


def perturbed(value: torch.Tensor, seed: int, random: bool) -> torch.Tensor:
    return torch.as_tensor(perturbing.perturbed(value, seed, random))


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "complex64", "int8", "bool"])
def test_numbers_whose_neighbours_cannot_be_told_are_not_perturbed(dtype: str) -> None:
    values = noise(64).abs().to(getattr(torch, dtype))
    assert torch.equal(perturbed(values, 1, True).view(torch.uint8), values.view(torch.uint8))


def test_an_error_as_large_as_the_element_is_not_lower_precision() -> None:
    exact = noise(1000).double() + 3
    eager = (exact * (1 + 1e-3 * noise(1000, seed=2))).float()  # as TF32 computes

    def verdict(actual: torch.Tensor) -> Verdict | None:
        return compare(References(produced(eager), produced(exact)), produced(actual)).verdict

    assert verdict(exact.float()) is None
    assert verdict(eager * 1.1) is Verdict.LOWER_PRECISION
    assert verdict(eager * 0) is Verdict.WRONG_VALUES


def judged(
    function: Callable[..., torch.Tensor], actual: torch.Tensor, *inputs: torch.Tensor, seed: int = 0
) -> OutputDifference:
    """Compare actual with function on these inputs, with float64 and perturbed references as in VERIFY."""
    wide = [value.double() for value in inputs]
    halves = [index for index, value in enumerate(inputs) if value.dtype in elements.HALF]
    shifted = [
        function(*(torch.as_tensor(value).double() for value in each))
        for each in perturbing.perturbations(perturbing.widened(inputs, halves), seed, halves)
    ]
    moving = moved(function)
    shifted += [moving(*inputs) for _ in range(perturbing.MOVED if halves else 0)]
    references = References(
        produced(function(*inputs)), produced(function(*wide)), lambda: tuple(map(produced, shifted))
    )
    return compare(references, produced(actual))


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = x.to(torch.float32) if x.dtype is not torch.float64 else x
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return weight * normed.to(x.dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_fusion_that_rounds_once_is_right(dtype: str) -> None:
    x, weight = noise(16, 768, dtype=dtype), noise(768, seed=2, dtype=dtype)
    fused = rms_norm(x.float(), weight.float()).to(x.dtype)
    assert judged(rms_norm, fused, x, weight).verdict is None


@pytest.mark.parametrize("dtype", FLOATS)
def test_another_order_of_summation_is_right(dtype: str) -> None:
    x = noise(8, 4096, dtype=dtype) + 3
    total = torch.zeros(8)
    for part in x.float().split(64, dim=-1):
        total = total + part.sum(-1)
    assert judged(lambda value: value.mean(-1), (total / 4096).to(x.dtype), x).verdict is None


def test_tanh_by_exponentials_is_right_in_float32() -> None:
    x = noise(50_000)
    assert judged(torch.tanh, 2 / (1 + torch.exp(-2 * x)) - 1, x).verdict is None


def test_half_precision_inside_a_float32_computation_is_lower_precision() -> None:
    x, weight = noise(16, 768), noise(768, seed=2)
    for narrow in (torch.float16, torch.bfloat16):
        sloppy = rms_norm(x.to(narrow).float(), weight)
        found = judged(rms_norm, sloppy, x, weight)
        assert found.verdict is Verdict.LOWER_PRECISION
        assert "less precise than eager and the dtype allow" in found.problem


def rotated(x: torch.Tensor, y: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    return x * cos + y * sin


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_rest_of_a_cancellation_may_be_rounded_differently(dtype: str) -> None:
    x, cos = noise(200_000, dtype=dtype, scale=30), noise(200_000, seed=2, dtype=dtype)
    # products that nearly cancel: some of them differ by one ulp
    y, sin = -perturbed(x, 1, True), perturbed(cos, 2, True)
    y, sin = torch.where(noise(200_000, seed=3) < 0, y, -x), torch.where(noise(200_000, seed=4) < 0, sin, cos)
    y[:1000] = noise(1000, seed=5, dtype=dtype)
    multiplied_and_added = (x.double() * cos.double() + (y * sin).double()).to(x.dtype)
    assert not torch.equal(multiplied_and_added, rotated(x, y, cos, sin))
    assert judged(rotated, multiplied_and_added, x, y, cos, sin).verdict is None
    wide = [each.double() for each in (x, y, cos, sin)]
    unperturbed = References(produced(rotated(x, y, cos, sin)), produced(rotated(*wide)))
    assert compare(unperturbed, produced(multiplied_and_added)).verdict is not None, (
        "without perturbed inputs it would be wrong"
    )
    assert judged(rotated, torch.zeros_like(x), x, y, cos, sin).verdict is Verdict.WRONG_VALUES


def test_the_ulp_of_a_half_precision_input_excuses_nothing() -> None:
    """Near 60, an ulp of the input changes the exponential by a quarter, but no operation rounds the input."""
    x, scale = (noise(20_000) * 3 + 60).bfloat16(), noise(20_000, seed=2, dtype="bfloat16")

    def scaled(power: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        return power.exp() * by

    powers = torch.exp2(x.float() * 1.4426950408889634)
    assert judged(scaled, (powers * scale).bfloat16(), x, scale).verdict is None
    assert judged(scaled, powers.bfloat16() * scale, x, scale).verdict is None
    coarse = torch.exp2((x.float() * 1.4426950408889634 * 4).round() / 4)
    assert judged(scaled, (coarse * scale).bfloat16(), x, scale).verdict is not None


def weights(query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.softmax(query @ key.mT + mask, -1)


@pytest.mark.parametrize("seed", range(5))
def test_small_results_may_differ_if_eagers_own_rounding_error_is_large(seed: int) -> None:
    # the scores are in the thousands, where bfloat16 rounds to multiples of 8 and more
    query, key, mask = (noise(8, 64, 64, seed=3 * seed + index, dtype="bfloat16", scale=10) for index in range(3))
    key *= 2
    fused = torch.softmax((query @ key.mT).float() + mask.float(), -1).bfloat16()
    inputs = (query, key, mask)
    assert judged(weights, fused, *inputs).verdict is None
    assert judged(weights, fused * NAN, *inputs).verdict is Verdict.NON_FINITE
    scores = (query @ key.mT).float() + mask.float()
    naive = (scores.exp() / scores.exp().sum(-1, keepdim=True)).bfloat16()
    assert judged(weights, naive, *inputs).verdict is Verdict.NON_FINITE


@pytest.mark.parametrize("seed", range(40))
def test_one_cancellation_of_two_terms_may_be_rounded_differently(seed: int) -> None:
    def weighted(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return (x[..., 0] * weight[..., 0] + x[..., 1] * weight[..., 1]) * scale

    x, weight, scale = noise(1000, 2, seed=seed), noise(1000, 2, seed=seed + 100), noise(1000, seed=seed + 200)
    # the effects of perturbing one input cancel too, and those of perturbing all inputs at random may cancel
    x[0], weight[0, 1], scale[0] = torch.tensor([100.0, -100.0]), weight[0, 0], 100.0
    first, second = x.double() * weight.double(), (x * weight).double()
    multiplied_and_added = (first[..., 0] + second[..., 1]).float() * scale
    assert judged(weighted, multiplied_and_added, x, weight, scale, seed=seed).verdict is None


def test_sums_in_half_precision_are_lower_precision() -> None:
    x = noise(4, 4096, dtype="float16", scale=0.1) + 1
    total = torch.zeros(4, dtype=torch.float16)
    for column in x.unbind(-1):
        total = total + column
    assert judged(lambda value: value.sum(-1), total, x).verdict is Verdict.LOWER_PRECISION


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("broken", ["zeros", "input", "one element", "last row", "small elements lost"])
def test_an_output_that_was_not_computed_is_wrong(dtype: str, broken: str) -> None:
    x = noise(32, 256, dtype=dtype)
    right = torch.nn.functional.gelu(x.float()).to(x.dtype)
    wrong = {"zeros": torch.zeros_like(right), "input": x}.get(broken, right.clone())
    if broken == "one element":
        wrong[7, 9] += 0.5
    if broken == "last row":
        wrong[-1] = 0
    if broken == "small elements lost":
        wrong[(right.abs() < 0.01) & (right != 0)] = -0.02
    found = judged(torch.nn.functional.gelu, wrong, x)
    assert found.verdict is Verdict.WRONG_VALUES
    assert found.index is not None
    if broken == "one element":
        assert found.index == (7, 9)
        assert found.wrong_fraction == pytest.approx(1 / x.numel())
        assert "[7, 9]" in found.problem


def test_correct_at_t_uses_the_published_tolerances() -> None:
    expected = torch.tensor([1.0, 2.0], dtype=torch.float16)
    found = compare(References(produced(expected)), produced(expected + torch.tensor([0.0, 0.0078125]).half()))
    # |error| <= 10^t + 10^(3t/5) * 2 from t = -4 on
    assert found.smallest_t == -4
    assert found.correct_at == tuple(range(-4, 5))
    assert found.max_error == 0.0078125
    same = compare(References(produced(expected)), produced(expected))
    assert (same.smallest_t, same.correct_at, same.max_error) == (-10, tuple(sorted(LEVELS)), 0.0)


@pytest.mark.parametrize(
    ("eager", "exact", "actual", "verdict"),
    [
        # read from float32, from halves, and from float64
        (45.73579406738281, 45.7357930123, 45.73579025268555, None),
        (45.73579406738281, 45.7357930123, 45.74, Verdict.LOWER_PRECISION),
        (45.73579406738281, 45.7357930123, -3.0, Verdict.WRONG_VALUES),
        (45.75, 45.7357930123, 45.71875, None),
        (45.7357930123, 45.7357930123, 45.73579406738281, Verdict.LOWER_PRECISION),
        (NAN, NAN, NAN, None),
        (INF, INF, 1.0, Verdict.NON_FINITE),
        (3, 3, 4, Verdict.WRONG_VALUES),
        (1 << 70, 1 << 70, 1 << 70, None),
        (1 << 70, 1 << 70, 5, Verdict.WRONG_VALUES),
        (True, True, True, None),
        (True, True, False, Verdict.WRONG_VALUES),
        (2.0, 2.0, 2, Verdict.WRONG_TYPE),
    ],
)
def test_a_number_is_compared_as_the_tensor_that_it_was_read_from(
    eager: float, exact: float, actual: float, verdict: Verdict | None
) -> None:
    found = compare(References(produced(eager), produced(exact)), produced(actual))
    assert found.verdict is verdict, found.problem
    assert found.dtype == type(eager).__name__


def test_integers_and_booleans_must_be_equal() -> None:
    whole = torch.tensor([1, 2, 3])
    assert compare(References(produced(whole)), produced(whole.clone())).smallest_t == -10
    off = compare(References(produced(whole)), produced(torch.tensor([1, 2, 4])))
    assert (off.verdict, off.smallest_t, off.correct_at) == (Verdict.WRONG_VALUES, None, ())
    flags = torch.tensor([True, False])
    assert compare(References(produced(flags)), produced(~flags)).verdict is Verdict.WRONG_VALUES


def test_bytes_of_booleans_must_be_0_or_1() -> None:
    flags = torch.tensor([[True, False, True], [True, True, False]])
    twos = (flags.view(torch.uint8) * 2).view(torch.bool)
    for wanted, given in ((flags, twos), (flags.T, twos.T)):
        assert torch.equal(wanted, given), "torch itself takes 2 for true"
        found = compare(References(produced(wanted)), produced(given))
        assert found.verdict is Verdict.WRONG_VALUES
        assert "not all 0 or 1" in found.problem


def larger(x: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return (x @ first > x @ second).to(torch.int64)


ROWS = 100_000


def close_calls(number: int) -> tuple[tuple[torch.Tensor, ...], torch.Tensor, torch.Tensor]:
    """Inputs of larger() with this many rows that only rounding decides, its result, and a mask of those rows."""
    x, first = noise(ROWS, 64), noise(64, seed=2)
    second = first.clone()
    second[-1] += 1
    x[:number, -1] = 1e-9 * noise(number, seed=3).sign()
    return (x, first, second), larger(x, first, second), torch.arange(ROWS) < number


def test_a_few_of_many_decisions_may_differ_if_rounding_tips_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "SLICE", {"cpu": ROWS // 7})
    inputs, decided, close = close_calls(8)
    assert judged(larger, torch.where(close, 1 - decided, decided), *inputs).verdict is None
    assert judged(larger, torch.where(close, 2, decided), *inputs).verdict is Verdict.WRONG_VALUES
    clear = (torch.arange(ROWS) == 500) | (torch.arange(ROWS) == 50_000)
    assert judged(larger, torch.where(clear, 1 - decided, decided), *inputs).verdict is Verdict.WRONG_VALUES


def test_one_of_few_decisions_may_differ_if_rounding_tips_it() -> None:
    (x, *others), decided, _ = close_calls(1)
    inputs, tipped = (x[:50], *others), decided[:50].clone()
    tipped[0] = 1 - tipped[0]
    assert judged(larger, tipped, *inputs).verdict is None
    clear = decided[:50].clone()
    clear[7] = 1 - clear[7]
    assert judged(larger, clear, *inputs).verdict is Verdict.WRONG_VALUES


def test_more_wrong_decisions_than_rounding_explains_are_wrong_values() -> None:
    x = noise(1000, dtype="float16")
    x[::10] = 0.5
    found = judged(lambda value: value > 0.5, x >= 0.5, x)
    assert found.verdict is Verdict.WRONG_VALUES
    assert found.wrong_fraction == int((x == 0.5).sum()) / len(x) >= 0.1


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_decision_tipped_by_perturbed_inputs_does_not_excuse_other_elements(dtype: str) -> None:
    def gated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where(x.float() > 0.5, y, 0.0)

    x, y = noise(100_000, dtype="float16"), noise(100_000, seed=2, dtype=dtype)
    assert (perturbed(x, 1, True) > 0.5).ne(x > 0.5).any(), "some inputs are that close"
    assert judged(gated, gated(x, y), x, y).verdict is None
    assert judged(gated, torch.where(x > 0.6, y, 0.0), x, y).verdict is Verdict.WRONG_VALUES
    assert judged(gated, gated(x, y) * 1.01, x, y).verdict is Verdict.LOWER_PRECISION


def test_as_many_decisions_may_differ_as_rounding_tips_for_eager() -> None:
    inputs, _, close = close_calls(500)
    decided = larger(*inputs)
    thrown = decided != larger(*(value.double() for value in inputs))
    assert thrown.sum() > 100
    assert judged(larger, torch.where(close, 1 - decided, decided), *inputs).verdict is None


def test_integers_too_large_for_float64_are_compared_exactly() -> None:
    whole = torch.tensor([2**60, 2**61 + 1])
    references = References(produced(whole), produced(whole.clone()))
    assert compare(references, produced(whole.clone())).verdict is None
    assert compare(references, produced(whole + 1)).verdict is Verdict.WRONG_VALUES


def test_nan_and_infinity_must_be_in_the_same_elements_as_eagers() -> None:
    expected = torch.tensor([NAN, INF, -INF, 1.0])
    references = References(produced(expected), produced(expected.double()))
    assert compare(references, produced(expected.clone())).verdict is None
    for wrong in ([0.0, INF, -INF, 1.0], [NAN, 1e30, -INF, 1.0], [NAN, INF, INF, 1.0], [NAN, INF, -INF, NAN]):
        found = compare(references, produced(torch.tensor(wrong)))
        assert found.verdict is Verdict.NON_FINITE, wrong
        assert 0 not in found.correct_at


def test_a_finite_result_is_right_if_only_eager_overflowed() -> None:
    x = torch.tensor([300.0, 1.0], dtype=torch.float16)
    found = judged(lambda value: value * value / 1000, (x.float() * x.float() / 1000).half(), x)
    assert found.verdict is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_far_beyond_the_largest_number_only_infinity_is_right(dtype: torch.dtype) -> None:
    most = torch.finfo(dtype).max
    exact = torch.tensor([2 * most, -2 * most, 1.0], dtype=torch.float64)
    references = References(produced(exact.to(dtype)), produced(exact))
    assert compare(references, produced(exact.to(dtype))).verdict is None
    for share in (1.0, 0.995):
        assert compare(references, produced((exact.clamp(-most, most) * share).to(dtype))).verdict is Verdict.NON_FINITE
    # eager may end at the largest number as well
    ends = References(produced(exact.clamp(-most, most).to(dtype)), produced(exact))
    assert compare(ends, produced(exact.clamp(-most, most).to(dtype))).verdict is None
    # just beyond it, rounding decides
    near = torch.tensor([1.0005 * most, 1.0], dtype=torch.float64)
    for actual in (near.to(dtype), near.clamp(max=most).to(dtype)):
        assert compare(References(produced(near.to(dtype)), produced(near)), produced(actual)).verdict is None


@pytest.mark.parametrize(
    ("actual", "verdict", "said"),
    [
        (torch.zeros(3, dtype=torch.float16), Verdict.WRONG_TYPE, "dtype is float16"),
        (torch.zeros(1, 3), Verdict.WRONG_SHAPE, r"shape is \[1, 3\]"),
        (7, Verdict.WRONG_TYPE, "int"),
    ],
)
def test_type_and_shape_are_exact(actual: torch.Tensor | int, verdict: Verdict, said: str) -> None:
    found = compare(References(produced(torch.zeros(3))), produced(actual))
    assert found.verdict is verdict
    assert re.search(said, found.problem)


def test_the_device_is_exact() -> None:
    found = compare(References(produced(torch.zeros(3), device="cuda:0")), produced(torch.zeros(3)))
    assert found.verdict is Verdict.WRONG_TYPE


def test_plain_numbers_are_compared_by_type_and_value() -> None:
    assert compare(References(produced(3)), produced(3)).verdict is None
    assert compare(References(produced(3)), produced(4)).verdict is Verdict.WRONG_VALUES
    assert compare(References(produced(3)), produced(3.0)).verdict is Verdict.WRONG_TYPE
    assert compare(References(produced(None)), produced(None)).verdict is None


def test_complex_outputs_are_compared_by_real_and_imaginary_part() -> None:
    x = torch.complex(noise(5), noise(5, seed=2))
    references = References(produced(x), produced(x.to(torch.complex128)))
    assert compare(references, produced(x.clone())).verdict is None
    found = compare(references, produced(x + torch.tensor([0, 0, 0.1j, 0, 0])))
    assert (found.verdict, found.index) == (Verdict.WRONG_VALUES, (2,))


def test_the_slice_that_holds_all_wrong_elements_is_named() -> None:
    expected = noise(8, 40)
    actual = expected.clone()
    actual[6:, 33:] = 0
    found = compare(References(produced(expected), produced(expected.double())), produced(actual))
    assert found.verdict is Verdict.WRONG_VALUES
    assert "all in [6:8, 33:40]" in found.problem


@pytest.mark.parametrize("dtype", FLOATS)
def test_errors_that_a_coarser_dtype_does_not_explain_are_wrong(dtype: str) -> None:
    x = noise(64, 65, dtype=dtype)
    assert judged(torch.tanh, (torch.tanh(x.float()) * 1.5).to(x.dtype), x).verdict is Verdict.WRONG_VALUES


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        ((4, 3), (3, 1), False),
        ((4, 3), (1, 4), False),
        ((4, 3), (0, 1), True),
        ((1, 3), (0, 1), False),
        ((4, 3), (1, 1), True),
        ((4, 3), (100, 1), False),
        ((4, 0), (0, 1), False),
        ((), (), False),
    ],
)
def test_overlapping_elements_are_found_from_shape_and_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], overlaps: bool
) -> None:
    assert overlaps_itself(Produced("torch.Tensor", shape=shape, strides=strides)) is overlaps


def test_shared_memory_is_wrong_only_if_eagers_output_shares_none() -> None:
    value = noise(4, 3)
    view = produced(value, strides=(3, 1), shares=("input 0",))
    own = produced(value, strides=(3, 1))
    assert compare(References(view), view).verdict is None
    assert compare(References(view), own).verdict is None
    assert compare(References(own), view).verdict is Verdict.WRONG_VALUES
    assert compare(References(own), view, memory=False).verdict is None
    assert other_strides(own, produced(value, strides=(1, 4))) == "strides [1, 4], eager's [3, 1]"
    assert other_strides(own, own) == ""


def test_empty_outputs_are_right() -> None:
    assert compare(References(produced(torch.zeros(0, 3))), produced(torch.zeros(0, 3))).verdict is None


def test_returns_must_have_as_many_outputs_as_eagers_and_the_same_container() -> None:
    one, two = (produced(torch.zeros(1)),), (produced(torch.zeros(1)), produced(torch.zeros(1)))
    assert structure_problem(Returned(two, "tuple", 0.0), Returned(one, "tuple", 0.0))
    assert structure_problem(Returned(one, "tuple", 0.0), Returned(one, "", 0.0))
    assert not structure_problem(Returned(one, "tuple", 0.0), Returned(one, "tuple", 0.0))


def test_the_record_of_several_input_draws_shows_the_worst() -> None:
    right = compare(References(produced(torch.ones(2))), produced(torch.ones(2)))
    wrong = compare(References(produced(torch.ones(2))), produced(torch.tensor([1.0, 5.0])))
    record = gather([("recorded", right), ("wide", wrong)], 0)
    assert (record.profile, record.smallest_t, record.max_error, record.index) == ("wide", None, 4.0, (1,))
    assert record.expected == 1.0
    assert record.actual == 5.0
    assert 0 not in record.correct_at


def test_the_record_counts_the_wrong_elements_of_the_shown_input_set_and_of_every_failing_one() -> None:
    x = torch.zeros(1000)
    few, many = x.clone(), x.clone()
    few[:3], many[:400] = 9.0, 9.0
    first, second = (compare(References(produced(x)), produced(each)) for each in (few, many))
    imprecise = replace(second, verdict=Verdict.LOWER_PRECISION, wrong=0, wrong_fraction=0.0)
    record = gather([("wide", first), ("sparse", imprecise)], 0)
    assert (record.profile, record.wrong, record.wrong_words) == ("wide", 3, "3 of 1,000 elements (0.3 %)")
    assert "3 of 1,000 elements (0.3 %) are wrong" in record.problem
    assert [(each.inputs, each.wrong, each.size) for each in record.failed] == [("wide", 3, 1000), ("sparse", 0, 1000)]
    both = gather([("wide", first), ("sparse", second), ("sparse, again", first)], 0)
    assert (both.profile, both.wrong, both.wrong_fraction) == ("sparse", 400, 0.4)
    assert Accuracy((both,), ("wide", "sparse", "edges")).failed_words(both) == "wrong on 2 of 3 input sets"


def test_a_complex_element_is_wrong_once_whichever_of_its_parts_are() -> None:
    z = torch.zeros(8, dtype=torch.complex64)
    wrong = z.clone()
    wrong[0], wrong[1] = 5 + 5j, 5j
    found = compare(References(produced(z)), produced(wrong), wants_map=lambda found: True)
    assert found.map is not None
    assert found.wrong == found.map.wrong == 2
    assert found.problem.startswith("2 of 8 elements (25.0 %) are wrong")


@pytest.mark.parametrize("dtype", [*FLOATS, "float64"])
def test_perturbing_changes_each_element_by_one_ulp(dtype: str) -> None:
    x = noise(100, dtype=dtype)
    for random in (False, True):
        step = (perturbed(x, 1, random).double() - x.double()).abs() / x.double().abs()
        assert (step > 0).all()
        assert (step <= 2 * torch.finfo(x.dtype).eps).all()
    assert (perturbed(torch.zeros(3), 1, False) == 0).all()
