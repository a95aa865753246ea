"""What TorchInductor writes for a GPU, and what that GPU is, by the judge that measures on it."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from passnet_core.backends.local import LocalBackend
from passnet_core.records import Device, Subgraph, TensorForm, TensorSpec

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
    made = LocalBackend(sys.executable, "auto", tmp_path, lanes=("run",))
    yield made
    made.close()


def test_inductors_triton_code_names_the_subgraphs_own_nodes(backend: LocalBackend) -> None:
    inputs = tuple(TensorSpec(name, (4, 33), "float32", mean=0.0, std=1.0) for name in ("in_0", "in_1"))
    asked = Subgraph("float32/0", "add-relu", "none", SOURCE, inputs)
    for _ in range(2):
        found = backend.inspect(asked, Device.CUDA, threading.Event(), with_code=True)
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
