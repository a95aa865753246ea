"""The sweep of operations: each one that it calls known is built, each one that it calls refused has a reason."""

from pathlib import Path

import pytest

from passnet_core.errors import BadInput
from passnet_core.fx import modules, signatures
from passnet_core.fx.refused_operations import Reason
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from tools import operations

CODE = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = in_0.__eq__(0)
        b = a.size()
        c = torch.load(b)
        return (c,)
"""
META = """
class Program_weight_tensor_meta_in_0:
    name = "in_0"
    shape = [2]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.0
    std = 1.0
    data = None
"""


def calling(name: str) -> Graph:
    """A graph whose only operation is this one."""
    space, _, member = name.rpartition(".")
    called = (NodeKind.METHOD, member) if space == "Tensor" else (NodeKind.CALL, name)
    return Graph((Node("x", NodeKind.INPUT, ""), Node("y", *called, (Ref("x"),))), Ref("y"))


def test_every_offered_operation_is_built_or_refused_for_a_stated_reason() -> None:
    for name in operations.offered():
        reason = operations.refusal(name)
        assert reason is not Reason.UNKNOWN, name
        if reason is None:
            modules.module_of(calling(name), {})
        else:
            with pytest.raises(BadInput, match="is not"):
                modules.module_of(calling(name), {})


def test_what_is_private_is_refused_unless_it_is_listed() -> None:
    private = [name for name in operations.offered() if name.startswith("torch._") and name.count(".") == 1]
    known = {name.removeprefix("torch.") for name in private if operations.refusal(name) is None}
    assert known == signatures.UNDERSCORED


def test_the_table_counts_subgraphs_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = tmp_path / "loading"
    task.mkdir()
    (task / "model.py").write_text(CODE)
    (task / "weight_meta.py").write_text(META)
    assert operations.main(["--tasks", str(tmp_path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    found = {row.split()[1]: row.split(maxsplit=2) for row in rows if row[:9].strip().isdigit() and len(row) > 60}
    assert found["torch.load"] == ["1", "torch.load", "no: reads or writes files"]
    assert int(found["operator.eq"][0]) >= 1
    assert found["torch.nn.functional.relu"][2] == "yes"
    assert found["Tensor.numpy"] == ["0", "Tensor.numpy", "no: reaches raw memory"]
    assert rows[-1].endswith("subgraphs 0 cannot be read; uses of refused operations: 1.")
    assert operations.main(["--tasks", str(tmp_path), "--refused"]) == 0
    assert "  yes" not in capsys.readouterr().out
