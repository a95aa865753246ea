"""What is drawn for a comparison: replayed as recorded, or harder to be right on by accident."""

import itertools

import pytest
import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.source import parse
from passnet_core.judge.numerics.input_draws import DRAWINGS, FAINT, draw, roles
from passnet_core.judge.numerics.local_bench import exchanged
from passnet_core.judge.protocol.reference_bench import InputRole
from passnet_core.records import TensorSpec


def spec(**fields) -> TensorSpec:
    return TensorSpec(**{"name": "in_0", "shape": (64, 32), "dtype": "float32", "mean": 0.5, "std": 2.0, **fields})


def one(drawing: str, seed: int = 1, role: InputRole | None = None, scale: float = 1.0, **fields):
    return draw([spec(**fields)], drawing, seed, roles={"in_0": role or InputRole()}, scale=scale)[0]


def test_recorded_replays_as_passnet_does() -> None:
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


def test_a_recorded_spread_of_zero_is_not_replayed_by_the_harder_drawings() -> None:
    for drawing in ("typical", "wide", "signed", "edges"):
        assert one(drawing, std=0.0, original_name="L_x_").std() > 0.4, drawing
    weight = one("typical", std=0.0, mean=1.0, original_name="L_self_parameters_weight_")
    assert 0.05 < weight.std() < 0.2
    assert abs(weight.mean() - 1.0) < 0.05


def test_each_drawing_is_what_its_name_says() -> None:
    typical, wide, signed = (one(drawing) for drawing in ("typical", "wide", "signed"))
    assert wide.std() / typical.std() == pytest.approx(8, rel=0.1)
    assert signed.mean() < 0 < typical.mean()
    sparse = one("sparse", original_name="L_x_")
    assert 1 <= (sparse.abs() > 2 * FAINT).sum() <= 3
    rows = sparse.reshape(-1, sparse.shape[-1])
    faint = ((rows.abs() - FAINT).abs() <= FAINT / 2).all(-1)
    assert faint.any(), "rows in which eps matters"
    assert (rows == 0).all(-1).any(), "and rows of zeros"
    assert (rows[faint] > 0).double().mean().item() == pytest.approx(0.5, abs=0.2)
    edges = one("edges", original_name="L_x_")
    assert edges.max() >= 60
    assert (edges == 0).any()
    ends = one("edges", dtype="int64", low=-4, high=11)
    assert set(ends.flatten().tolist()) == {-4, 11}


def test_large_values_can_be_drawn_smaller_and_nothing_else_changes() -> None:
    assert torch.equal(one("wide", mean=0.0, scale=0.5), one("wide", mean=0.0) / 2)
    edges, smaller = one("edges", original_name="L_x_"), one("edges", original_name="L_x_", scale=0.5)
    assert (edges.abs().max(), smaller.abs().max()) == (100.0, 50.0)
    ordinary = (edges != 0) & (edges == smaller)
    assert 0.3 < ordinary.double().mean() < 0.7
    for drawing in set(DRAWINGS) - {"wide", "edges"}:
        assert torch.equal(one(drawing, scale=0.5), one(drawing))


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_drawings_depend_on_the_seed_and_on_nothing_else(drawing: str) -> None:
    assert torch.equal(one(drawing, seed=7), one(drawing, seed=7))
    # only the places of impulses may coincide
    assert drawing == "sparse" or not torch.equal(one(drawing, seed=7), one(drawing, seed=8))


@pytest.mark.parametrize("drawing", DRAWINGS[1:])
def test_variances_stay_positive(drawing: str) -> None:
    assert (one(drawing, role=InputRole(variance=True), mean=0.3, std=0.1) > 0).all()


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_recorded_ranges_are_kept(drawing: str) -> None:
    values = one(drawing, low=0.25, high=4.0, mean=1.0, original_name="L_x_")
    assert values.min() >= 0.25
    assert values.max() <= 4.0
    # a range that begins above zero has no sign to flip, and must not become one constant
    assert drawing == "sparse" or values.std() > 0.1
    whole = one(drawing, dtype="int32", low=-3, high=5)
    assert whole.min() >= -3
    assert whole.max() <= 5
    assert whole.dtype is torch.int32


@pytest.mark.parametrize("drawing", DRAWINGS[1:])
def test_a_variance_stays_positive_whatever_its_recorded_range(drawing: str) -> None:
    assert (one(drawing, role=InputRole(variance=True), low=0.0, high=0.0, mean=0.0, std=0.0) > 0).all()


def test_weights_are_drawn_anew_for_each_drawing() -> None:
    drawn = [one(each, std=0.0, mean=1.0, original_name="L_self_parameters_weight_") for each in DRAWINGS]
    assert all(not torch.equal(first, other) for first, other in itertools.combinations(drawn, 2))


def test_shapes_can_be_others_than_recorded() -> None:
    assert draw([spec()], "typical", 1, shapes=[(3, 5)])[0].shape == (3, 5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "complex64"])
def test_exchanging_two_elements_keeps_all_but_their_places(dtype: str) -> None:
    value = one("typical", dtype=dtype, low=0, high=9) if dtype == "int64" else one("typical", dtype=dtype)
    changed = exchanged(value, 3)
    assert changed.dtype is value.dtype
    assert int((changed != value).sum()) == 2
    flat = [str(each) for each in value.flatten().tolist()]
    assert sorted(flat) == sorted(str(each) for each in changed.flatten().tolist())
    assert exchanged(7, 3) == 7
    assert torch.equal(exchanged(torch.ones(1), 3), torch.ones(1))


def test_unknown_dtypes_and_drawings_are_refused_by_name() -> None:
    with pytest.raises(BadInput, match="'float3'"):
        one("typical", dtype="float3")
    with pytest.raises(BadInput, match="'odd'"):
        one("odd")


def test_roles_come_from_the_computation() -> None:
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
    found = roles(graph, specs)
    assert found["s0"].number
    assert found["ids"].tables == (("table", 0),)
    assert found["var"].variance
    assert not found["mean"].variance
    assert found["picks"].index
    for drawing in DRAWINGS:
        drawn = dict(zip([each.name for each in specs], draw(specs, drawing, 5, roles=found), strict=True))
        assert drawn["s0"] == 3
        assert 0 <= int(drawn["ids"].min()) <= int(drawn["ids"].max()) < 7
        assert int(drawn["picks"].max()) <= 1
        assert (drawn["var"] > 0).all()
