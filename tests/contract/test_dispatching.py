"""Modes that see every operator of a call do not make torch load its compiler, which would take seconds per worker."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.contract.interpreted import run_interpreted

SCRIPT = """
import sys
from passnet_core.judge.plan.operations import DispatchedOperations
from passnet_core.judge.worker.moving import moved
from passnet_core.judge.gpu_on_cpu.sampling import ZeroedMemory

x = torch.ones(4, dtype=torch.bfloat16)
assert not torch.equal(moved(lambda x: x * 3)(x), x * 3)
with ZeroedMemory():
    assert torch.empty(4).tolist() == [0, 0, 0, 0]
seen = []
with DispatchedOperations(lambda each: seen.append(each.name)):
    x * 3
assert seen == ["aten::mul.Tensor"], seen
assert "torch._dynamo" not in sys.modules
"""


def test_no_mode_loads_the_compiler(tmp_path: Path) -> None:
    run_interpreted(SCRIPT, tmp_path)
