"""Sizes for Triton's interpreter: reduced only by the work that kernels ask for."""

import math
import time
from dataclasses import replace

import pytest
import torch

from passnet_core.fx import modules
from passnet_core.graphs.source import parse
from passnet_core.judge.numerics.input_draws import INPUT_DRAWS
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.protocol.messages import Returned
from passnet_core.judge.stages import sizes
from passnet_core.records import (
    TensorSpec,
    Verdict,
)
from tests.contract.judging import ADD_RELU, subgraph
from tests.contract.verifying import Here, relu_of_sum, traced, verified

pytestmark = pytest.mark.settled


def test_sizes_are_reduced_only_if_the_recorded_ones_are_too_much_work() -> None:
    asked = subgraph((64, 48, 32))
    worker = Here()
    little = verified(relu_of_sum, asked, candidate=worker, work_s=1e-9)
    assert little.accuracy is not None
    assert little.accuracy.reduced == ""
    assert worker.given[-1] == [(64, 48, 32)] * 2
    worker = Here()
    much = verified(relu_of_sum, asked, candidate=worker, work_s=9e-6)
    assert much.verdict is Verdict.VALUES_ONLY, much.reason
    assert much.accuracy is not None
    assert "[64, 48, 32] → [8, 48, 32]" in much.accuracy.reduced
    assert much.accuracy.reduced in much.warnings
    assert set(INPUT_DRAWS) <= set(much.accuracy.profiles)


def test_each_axis_that_shrinks_is_whole_in_some_calls() -> None:
    worker = Here()
    found = verified(relu_of_sum, subgraph((64, 48, 32)), candidate=worker, work_s=9e-6)
    shapes = {each[0] for each in worker.given[1:]}
    assert {(8, 48, 32)} < shapes
    assert {shape for shape in shapes if shape[0] == 64}
    assert found.accuracy is not None
    assert "No call" not in found.accuracy.reduced


def test_axes_of_one_size_are_whole_one_after_the_other() -> None:
    specs = (TensorSpec("x", (1, 4096, 4096), "float32"),)
    code = (
        ADD_RELU.replace("in_0, in_1", "x").replace("in_0 + in_1", "torch.softmax(x, -1)").replace("in_0 = in_1", "x")
    )
    pace = sizes.Pace(specs, interpreted=True)
    assert pace.consider(parse(code), {}) is not None
    pace.choose(1e-6, 0.1)
    first, *others = (shapes[0] for shapes in pace.choices)
    assert first[1] == first[2] < 4096
    assert {shape[1:].index(4096) for shape in others} == {0, 1}


def test_sizes_that_cannot_be_reduced_leave_out_no_input_draw() -> None:
    fixed = ADD_RELU.replace("in_0 + in_1", "in_0.view(98304) + in_1.view(98304)")
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    found = verified(torch.relu, subgraph((64, 48, 32), code=fixed), a_pass=a_pass, work_s=1.0)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    assert found.accuracy is not None
    assert set(INPUT_DRAWS) <= set(found.accuracy.profiles)
    assert found.accuracy.reduced == ""


class LaterLight(Here):
    """A candidate worker whose kernels ask for almost no work, after the call in which their work was counted."""

    def run(self, name: str) -> Returned:
        returned = super().run(name)
        return replace(returned, work_s=1e-6 if len(self.ran) > 1 else 1.0)


def test_sizes_grow_again_if_later_calls_are_much_less_work() -> None:
    worker = LaterLight()
    found = verified(relu_of_sum, subgraph((64, 48, 32)), candidate=worker, work_s=1e-4)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    elements = [math.prod(each[0]) for each in worker.given[1:]]
    assert elements[0] <= 64 * 48 * 32 / 8
    assert elements[-1] >= 4 * elements[0]


def test_time_that_a_candidate_takes_does_not_reduce_sizes() -> None:
    slept: list[float] = []

    def sleeping(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if not slept:
            slept.append(3.0)
            time.sleep(3.0)
        return relu_of_sum(a, b)

    found = verified(sleeping, subgraph((64, 48, 32)), work_s=1e-9)
    assert slept
    assert found.accuracy is not None
    assert found.accuracy.reduced == ""
    assert set(INPUT_DRAWS) <= set(found.accuracy.profiles)


def test_smaller_sizes_keep_the_computation_valid() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, x, weight, bias):
        a = torch.nn.functional.layer_norm(x, (768,), weight, bias, 1e-05)
        b = a.transpose(1, 2)
        return (b,)
"""
    specs = (
        TensorSpec("x", (32, 197, 768), "float32"),
        TensorSpec("weight", (768,), "float32"),
        TensorSpec("bias", (768,), "float32"),
    )
    steps = sizes.smaller(parse(code), specs, {})
    assert [step.shapes[0][-1] for step in steps] == [768] * len(steps)
    assert steps[-1].elements <= sizes.PROBE_ELEMENTS
    elements = [step.elements for step in steps]
    assert elements == sorted(elements, reverse=True)
    assert torch.is_grad_enabled()


def test_a_table_keeps_its_length_also_if_the_graph_computes_the_index() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, ids, table):
        a = torch.cumsum(ids.ne(1), dim=1)
        b = torch.nn.functional.embedding(a, table)
        return (b,)
"""
    specs = (TensorSpec("ids", (64, 128), "int64", low=2, high=9), TensorSpec("table", (512, 768), "float32"))
    known = roles(parse(code), specs)
    _, small = sizes.small_shapes(parse(code), specs, known)
    assert small[0] == 512 > small[1]
    steps = sizes.smaller(parse(code), specs, known)
    assert {step.shapes[1][0] for step in steps} == {512}
    assert steps[-1].shapes[0] < (64, 128)


@pytest.mark.parametrize(
    ("call", "fitting", "misfits"),
    [
        (
            "conv1d(x, weight, bias, (1,), (1,), (1,), 1)",
            ((1, 64, 64), (2, 64, 3), (2,)),
            [((1, 64, 64), (2, 64, 3), (24576,))],
        ),
        (
            "conv1d(x, weight, bias, (1,), (0,), (1,), groups=4)",
            ((1, 64, 9), (8, 16, 1), (8,)),
            [((1, 64, 9), (2, 16, 1), (2,)), ((1, 64, 9), (6, 16, 1), (6,))],
        ),
        (
            "conv_transpose1d(x, weight, bias, (8,), (4,), (0,), 2, (1,))",
            ((2, 6, 9), (6, 4, 16), (8,)),
            [((2, 6, 9), (6, 4, 16), (4,)), ((2, 4, 9), (6, 4, 16), (8,)), ((2, 5, 9), (5, 4, 16), (8,))],
        ),
    ],
)
def test_the_sizes_of_a_convolution_fit_each_other(
    call: str, fitting: sizes.Shapes, misfits: list[sizes.Shapes]
) -> None:
    """Meta tensors let pass what eager refuses."""
    graph = parse(f"""
import torch

class GraphModule(torch.nn.Module):
    def forward(self, x, weight, bias):
        tmp_0 = torch.{call}
        return (tmp_0,)
""")
    specs = tuple(TensorSpec(name, shape, "float32") for name, shape in zip(("x", "weight", "bias"), fitting))
    probe = sizes.Probe(graph, specs, {})
    assert probe.form(fitting) == ((3, torch.float32),)
    module = modules.module_of(graph, {})
    for shapes in misfits:
        assert probe.form(shapes) is None
        with pytest.raises(RuntimeError):
            module(*map(torch.ones, shapes))


def test_views_join_the_axes_that_they_join_at_the_recorded_sizes() -> None:
    """Elsewhere x.view(4, 16, -1, 64) would run too, and mean something else."""
    graph = parse("""
import torch

class GraphModule(torch.nn.Module):
    def forward(self, x):
        tmp_0 = x.view(4, 16, -1, 64)
        tmp_1 = tmp_0.transpose(1, 2)
        return (tmp_1,)
""")
    specs = (TensorSpec("x", (4, 16, 2048), "float32"),)
    steps = sizes.smaller(graph, specs, {})
    assert [step.shapes for step in steps] == [((4, 16, 1024),), ((4, 16, 512),), ((4, 16, 256),), ((4, 16, 128),)]
    assert {step.shapes[0][:2] for step in steps} == {(4, 16)}
    assert sizes.small_shapes(graph, specs, {}) == ((4, 16, 128),)


def test_convolutions_keep_their_windows() -> None:
    graph = parse("""
import torch

class GraphModule(torch.nn.Module):
    def forward(self, x, weight):
        tmp_0 = torch.conv1d(x, weight, None, (1,), (0,), (1,), 1)
        return (tmp_0,)
""")
    specs = (TensorSpec("x", (64, 8, 512), "float32"), TensorSpec("weight", (8, 8, 16), "float32"))
    steps = sizes.smaller(graph, specs, {})
    assert steps[-1].elements < steps[0].elements
    assert {step.shapes[1][2] for step in steps} == {16}


def test_an_image_with_rows_put_before_it_shrinks_as_a_whole() -> None:
    graph = parse("""
import torch

class GraphModule(torch.nn.Module):
    def forward(self, image, first, places):
        tmp_0 = image.flatten(2)
        tmp_1 = tmp_0.transpose(1, 2)
        tmp_2 = torch.cat((first, tmp_1), dim=1)
        tmp_3 = tmp_2 + places
        tmp_4 = torch.nn.functional.layer_norm(tmp_3, (768,))
        return (tmp_4,)
""")
    shapes = {"image": (2, 768, 12, 101), "first": (2, 2, 768), "places": (1, 1214, 768)}
    specs = tuple(TensorSpec(name, shape, "float32") for name, shape in shapes.items())
    *_, least = sizes.smaller(graph, specs, {})
    (_, _, high, wide), _, (_, together, _) = least.shapes
    assert least.elements < 2 * sizes.PROBE_ELEMENTS
    assert together == high * wide + 2 < 1214


def test_what_is_taken_out_of_a_table_counts() -> None:
    graph = parse("""
import torch

class GraphModule(torch.nn.Module):
    def forward(self, table, index):
        tmp_0 = table[index]
        return (tmp_0,)
""")
    specs = (TensorSpec("table", (512, 1024), "float32"), TensorSpec("index", (4096,), "int64", low=0, high=511))
    known = roles(graph, specs)
    assert sizes.computed(specs, ((512, 1024), (4096,)), known) == 4096 + 4096 * 1024
    *_, least = sizes.smaller(graph, specs, known)
    assert least.shapes[0][0] == 512
    assert math.prod(least.shapes[1]) * least.shapes[0][1] <= sizes.PROBE_ELEMENTS


def test_no_axis_shrinks_to_save_little() -> None:
    """Weights that cannot shrink are most of the elements, and sums over two elements of an image say little."""
    graph = parse("""
import torch

class GraphModule(torch.nn.Module):
    def forward(self, image, weight):
        tmp_0 = torch.nn.functional.batch_norm(weight.reshape(1, 64, -1), None, None, training=True, eps=1e-08)
        tmp_1 = torch.conv2d(image, tmp_0.reshape_as(weight), None, (1, 1), (1, 1), (1, 1), 1)
        return (tmp_1,)
""")
    specs = (TensorSpec("image", (32, 64, 56, 56), "float32"), TensorSpec("weight", (64, 64, 3, 3), "float32"))
    *_, least = sizes.smaller(graph, specs, {})
    assert least.shapes[1] == (64, 64, 3, 3)
    assert min(least.shapes[0]) >= 2
    assert math.prod(least.shapes[0]) >= sizes.LEAST_SAVED * least.elements / 2


def test_sizes_that_are_such_a_sum_by_chance_shrink_alone() -> None:
    specs = (TensorSpec("x", (32, 64, 2049), "float32"),)
    code = ADD_RELU.replace("in_0, in_1", "x").replace("in_0 + in_1", "torch.tanh(x)").replace("in_0 = in_1", "x")
    *_, least = sizes.smaller(parse(code), specs, {})
    assert least.elements <= sizes.PROBE_ELEMENTS
