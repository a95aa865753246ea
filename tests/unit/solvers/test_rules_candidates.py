"""The ways in which the rules can write a bundle, and what the cost model says of them."""

from dataclasses import replace

import pytest

from passnet_core.errors import BadInput
from passnet_core.records import Task, TensorSpec
from passnet_core.solvers.rules.candidates import by_model, candidates
from passnet_core.solvers.rules.costs import KERNEL_US, LAUNCH_US, Cost, Estimate, call_us
from passnet_core.solvers.rules.solver import written
from tests.contract.made import around_a_product, code_of, task


def of(*lines: str, shapes: tuple[tuple[int, ...], ...] = ((32, 64), (48, 64)), dtype: str = "float16") -> Task:
    """A task of one subgraph with these operations, the last of which is returned."""
    inputs = tuple(TensorSpec(f"in_{place}", shape, dtype) for place, shape in enumerate(shapes))
    subgraph = replace(task().subgraphs[0], code=code_of(*lines, inputs=len(inputs)), inputs=inputs)
    return replace(task(), subgraphs=(subgraph,))


def estimate(one: Task) -> Estimate:
    found = written(one)
    return Estimate([surveyed for surveyed, _ in found.cuts], found.forms)


def speedup(one: Task) -> float:
    (found,) = estimate(one).speedups().values()
    return found


def test_candidates_are_distinct_and_the_first_is_what_is_written_without_a_choice() -> None:
    found = candidates(around_a_product())
    assert [each.name for each in found] == ["fused", "gaining", "products"]
    assert len({each.bundle.digest for each in found}) == len(found)
    assert found[0].bundle == written(around_a_product()).bundle
    assert [each.bundle for each in found] == [each.bundle for each in candidates(around_a_product())]


def test_a_task_with_one_way_has_one_candidate() -> None:
    assert [each.name for each in candidates(of("torch.exp(in_0)", "tmp_0 + 1"))] == ["fused"]


def test_passes_that_gain_nothing_are_left_out_and_named() -> None:
    _, gaining, _ = candidates(around_a_product())
    assert [each.name for each in gaining.bundle.passes] == ["exp_add_mul.py"]
    assert gaining.gainless == ("relu",)


def test_a_subgraph_keeps_a_pass_even_if_that_gains_nothing() -> None:
    found = candidates(of("torch.relu(in_0)"))
    assert [(each.name, each.covered) for each in found] == [("fused", 1)]
    assert found[0].speedup < 1


def test_products_become_part_of_a_pass() -> None:
    *_, products = candidates(around_a_product())
    (file,) = products.bundle.passes
    assert "tl.dot" in file.code
    assert "linear" not in products.written.libraries


def test_a_product_of_what_is_put_together_from_several_tensors_is_left_to_the_library() -> None:
    lines = ("torch.cat((in_0, in_2), 1)", "torch._C._nn.linear(tmp_0, in_1, None)", "torch.relu(tmp_1)")
    found = candidates(of(*lines, shapes=((32, 64), (48, 96), (32, 32))))
    assert "products" not in [each.name for each in found]


def test_a_large_product_is_better_left_to_the_library() -> None:
    small = around_a_product()
    inputs = (TensorSpec("in_0", (4096, 4096), "float32"), TensorSpec("in_1", (4096, 4096), "float32"))
    found = candidates(replace(small, subgraphs=(replace(small.subgraphs[0], inputs=inputs),)))
    assert by_model(found).name != "products"
    assert by_model(candidates(small)).name == "products"


def test_what_the_rules_do_not_cover_has_no_candidates() -> None:
    with pytest.raises(BadInput, match="they do not write histc"):
        candidates(of("torch.histc(in_0, 10)"))


def test_more_launches_take_longer_and_so_do_more_bytes() -> None:
    one, two = Cost(LAUNCH_US, KERNEL_US), Cost(LAUNCH_US, 2 * KERNEL_US)
    assert call_us([one]) < call_us([two]) < call_us([one, one])
    chains = [["torch.exp(in_0)"], ["torch.exp(in_0)", "tmp_0 + 1"], ["torch.exp(in_0)", "tmp_0 + 1", "tmp_1 * 2"]]
    speedups = [speedup(of(*lines)) for lines in chains]
    assert speedups == sorted(set(speedups)), "one launch in place of one, two and three"


def test_large_tensors_gain_what_is_no_longer_moved() -> None:
    chain = ("torch.exp(in_0)", "tmp_0 + 1", "tmp_1 * 2", "torch.tanh(tmp_2)")
    assert speedup(of(*chain, shapes=((2**14, 2**14), (1,)))) == pytest.approx(4, rel=0.05)
    assert speedup(of(chain[0], shapes=((2**14, 2**14), (1,)))) == pytest.approx(1, rel=0.05)


def test_a_large_kernel_hides_the_time_of_the_host() -> None:
    assert call_us([Cost(1, 100), *[Cost(10)] * 5]) == call_us([Cost(1, 100)])


def test_an_embedding_reads_the_rows_that_it_takes_and_not_the_table() -> None:
    lines = ("torch.nn.functional.embedding(in_0, in_1)", "tmp_0 * 2")
    one = of(*lines, shapes=((16,), (2**20, 64)))
    ids = replace(one.subgraphs[0].inputs[0], dtype="int64")
    subgraph = replace(one.subgraphs[0], inputs=(ids, one.subgraphs[0].inputs[1]))
    found = estimate(replace(one, subgraphs=(subgraph,)))
    assert found.eager_us(subgraph.id) < 50
    assert (found.passes_us(subgraph.id) or 0) < 50


def test_a_conversion_to_the_dtype_that_a_tensor_has_costs_no_launch() -> None:
    same, other = (estimate(of("in_0.to(torch.float32)", "tmp_0 + 1", dtype=dtype)) for dtype in ("float32", "float16"))
    assert same.eager_us("float32/0") < other.eager_us("float32/0")
