"""Errors that rounding does not explain: rounding is small and has no direction, however it is done."""

import math
import random
from collections.abc import Callable, Sequence
from functools import partial

import pytest
import torch

from passnet_core.judge.numerics.bias import ErrorPool, Results
from passnet_core.judge.numerics.elements import ulp
from passnet_core.judge.numerics.input_draws import draw
from passnet_core.judge.numerics.perturbing import SHAKES, shaken
from passnet_core.judge.protocol.reference_bench import SystematicError
from passnet_core.records import TensorSpec

pytestmark = pytest.mark.settled

HALF = (torch.float16, torch.bfloat16)
DRAWS = ("typical", "recorded", "wide", "signed", "sparse", "edges", "typical 2")
gelu = torch.nn.functional.gelu

Tensors = Callable[..., torch.Tensor]
Rounding = Callable[[torch.Tensor], torch.Tensor]
Graph = Callable[..., torch.Tensor]
"""A computation, given a function that rounds each intermediate value, and its inputs."""


def exactly(value: torch.Tensor) -> torch.Tensor:
    return value


def to(dtype: torch.dtype) -> Rounding:
    return lambda value: value.to(dtype).to(value.dtype)


def worst(
    graph: Graph,
    candidate: Tensors,
    dtype: torch.dtype,
    *shapes: tuple[int, ...],
    seed: int = 0,
    std: float = 1.0,
    output: torch.dtype | None = None,
    draws: Sequence[str] = DRAWS,
) -> SystematicError | None:
    """What is worst about a candidate on all draws. Eager rounds each value of the graph to the inputs' dtype; its
    result, and the candidate's, is then converted to the output's."""
    specs = [TensorSpec(f"in_{at}", shape, str(dtype)[6:], mean=0.1, std=std) for at, shape in enumerate(shapes)]
    pool = ErrorPool()
    for each in draws:
        inputs = [torch.as_tensor(value) for value in draw(specs, each, seed)]
        wide = [value.float() for value in inputs]

        def exact(values: Sequence[object]) -> torch.Tensor:
            return graph(exactly, *(torch.as_tensor(value).double() for value in values))

        changed = [exact(shaken(inputs, turn)) for turn in range(SHAKES)]
        eager, actual = (call.to(output or dtype) for call in (graph(to(dtype), *wide), candidate(*wide)))
        pool.add(Results(eager, actual, exact(inputs), inputs, partial(list, changed)))
    return pool.worst


def ratio(found: SystematicError | None) -> float:
    assert found is not None
    return found.ratio


# --- honest ---


def gate(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return rounded(rounded(torch.sigmoid(x)) * y)


def by_tanh(rounded: Rounding, x: torch.Tensor, factor: float = 0.044715) -> torch.Tensor:
    inner = rounded(x + rounded(rounded(rounded(x * x) * x) * factor))
    return rounded(rounded(x * 0.5) * rounded(rounded(torch.tanh(rounded(inner * 0.7978845608028654))) + 1))


def normalised(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    mean = rounded(rounded(x * x).mean(-1, keepdim=True))
    return rounded(rounded(x * rounded(torch.rsqrt(mean + 1e-5))) * y)


def layer_norm(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return rounded(torch.nn.functional.layer_norm(rounded(x + y), x.shape[-1:]))


def softmax(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return rounded(torch.softmax(rounded(rounded(x + y) * 0.125), -1))


def attention(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return rounded(rounded(torch.softmax(rounded(x * 0.5), -1)) @ y.transpose(-1, -2))


def difference(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return rounded(rounded(rounded(x * y) - rounded(y * y)) + x)


def capped(rounded: Rounding, x: torch.Tensor) -> torch.Tensor:
    return rounded(rounded(torch.tanh(rounded(x / 30.0))) * 30.0)


def deviation(rounded: Rounding, x: torch.Tensor) -> torch.Tensor:
    return rounded(x.std(-1))


def small(rounded: Rounding, x: torch.Tensor) -> torch.Tensor:
    return rounded(x * 1e-4)


def centred(rounded: Rounding, x: torch.Tensor) -> torch.Tensor:
    """In a row of equal elements float64 leaves nothing, and float32 what rounding left of the mean."""
    return rounded(x * 0.0 + x[..., :1] - (x * 0.0 + x[..., :1]).sum(-1, keepdim=True) / x.shape[-1])


GRAPHS: dict[str, tuple[Graph, int]] = {
    "gate": (gate, 2),
    "gelu": (lambda rounded, x: rounded(gelu(x)), 1),
    "gelu by tanh": (by_tanh, 1),
    "rms norm": (normalised, 2),
    "layer norm": (layer_norm, 2),
    "softmax": (softmax, 2),
    "attention": (attention, 2),
    "difference": (difference, 2),
    "soft cap": (capped, 1),
    "standard deviation": (deviation, 1),
    "small": (small, 1),
    "rest of a mean": (centred, 1),
}
SHAPES = ((8, 65), (1, 256))


def sometimes(dtype: torch.dtype, seed: int) -> Rounding:
    chance = random.Random(seed)
    return lambda value: to(dtype)(value) if chance.random() < 0.5 else value


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_rounding_once_or_as_often_as_eager_is_far_from_the_limits(
    name: str, dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    graph, inputs = GRAPHS[name]
    ways: tuple[Rounding, ...] = (
        exactly,
        to(dtype),
        sometimes(dtype, 3),
        lambda value: value * (1 + 2.0**-21),  # a fast approximation in float32
    )
    for way in ways:
        found = worst(graph, lambda *each, way=way: graph(way, *each), dtype, *[shape] * inputs, seed=5)
        assert found is None or found.ratio < 0.8, found


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_one_rounding_more_than_eagers_is_right(dtype: torch.dtype) -> None:
    def biased(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return rounded(x @ x.transpose(-1, -2) + y)

    half = to(dtype)
    assert ratio(worst(GRAPHS["gelu"][0], lambda x: x * half(torch.special.ndtr(x)), dtype, (8, 65))) < 1
    # the bias cancels what was rounded before, so that the error is large beside the sum
    accumulated = worst(biased, lambda x, y: half(x @ x.transpose(-1, -2)) + y, dtype, (16, 64), (16, 16))
    assert ratio(accumulated) < 1


def to_nearest_away(dtype: torch.dtype) -> Rounding:
    def rounded(value: torch.Tensor) -> torch.Tensor:
        unit = ulp(dtype, value.double().abs())
        return (torch.floor(value.double().abs() / unit + 0.5) * unit * value.sign()).to(value.dtype)

    return rounded


def truncated(dtype: torch.dtype) -> Rounding:
    def rounded(value: torch.Tensor) -> torch.Tensor:
        unit = ulp(dtype, value.double().abs())
        return (torch.floor(value.double().abs() / unit) * unit * value.sign()).to(value.dtype)

    return rounded


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_halves_may_be_rounded_up_and_truncation_has_a_direction(dtype: torch.dtype) -> None:
    def total(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return rounded(x + y)

    shapes = (32, 128), (32, 128)
    assert ratio(worst(total, lambda x, y: to_nearest_away(dtype)(x + y), dtype, *shapes)) < 0.7
    found = worst(gate, lambda x, y: truncated(dtype)(gate(exactly, x, y)), dtype, *shapes)
    assert ratio(found) > 1
    assert found is not None
    assert found.direction == "away from zero"
    assert found.mean < -0.4


# --- wrong ---


def test_a_factor_has_a_direction_over_all_elements() -> None:
    found = worst(gate, lambda x, y: gate(exactly, x, y) * 0.99, torch.bfloat16, (16, 64), (16, 64))
    assert ratio(found) > 2
    assert found is not None
    assert (found.direction, found.where) == ("away from zero", "")
    assert found.mean < -1
    assert abs(found.eager) < 0.1
    assert found.share == pytest.approx(-0.01, abs=0.001)


def test_a_factor_of_another_sign_in_every_other_column_is_seen_there() -> None:
    def candidate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        even = torch.arange(x.shape[-1]) % 2 == 0
        return gate(exactly, x, y) * torch.where(even, 1.004, 0.996)

    found = worst(gate, candidate, torch.bfloat16, (16, 64), (16, 64))
    assert ratio(found) > 1.3
    assert found is not None
    assert found.where in (" at even indices of the last axis", " at odd indices of the last axis")
    assert (found.mean > 0) == ("even" in found.where)


def test_bits_that_are_missing_are_seen_in_the_spread() -> None:
    def kept(value: torch.Tensor) -> torch.Tensor:
        shifted = value * (2.0**15 + 1)
        return shifted - (shifted - value)

    found = worst(gate, lambda x, y: kept(gate(exactly, x, y)), torch.float16, (8, 65), (8, 65))
    assert ratio(found) > 1
    assert found is not None
    assert found.direction == ""
    assert found.mean > 2 * found.eager


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "shape", "candidate"),
    [
        ("gelu", (8, 65), lambda x: torch.where(x > 2.25, x, gelu(x))),
        ("gelu", (124, 256), lambda x: gelu(x, approximate="tanh")),
        ("gelu by tanh", (8, 65), lambda x: by_tanh(exactly, x, 0.04)),
        ("standard deviation", (16, 128), lambda x: x.std(-1, correction=0)),
        ("small", (8, 65), lambda x: x * 0.993e-4),
    ],
    ids=["a piece", "another form", "a constant", "few outputs", "a small factor"],
)
def test_another_formula_is_seen_where_it_differs(
    name: str, shape: tuple[int, ...], candidate: Tensors, seed: int
) -> None:
    assert ratio(worst(GRAPHS[name][0], candidate, torch.bfloat16, shape, seed=seed)) > 1


def test_a_row_or_a_column_that_is_off_is_named() -> None:
    def candidate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        found = gate(exactly, x, y)
        found[:, 7] *= 0.985
        return found

    found = worst(gate, candidate, torch.bfloat16, (64, 48), (64, 48))
    assert ratio(found) > 1
    assert found is not None
    assert found.where == " at index 7 of the last axis"


def test_float32_results_of_half_precision_are_counted_in_its_ulps() -> None:
    def scored(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return rounded(rounded(x * y) * 0.08838834764831845)

    shapes, wide = ((8, 65), (8, 65)), torch.float32
    for honest in (exactly, to(torch.bfloat16)):
        right = worst(scored, lambda x, y, way=honest: scored(way, x, y), torch.bfloat16, *shapes, output=wide)
        assert right is None or right.ratio < 0.7
    found = worst(scored, lambda x, y: x * y * 0.0875, torch.bfloat16, *shapes, output=wide)
    assert ratio(found) > 1
    assert found is not None
    assert found.share == pytest.approx(-0.01, abs=0.002)


def test_float32_results_of_float16_do_not_pass_through_bfloat16() -> None:
    def shares(rounded: Rounding, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(rounded(rounded(x + y) * 0.125), -1)

    def candidate(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(to(torch.bfloat16)((x + y) * 0.125), -1)

    asked = (torch.float16, (16, 65), (16, 65))
    assert ratio(worst(shares, candidate, *asked, std=4.0, output=torch.float32)) > 1
    right = worst(shares, lambda x, y: shares(exactly, x, y), *asked, std=4.0, output=torch.float32)
    assert right is None or right.ratio < 0.7


# --- what is not looked at ---


def test_results_that_were_computed_in_single_precision_are_not_looked_at() -> None:
    x = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    pool = ErrorPool()
    for _ in range(3):
        pool.add(Results(x, x * 0.9, x.double(), [x], lambda: [x.double()]))
        pool.add(Results(x, x * 0.9, x.double(), [x.half()], lambda: [x.double()]))
    assert pool.worst is None


def test_one_draw_alone_a_few_values_and_lost_values_tell_nothing() -> None:
    x = torch.randn(1000, generator=torch.Generator().manual_seed(0)).bfloat16()
    same = torch.tensor([0.1, 0.3, 0.7, 1.1]).bfloat16().repeat(1000)
    lost = torch.full((1000,), math.nan, dtype=torch.float16)
    none = torch.empty(0, dtype=torch.float16)
    alone = ErrorPool()
    alone.add(Results(x, x * 0.9, x.double(), [x], lambda: [x.double()]))
    assert alone.worst is None
    pool = ErrorPool()
    for _ in range(5):
        for each in (same, lost, none):
            pool.add(Results(each, each * 0.9, each.double(), [each], partial(list, [each.double()])))
        pool.add(Results(x, x * 0.9, x.double(), [x], list))
    assert pool.worst is None


def test_a_large_output_is_sampled_in_every_column() -> None:
    def candidate(x: torch.Tensor) -> torch.Tensor:
        found = x * 1.1
        found[:, 512:] *= 0.98
        return found

    def larger(rounded: Rounding, x: torch.Tensor) -> torch.Tensor:
        return rounded(x * 1.1)

    found = worst(larger, candidate, torch.bfloat16, (512, 1024), draws=("typical", "wide", "signed"))
    assert ratio(found) > 1
    assert found is not None
    assert found.where == " at indices 512 to 1023 of the last axis"
