"""A reference bench in the witness gives the same results as one in this process, on the CPU, where both work."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.source import parse
from passnet_core.judge.numerics.input_draws import INPUT_DRAWS
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol import encoding
from passnet_core.judge.protocol.messages import CandidateFault, Preparation, Returned
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, BenchPlan, Drawn, Judged, ReferenceBench
from passnet_core.judge.supervisor.remote_bench import WitnessFailed
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import Capture, Contender, Device, Subgraph, TensorSpec, Verdict
from tests.contract.judging import ADD_RELU, ample_s, subgraph

pytestmark = pytest.mark.settled

SHAPES = [(6, 8), (6, 8)]


@pytest.fixture
def witness(pool: WorkerPool) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(pool.ready("witness", Device.CPU), "witness", deadline_s=ample_s())
    yield worker
    worker.close()


def plan(asked: Subgraph, *, is_candidate: bool = True) -> BenchPlan:
    known = roles(parse(asked.code), asked.inputs)
    return BenchPlan(
        asked.inputs, tuple(known.get(each.name, PLAIN_ROLE) for each in asked.inputs), 5, True, is_candidate
    )


def prepared(witness: WorkerProcess, code: str = ADD_RELU) -> None:
    eager = Preparation(Contender.EAGER, code, Capture.DIRECT, Device.CPU)
    witness.prepare("eager", eager)
    witness.prepare("float64", replace(eager, float64=True))
    witness.prepare("moved", replace(eager, moved=True))


def spoiled(inputs: list[Drawn], factor: float) -> Returned:
    """A candidate's returns that are off by this factor in all rows but the first."""
    first, second = (torch.as_tensor(each) for each in inputs)
    value = torch.relu(first + second)
    value[1:] *= factor
    produced = replace(encoding.produced(value), shares=("input 1",))
    return Returned((produced,), "tuple", 0.0, changed={0: first + 1})


@pytest.mark.parametrize("factor", [1.0, 1.5, float("nan")])
def test_the_witnesss_bench_gives_the_same_results_as_the_referees(witness: WorkerProcess, factor: float) -> None:
    asked = plan(subgraph((6, 8)))
    prepared(witness)
    here, there = LocalReferenceBench(asked, witness), witness.bench(asked)
    for input_draw in INPUT_DRAWS:
        found = [said(bench, input_draw, factor) for bench in (here, there)]
        # NaN is not equal to itself
        assert repr(found[0]) == repr(found[1])
        judged, _, inputs = found[1]
        assert all(torch.equal(torch.as_tensor(one), torch.as_tensor(other)) for one, other in zip(inputs, found[0][2]))
        (changed,) = judged.inputs
        assert (changed.index, changed.by_eager, changed.by_candidate) == (0, False, True)
        assert changed.difference.verdict is Verdict.WRONG_VALUES
        (values,), (layout,) = judged.values, judged.layouts
        assert values.verdict is {1.0: None, 1.5: Verdict.WRONG_VALUES}.get(factor, Verdict.NON_FINITE)
        assert (layout.shape, layout.strides, layout.shares) == ((6, 8), (8, 1), ())


def said(bench: ReferenceBench, input_draw: str, factor: float) -> tuple[Judged, str, list[Drawn]]:
    bench.draw(input_draw, SHAPES)
    said = bench.refer(exact=True)
    assert said == ""
    inputs = bench.taken()
    return bench.judge(spoiled(inputs, factor)), bench.control(), inputs


HALF = tuple(TensorSpec(f"in_{index}", (6, 8), "float16", mean=0.0, std=1.0) for index in range(2))


@pytest.mark.parametrize(("input_draw", "factor"), [("wide", 4000), ("edges", 1000)])
@pytest.mark.parametrize("where", ["here", "at the witness"])
def test_large_inputs_are_drawn_smaller_if_an_intermediate_of_eager_overflows(
    witness: WorkerProcess, input_draw: str, factor: int, where: str
) -> None:
    asked = plan(replace(subgraph((6, 8)), inputs=HALF))
    prepared(witness, ADD_RELU.replace("in_0 + in_1", f"(in_0 + in_1) * {factor}.0 / {factor}.0"))
    bench = LocalReferenceBench(asked, witness) if where == "here" else witness.bench(asked)
    bench.draw(input_draw, SHAPES)
    full = [torch.as_tensor(value).abs().max() for value in bench.taken()]
    assert bench.refer(exact=True) == ""
    smaller = [torch.as_tensor(value).abs().max() for value in bench.taken()]
    assert all(one < other for one, other in zip(smaller, full, strict=True))
    (output,) = witness.run("eager").outputs
    result = torch.as_tensor(output.value)
    assert result.isfinite().all()
    largest = torch.finfo(torch.float16).max / factor
    assert largest / 4 < result.max() < largest, "the inputs are no smaller than needed"


@pytest.mark.parametrize("input_draw", ["wide", "edges"])
def test_large_inputs_stay_if_only_the_result_overflows_its_dtype(witness: WorkerProcess, input_draw: str) -> None:
    bench = LocalReferenceBench(plan(replace(subgraph((6, 8)), inputs=HALF)), witness)
    prepared(witness, ADD_RELU.replace("in_0 + in_1", "(in_0 + in_1) * 8000.0"))
    bench.draw(input_draw, SHAPES)
    full = bench.taken()
    bench.refer(exact=True)
    assert all(torch.equal(one, other) for one, other in zip(bench.taken(), full, strict=True))
    (output,) = witness.run("eager").outputs
    assert torch.as_tensor(output.value).isinf().any()


def test_the_baseline_is_judged_in_the_witness(witness: WorkerProcess) -> None:
    prepared(witness)
    # eager instead of Inductor, which would compile for half a minute
    witness.prepare("baseline", Preparation(Contender.EAGER, ADD_RELU, Capture.DIRECT, Device.CPU))
    bench = witness.bench(plan(subgraph((6, 8)), is_candidate=False))
    bench.draw("typical", SHAPES)
    assert bench.refer(exact=True) == ""
    bench.compile()
    (difference,) = bench.judge(None).values
    assert difference.verdict is None
    assert difference.smallest_t == -10
    assert bench.control() == ""


def test_compile_raises_the_fault_of_a_baseline_that_fails(witness: WorkerProcess) -> None:
    prepared(witness)
    broken = ADD_RELU.replace("in_0 + in_1", "in_0.view(7) + in_1")
    witness.prepare("baseline", Preparation(Contender.EAGER, broken, Capture.DIRECT, Device.CPU))
    bench = witness.bench(plan(subgraph((6, 8)), is_candidate=False))
    bench.draw("typical", SHAPES)
    bench.refer(exact=True)
    with pytest.raises(CandidateFault, match="shape '\\[7\\]' is invalid"):
        bench.compile()


def test_returns_of_another_form_than_eagers_have_the_wrong_type(witness: WorkerProcess) -> None:
    prepared(witness)
    bench = witness.bench(plan(subgraph((6, 8))))
    bench.draw("typical", SHAPES)
    bench.refer(exact=False)
    found = bench.judge(Returned((), "tuple", 0.0))
    assert found.problem == "it returns 0 values, eager returns 1"
    assert [each.verdict for each in found.values] == [Verdict.WRONG_TYPE]


def test_each_kind_of_failure_in_the_witness_keeps_its_exception(witness: WorkerProcess) -> None:
    prepared(witness, ADD_RELU.replace("in_0 + in_1", "in_0.view(7) + in_1"))
    bench = witness.bench(plan(subgraph((6, 8))))
    bench.draw("typical", SHAPES)
    with pytest.raises(CandidateFault, match="RuntimeError: shape '\\[7\\]' is invalid") as fault:
        bench.refer(exact=True)
    assert fault.value.who == "witness"
    with pytest.raises(WitnessFailed, match="AssertionError"):
        bench.control()  # before eager has computed anything
    for dtype in ("qint8", "float4_e2m1fn_x2"):
        strange = replace(plan(subgraph((6, 8))), specs=(TensorSpec("in_0", (2,), dtype),))
        with pytest.raises(BadInput, match=f"the dtype {dtype}, for which no values can be drawn"):
            witness.bench(strange).draw("typical", [(2,)])


NEAREST = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2):
        tmp_0 = torch.nn.functional.linear(in_0, in_1, None)
        tmp_1 = torch.nn.functional.normalize(tmp_0)
        tmp_2 = torch.nn.functional.normalize(in_2)
        tmp_3 = 2 * tmp_1
        tmp_4 = tmp_2.t()
        tmp_5 = tmp_3 @ tmp_4
        tmp_6 = tmp_1.pow(2)
        tmp_7 = tmp_6.sum(1, keepdim=True)
        tmp_8 = tmp_5 - tmp_7
        tmp_9 = tmp_2.pow(2)
        tmp_10 = tmp_9.sum(1)
        tmp_11 = tmp_8 + tmp_10
        tmp_12 = tmp_11.max(1)
        tmp_13 = tmp_12[1]
        return (tmp_13,)
"""
"""The index of the nearest of many directions. In half precision, several are often equally near."""


def nearest(inputs: list[Drawn], codes: int) -> Returned:
    """The returns of a fusion that rounds only the products, and compares only this many of the directions."""
    rows, weight, known = (torch.as_tensor(each) for each in inputs)
    first, second = (torch.nn.functional.normalize(each.float()) for each in (rows @ weight.T, known))
    product = (2 * first).bfloat16() @ second.bfloat16().T
    lengths = first.pow(2).sum(1, keepdim=True), second.pow(2).sum(1)
    best = (product.float() - lengths[0] + lengths[1])[:, :codes].max(1)[1]
    return Returned((encoding.produced(best),), "tuple", 0.0)


@pytest.mark.parametrize("input_draw", ["typical", "wide", "signed"])
def test_an_argmax_may_differ_if_rounding_decides_it(witness: WorkerProcess, input_draw: str) -> None:
    prepared(witness, NEAREST)
    shapes = [(2048, 64), (8, 64), (1024, 8)]
    inputs = tuple(
        TensorSpec(f"in_{index}", shape, "bfloat16", mean=0.0, std=1.0) for index, shape in enumerate(shapes)
    )
    bench = LocalReferenceBench(plan(replace(subgraph(), code=NEAREST, inputs=inputs)), witness)
    bench.draw(input_draw, shapes)
    bench.refer(exact=True)
    eager, exact = (torch.as_tensor(witness.run(name).outputs[0].value) for name in ("eager", "float64"))
    fused, lacking = (nearest(bench.taken(), codes) for codes in (1024, 1000))
    (difference,) = bench.judge(fused).values
    others = torch.as_tensor(fused.outputs[0].value)
    assert ((others != eager) & (others != exact)).sum() >= 8
    assert difference.verdict is None, difference.problem
    (difference,) = bench.judge(lacking).values
    assert difference.verdict is Verdict.WRONG_VALUES


def test_the_witness_has_the_original_inputs_again_after_perturbed_ones(witness: WorkerProcess) -> None:
    prepared(witness)
    bench = LocalReferenceBench(plan(subgraph((6, 8))), witness)
    bench.draw("typical", SHAPES)
    bench.refer(exact=True)
    bench.judge(spoiled(bench.taken(), 1.5))
    (output,) = witness.run("eager").outputs
    first, second = bench.inputs
    assert torch.equal(output.value, torch.relu(first + second))


def converted(code: str, dtype: str) -> Subgraph:
    """A subgraph of two inputs of this dtype; code: of a result of theirs, of which a quarter is subtracted."""
    inputs = tuple(TensorSpec(f"in_{index}", (64, 48), dtype, mean=0.0, std=1.0) for index in range(2))
    return replace(subgraph((64, 48)), code=CONVERTED % code, inputs=inputs)


CONVERTED = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = %s
        tmp_1 = tmp_0.sub(0.25)
        return (tmp_1,)
"""


IN_FLOAT32 = {
    "converted by to": "in_0.to(torch.float32) * in_1.to(torch.float32)",
    "converted by a method": "in_0.float() * in_1.float()",
    "converted after a view": "in_0.reshape(64, 48).float() * in_1.view(64, 48).to(dtype = torch.float32)",
    "promoted": "in_0.to(torch.float32) * in_1",
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("how", IN_FLOAT32)
def test_half_precision_inputs_do_not_loosen_what_is_computed_in_float32(
    witness: WorkerProcess, how: str, dtype: str
) -> None:
    asked = converted(IN_FLOAT32[how], dtype)
    prepared(witness, asked.code)
    bench = LocalReferenceBench(plan(asked), witness)
    for input_draw in ("typical", "wide"):
        bench.draw(input_draw, [(64, 48)] * 2)
        bench.refer(exact=True)
        one, other = (torch.as_tensor(each).float() for each in bench.taken())
        honest, rounded = one * other - 0.25, (one * other).to(getattr(torch, dtype)).float() - 0.25
        fused = torch.addcmul(torch.full_like(one, -0.25), one, other)
        for right in (honest, fused):
            (found,) = bench.judge(Returned((encoding.produced(right),), "tuple", 0.0)).values
            assert found.verdict is None, found.problem
        (found,) = bench.judge(Returned((encoding.produced(rounded),), "tuple", 0.0)).values
        assert found.verdict in (Verdict.LOWER_PRECISION, Verdict.WRONG_VALUES)
        assert found.wrong_fraction > {"float16": 0.75, "bfloat16": 0.9}[dtype]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_is_computed_in_half_precision_and_converted_at_the_end_keeps_its_slack(
    witness: WorkerProcess, dtype: str
) -> None:
    asked = converted("(in_0 * in_1).float()", dtype)
    prepared(witness, asked.code)
    bench = LocalReferenceBench(plan(asked), witness)
    for input_draw in INPUT_DRAWS:
        bench.draw(input_draw, [(64, 48)] * 2)
        bench.refer(exact=True)
        one, other = (torch.as_tensor(each).float() for each in bench.taken())
        (found,) = bench.judge(Returned((encoding.produced(one * other - 0.25),), "tuple", 0.0)).values
        assert found.verdict is None, found.problem


def test_an_output_in_half_precision_beside_one_in_float32_does_not_loosen_that(witness: WorkerProcess) -> None:
    asked = converted("in_0.float() * in_1.float()", "bfloat16")
    prepared(witness, asked.code.replace("return (tmp_1,)", "tmp_2 = in_0 + in_1\n        return (tmp_1, tmp_2)"))
    bench = LocalReferenceBench(plan(asked), witness)
    bench.draw("typical", [(64, 48)] * 2)
    bench.refer(exact=True)
    one, other = (torch.as_tensor(each) for each in bench.taken())
    rounded = (one * other).float() - 0.25
    outputs = tuple(map(encoding.produced, (rounded, one + other)))
    first, second = bench.judge(Returned(outputs, "tuple", 0.0)).values
    assert first.verdict is not None
    assert first.wrong_fraction > 0.9
    assert second.verdict is None


def test_systematic_errors_are_the_same_wherever_they_are_computed(witness: WorkerProcess) -> None:
    asked = converted("in_0 * in_1", "bfloat16")
    prepared(witness, asked.code)
    found = []
    for bench in (LocalReferenceBench(plan(asked), witness), witness.bench(plan(asked))):
        for input_draw in ("typical", "wide", "signed"):
            bench.draw(input_draw, [(64, 48)] * 2)
            bench.refer(exact=True)
            one, other = (torch.as_tensor(each).float() for each in bench.taken())
            smaller = ((one * other - 0.25) * 0.99).bfloat16()
            judged = [bench.judge(Returned((encoding.produced(smaller),), "tuple", 0.0)) for _ in range(2)]
            assert judged[0] == judged[1], "a further call on the same draw adds nothing"
        found.append(judged[0])
    assert found[0] == found[1]
    (difference,), (error,) = found[0].values, found[0].systematic
    assert difference.verdict is None
    assert error is not None
    assert error.ratio > 1
    assert (error.draws, error.mean < -0.5) == (3, True)


def test_the_witness_chooses_the_same_input_draws(witness: WorkerProcess) -> None:
    asked = plan(subgraph((6, 8)))
    prepared(witness)
    found = LocalReferenceBench(asked, witness).telling(ADD_RELU, SHAPES)
    assert witness.bench(asked).telling(ADD_RELU, SHAPES) == found
    assert set(INPUT_DRAWS) <= set(found.draws)
    assert found.told > 3
