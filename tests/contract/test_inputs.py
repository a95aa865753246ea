"""Input draws: as recorded, or so that a wrong result is less likely to pass."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.source import parse
from passnet_core.judge.numerics.draws.drawing import FAINT
from passnet_core.judge.numerics.input_draws import INPUT_DRAWS, draw
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.numerics.mutants import mutants
from passnet_core.judge.numerics.parameters import parameters
from passnet_core.judge.protocol.reference_bench import InputRole
from passnet_core.records import TensorSpec


def spec(**fields: Any) -> TensorSpec:
    return TensorSpec(**{"name": "in_0", "shape": (64, 32), "dtype": "float32", "mean": 0.5, "std": 2.0, **fields})


def one(
    input_draw: str, seed: int = 1, role: InputRole | None = None, scale: float = 1.0, **fields: Any
) -> torch.Tensor:
    (drawn,) = draw([spec(**fields)], input_draw, seed, roles={"in_0": role or InputRole()}, scale=scale)
    return torch.as_tensor(drawn)


def test_the_recorded_draw_replays_inputs_as_passnet_does() -> None:
    values = one("recorded")
    assert abs(values.mean() - 0.5) < 0.05
    assert abs(values.std() - 0.4) < 0.03
    assert (one("recorded", std=0.0) == 0.5).all()
    assert one("recorded", mean=1000.0).max() == 100.0
    limited = one("recorded", std=50.0, low=-1.0, high=2.0)
    assert limited.min() == -1.0
    assert limited.max() == 2.0
    given = one("recorded", shape=(2, 2), data=(1.0, 2.0, 3.0, 4.0), dtype="float16")
    assert given.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert given.dtype is torch.float16
    whole = one("recorded", dtype="int64", low=3, high=9)
    assert set(whole.flatten().tolist()) == set(range(3, 10))
    assert one("recorded", dtype="bool").double().mean().item() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("by_keyword", "by_position"),
    [
        ("torch.softmax(dim=-1, input=in_0)", "torch.softmax(in_0, -1)"),
        ("torch.amax(input=in_0, dim=1)", "torch.amax(in_0, 1)"),
        ("torch.argmax(input=in_0, dim=-1)", "torch.argmax(in_0, -1)"),
        ("torch.nn.functional.max_pool2d(kernel_size=2, input=in_0)", "torch.nn.functional.max_pool2d(in_0, 2)"),
        ("torch.pow(input=in_0, exponent=2)", "torch.pow(in_0, 2)"),
        ("torch.maximum(other=in_0, input=in_0)", "torch.maximum(in_0, in_0)"),
        ("torch.where(condition=in_0 > 0, input=in_0, other=0.0)", "torch.where(in_0 > 0, in_0, 0.0)"),
        ("in_0.minimum(other=in_0)", "in_0.minimum(in_0)"),
        ("torch.add(in_0, other=1, alpha=2)", "torch.add(in_0, 1, alpha=2)"),
        ("torch.round(input=in_0)", "torch.round(in_0)"),
        ("torch.exp(input=in_0)", "torch.exp(in_0)"),
    ],
)
def test_inputs_are_drawn_alike_however_a_call_is_spelled(by_keyword: str, by_position: str) -> None:
    shape = spec(shape=(2, 4, 6, 6))
    code = "def forward(self, in_0):\n    y = {}\n    return (y,)\n"
    spelled, plain = (parse(code.format(each)) for each in (by_keyword, by_position))
    assert roles(spelled, [shape]) == roles(plain, [shape])
    assert [each.name for each in mutants(spelled, [shape])] == [each.name for each in mutants(plain, [shape])]


def test_harder_draws_do_not_replay_a_recorded_spread_of_zero() -> None:
    for input_draw in ("typical", "wide", "signed", "edges"):
        assert one(input_draw, std=0.0, original_name="L_x_").std() > 0.4, input_draw
    weight = one("typical", std=0.0, mean=1.0, original_name="L_self_parameters_weight_")
    assert 0.05 < weight.std() < 0.2
    assert abs(weight.mean() - 1.0) < 0.05


def test_each_input_draw_has_the_property_in_its_name() -> None:
    typical, wide, signed = (one(input_draw) for input_draw in ("typical", "wide", "signed"))
    assert wide.std() / typical.std() == pytest.approx(8, rel=0.1)
    assert signed.mean() < 0 < typical.mean()
    sparse = one("sparse", original_name="L_x_")
    assert 1 <= (sparse.abs() > 2 * FAINT).sum() <= 3
    rows = sparse.reshape(-1, sparse.shape[-1])
    faint = ((rows.abs() - FAINT).abs() <= FAINT / 2).all(-1)
    assert faint.any(), "some rows are so small that eps matters"
    assert (rows == 0).all(-1).any(), "some rows are zeros"
    assert (rows[faint] > 0).double().mean().item() == pytest.approx(0.5, abs=0.2)
    edges = one("edges", original_name="L_x_")
    assert edges.max() >= 60
    assert (edges == 0).any()
    scales = one("edges", shape=(64,), mean=1.1, std=0.2, original_name="L_self_parameters_weight_")
    assert 0 < (scales - 1).abs().max() <= 1e-3, "as after little training"
    ends = one("edges", dtype="int64", low=-4, high=11)
    assert set(ends.flatten().tolist()) == {-4, 11}


def test_further_draws_reach_what_the_six_do_not() -> None:
    limited = one("limits", role=InputRole(marks=(-10_000.0, 10_000.0)), original_name="L_x_")
    assert limited.min() < -10_000 < 10_000 < limited.max()
    within = one("limits", role=InputRole(marks=(10_000.0,)), scale=0.5, original_name="L_x_")
    assert within.max() <= 400, "smaller where eager overflows"
    far = one("far", role=InputRole(far=(-(2**40), 2**40)), dtype="int64", low=0, high=9)
    assert far.min() < -(2**33) < 2**33 < far.max()
    assert ((far >= 0) & (far <= 9)).double().mean() > 0.3
    lost = one("undefined", role=InputRole(lost=("inf", "nan")), original_name="L_x_")
    assert lost.isnan().any()
    assert lost.isposinf().any()
    assert not lost.isneginf().any()
    halves = one("halves", role=InputRole(halves="value"), original_name="L_x_")
    assert (halves * 2 % 2 == 1).double().mean() > 0.2
    units = one("halves", role=InputRole(halves="unit"), original_name="L_x_")
    assert set(units.flatten().tolist()) == {0.5, 1.0, 2.0}
    large = one("large", dtype="float16", original_name="L_x_")
    assert large.isfinite().all()
    assert large.abs().max() > 10_000
    weights = one("weights", original_name="L_self_parameters_weight_")
    assert (weights == 0).all(-1).double().mean().item() == pytest.approx(0.25)
    assert weights.abs().max() == 100.0


def test_offsets_lie_as_far_from_zero_as_the_dtype_resolves() -> None:
    for dtype, farthest in (("float32", 1_000), ("float16", 150), ("bfloat16", 60)):
        rows = one("offsets", original_name="L_x_", dtype=dtype).float()
        alike = rows.std(-1) < 2
        assert 0.3 < alike.double().mean() < 0.9, "within a row the spread is 1, but some lie in two parts"
        means = rows[alike].mean(-1)
        assert means.abs().max() == pytest.approx(farthest, rel=0.05)
        assert means.max() - means.min() > 88, "a row's exponentials vanish beside another's maximum"
        everywhere = one("offsets 2", original_name="L_x_", dtype=dtype).float()
        assert everywhere.std() < 2
        assert everywhere.mean().abs() >= min(farthest, 60) * 0.9
    columns = one("offsets 3", original_name="L_x_")
    assert (columns.std(0) < 2).all()
    assert columns.std(-1).min() > 100


def test_numbers_lie_where_a_short_cut_fails() -> None:
    x = TensorSpec("x", (6, 64), "float32", mean=0.1, std=1.0, original_name="L_x_")

    def drawn(input_draw: str, *lines: str, dtype: str = "float32") -> torch.Tensor:
        body = "".join(f"        {line}\n" for line in lines)
        code = f"import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n{body}"
        spec = replace(x, dtype=dtype)
        return torch.as_tensor(draw([spec], input_draw, 1, roles=roles(parse(code), [spec]))[0]).double()

    maximum = ("a = x.amax(-1)", "return (a,)")
    for dtype in ("float32", "float16", "bfloat16"):
        rows = drawn("deep", *maximum, dtype=dtype).mean(-1)
        assert rows.isfinite().all()
        assert {-1, 0, 1} == {*(rows / 30_000).trunc().sign().tolist()}
        assert (drawn("deep 2", *maximum, dtype=dtype) < -30_000).all()
    normalised = ("a = x.amax(-1, keepdim=True)", "b = torch.nn.functional.layer_norm(x - a, (64,))", "return (b,)")
    assert (drawn("deep", *normalised) < 10).all()
    chosen = ("a = x * 0.3", "b = a.argmax(-1)", "c = x.amax(-1)", "return (b, c)")
    assert (drawn("deep", *chosen) < 10).all(), "the rounding of products would decide"
    assert ((drawn("ties", "a = x > 1.5", "return (a,)") * 2) % 1 == 0).all()
    sizes = drawn("magnitudes", "a = torch.hypot(x, x)", "return (a,)").abs()
    assert sizes.min() < 1e-20
    assert sizes.max() > 1e20
    spikes = drawn("spikes", "a = torch.nn.functional.avg_pool1d(x, 4, 1)", "return (a,)").abs()
    assert ((spikes > 1_000_000).sum(), (spikes < 10).sum()) == (1, spikes.numel() - 1)
    assert (drawn("spikes", "a = x + 1", "return (a,)").abs() < 10).all()
    edges = ("a = torch.linspace(3.25, 50.75, 15)", "b = a ** 2", "c = x.unsqueeze(-1) > b", "return (c,)")
    assert (drawn("limits", *edges) == 3.25**2).any()


def test_scale_changes_only_the_large_values_of_wide_and_edges() -> None:
    assert torch.equal(one("wide", mean=0.0, scale=0.5), one("wide", mean=0.0) / 2)
    edges, smaller = one("edges", original_name="L_x_"), one("edges", original_name="L_x_", scale=0.5)
    assert (edges.abs().max(), smaller.abs().max()) == (100.0, 50.0)
    ordinary = (edges != 0) & (edges == smaller)
    assert 0.3 < ordinary.double().mean() < 0.7
    for input_draw in set(INPUT_DRAWS) - {"wide", "edges"}:
        assert torch.equal(one(input_draw, scale=0.5), one(input_draw))


@pytest.mark.parametrize("input_draw", INPUT_DRAWS)
def test_an_input_draw_depends_only_on_its_seed(input_draw: str) -> None:
    assert torch.equal(one(input_draw, seed=7), one(input_draw, seed=7))
    # two seeds may put the impulses of a sparse draw at the same indices
    assert input_draw == "sparse" or not torch.equal(one(input_draw, seed=7), one(input_draw, seed=8))


@pytest.mark.parametrize("input_draw", INPUT_DRAWS[1:])
def test_variances_stay_positive(input_draw: str) -> None:
    assert (one(input_draw, role=InputRole(variance=True), mean=0.3, std=0.1) > 0).all()


@pytest.mark.parametrize("input_draw", INPUT_DRAWS)
def test_every_input_draw_stays_in_the_recorded_range(input_draw: str) -> None:
    values = one(input_draw, low=0.25, high=4.0, mean=1.0, original_name="L_x_")
    assert values.min() >= 0.25
    assert values.max() <= 4.0
    # a range above zero has no sign to flip, and must not collapse to a constant
    assert input_draw == "sparse" or values.std() > 0.1
    whole = one(input_draw, dtype="int32", low=-3, high=5)
    assert whole.min() >= -3
    assert whole.max() <= 5
    assert whole.dtype is torch.int32


@pytest.mark.parametrize("input_draw", INPUT_DRAWS[1:])
def test_a_variance_stays_positive_whatever_its_recorded_range(input_draw: str) -> None:
    assert (one(input_draw, role=InputRole(variance=True), low=0.0, high=0.0, mean=0.0, std=0.0) > 0).all()


def test_weights_are_drawn_anew_for_each_input_draw() -> None:
    drawn = [one(each, std=0.0, mean=1.0, original_name="L_self_parameters_weight_") for each in INPUT_DRAWS]
    assert all(not torch.equal(first, other) for first, other in itertools.combinations(drawn, 2))


def test_shapes_may_differ_from_the_recorded_ones() -> None:
    (drawn,) = draw([spec()], "typical", 1, shapes=[(3, 5)])
    assert torch.as_tensor(drawn).shape == (3, 5)


def test_the_error_names_an_unknown_dtype_or_input_draw() -> None:
    with pytest.raises(BadInput, match="'float3'"):
        one("typical", dtype="float3")
    with pytest.raises(BadInput, match="'odd'"):
        one("odd")


PARAMETERS = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, attn_weights, x, w, table, ids, gain, mixed):
        a = torch.nn.functional.softmax(attn_weights, dim=-1)
        b = w.to(torch.float32).t()
        c = torch.nn.functional.linear(x, b, None)
        d = torch.nn.functional.embedding(ids, table, None, None, 2.0, False, False)
        e = c * gain
        f = torch.nn.functional.linear(x, mixed, None)
        g = mixed * 2
        return (a, d, e, f, g)
"""


def test_parameters_are_what_a_module_owns_or_the_graph_takes_as_a_weight() -> None:
    names = {
        "attn_weights": "L_attn_weights_",
        "x": "L_bias_",
        "w": "w_1",
        "table": "",
        "ids": "buffered_ids",
        "gain": "L_self_modules_norm_parameters_gain_",
        "mixed": "l_weight_",
    }
    specs = [spec(name=name, original_name=original) for name, original in names.items()]
    assert parameters(parse(PARAMETERS), specs) == {"w", "table", "gain"}


def test_the_role_of_an_input_follows_from_its_use() -> None:
    graph = parse(
        """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, s0: torch.SymInt, ids, table, x, mean, var, weight, bias, picks):
        a = ids.view(-1, s0)
        b = torch.nn.functional.embedding(a, table, None, None, 2.0, False, False)
        c = torch.nn.functional.batch_norm(x, mean, var, weight, bias, False, 0.1, 1e-05)
        d = c[(slice(None, None, None), picks)]
        return (b, d)
"""
    )
    specs = [
        TensorSpec("s0", (), "int64", data=(3.0,)),
        TensorSpec("ids", (2, 3), "int64"),
        TensorSpec("table", (7, 4), "float32"),
        TensorSpec("x", (2, 5, 2, 2), "float32"),
        *(TensorSpec(name, (5,), "float32", mean=1.0, std=0.0) for name in ("mean", "var", "weight", "bias")),
        TensorSpec("picks", (2,), "int64"),
    ]
    found, names = roles(graph, specs), [each.name for each in specs]
    assert found["s0"].number
    assert found["ids"].tables == (("table", 0),)
    assert found["var"].variance
    assert not found["mean"].variance
    assert found["picks"].index
    for input_draw in INPUT_DRAWS:
        drawn: dict[str, Any] = dict(zip(names, draw(specs, input_draw, 5, roles=found), strict=True))
        assert drawn["s0"] == 3
        assert 0 <= int(drawn["ids"].min()) <= int(drawn["ids"].max()) < 7
        assert int(drawn["picks"].max()) <= 1
        assert (drawn["var"] > 0).all()
