"""Inspections on a GPU: TorchInductor's code, compiled kernels, and a description of the GPU."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from passnet_core.execution.backends.base import CompileKernels, InspectSubgraph
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.graphs import aligning
from passnet_core.records import (
    Bundle,
    Device,
    EvalSpec,
    Job,
    PassFile,
    Stage,
    Subgraph,
    TensorForm,
    TensorSpec,
    Verdict,
)

pytestmark = pytest.mark.gpu

SOURCE = """
import torch
from torch import device
class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1;  in_0 = in_1 = None
        tmp_1 = torch.arange(33, device=device(type='cuda', index=0))
        tmp_2 = torch.nn.functional.relu(tmp_0, inplace = False);  tmp_0 = None
        tmp_3 = tmp_2 * tmp_1
        tmp_4 = tmp_3 @ tmp_3.transpose(0, 1)
        return (tmp_4,)
"""


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[LocalBackend]:
    made = LocalBackend(sys.executable, "auto", tmp_path, checkers=0)
    yield made
    made.close()


def test_inductors_triton_code_names_the_nodes_of_the_subgraph(backend: LocalBackend) -> None:
    inputs = tuple(TensorSpec(name, (4, 33), "float32", mean=0.0, std=1.0) for name in ("in_0", "in_1"))
    asked = Subgraph("float32/0", "add-relu", "none", SOURCE, inputs)
    for _ in range(2):
        found = backend.inspect(InspectSubgraph(asked, Device.CUDA, with_code=True), threading.Event())
        assert (found.values_problem, found.code_problem) == ("", "")
        values = {each.node: each.tensors for each in found.values}
        assert values["tmp_1"] == (TensorForm((33,), "int64"),)
        assert values["tmp_4"] == (TensorForm((4, 4), "float32"),)
        assert found.code is not None
        assert (found.code.launches, found.code.library_calls) == (1, 1)
        assert "@triton.jit" in found.code.text
        assert "Source Nodes: [tmp_0" in found.code.text
        assert str(backend.home) not in found.code.text
        assert found.accelerator is not None
        assert found.accelerator.multiprocessors > 0
        assert found.accelerator.memory_bytes > 1 << 30
        assert found.accelerator.bytes_per_us > 1e3


PASS = """
import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def rectified(x):
    return tl.where(x > 0, x, 0.0)


CONFIGS = [triton.Config({"BLOCK": 128}, num_warps=2), triton.Config({"BLOCK": 256}, num_warps=4)]


@triton.autotune(CONFIGS, key=["count"])
@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    total = tl.load(a_ptr + at, mask=inside) + tl.load(b_ptr + at, mask=inside)
    tl.store(out_ptr + at, rectified(total), mask=inside)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    add_relu_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](a, b, out, count)
    return out


def replacement_func():
    return add_relu
"""


def of(code: str) -> Bundle:
    return Bundle((PassFile("add_relu.py", code),))


def test_the_compiled_kernels_of_a_pass_are_those_that_ran(backend: LocalBackend) -> None:
    inputs = tuple(TensorSpec(name, (4, 33), "float32", mean=0.0, std=1.0) for name in ("in_0", "in_1"))
    asked = Subgraph("float32/0", "add-relu", "none", SOURCE, inputs)
    job = Job(asked, of(PASS), EvalSpec(stage=Stage.VERIFY, device=Device.CUDA))
    never = threading.Event()
    before = backend.run(job, lambda event: None, never)
    found = backend.inspect(CompileKernels(asked, of(PASS), Device.CUDA), never)
    assert found.problem == ""
    (kernel,) = found.kernels
    assert (kernel.name, kernel.ran, kernel.problem) == ("add_relu_kernel", True, "")
    assert kernel.launches == 1, "launches by the autotuner do not count"
    assert kernel.num_warps in (2, 4)
    assert kernel.registers is not None
    assert kernel.registers > 0
    assert kernel.spills == 0
    assert kernel.shared_bytes is not None
    assert "tt.func public @add_relu_kernel" in kernel.ttir
    assert "ttg.num-warps" in kernel.ttgir
    assert ".entry add_relu_kernel" in kernel.ptx
    capability = kernel.target.replace(".", "")
    assert f".target sm_{capability}" in kernel.ptx
    assert str(backend.home) not in kernel.ttir + kernel.ptx
    lines = {place.file_line for place in aligning.of_ptx(kernel.ptx, {"add_relu.py"})}
    assert lines <= set(range(1, len(PASS.splitlines()) + 1))
    assert lines
    assert aligning.of_triton_ir(kernel.ttir, {"add_relu.py"})
    after = backend.run(job, lambda event: None, never)
    assert before.verdict is after.verdict is Verdict.VALUES_ONLY, (before.reason, after.reason)


def test_a_sentence_says_why_there_are_no_kernels_on_a_gpu(backend: LocalBackend) -> None:
    inputs = tuple(TensorSpec(name, (4, 33), "float32", mean=0.0, std=1.0) for name in ("in_0", "in_1"))
    asked = Subgraph("float32/0", "add-relu", "none", SOURCE, inputs)
    for code, said in (
        (PASS.replace("rectified(total)", "tl.no_such_thing(total)"), "no_such_thing"),
        (PASS.replace("relu(a + b)", "silu(a + b)"), "No pass matches"),
    ):
        found = backend.inspect(CompileKernels(asked, of(code), Device.CUDA), threading.Event())
        assert found.kernels == ()
        assert said in found.problem
