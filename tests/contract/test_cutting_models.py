"""The command corpus cut splits captured models into tasks, in a sandbox."""

import io
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from passnet_core.cli.main import main
from passnet_core.corpus.catalogue import Corpus
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import Family
from passnet_core.settings import Settings

pytestmark = [pytest.mark.settled, pytest.mark.long, pytest.mark.skipif(not find_spec("torch"), reason="no torch")]

MODEL = """import torch
from torch import device

class GraphModule(torch.nn.Module):
    def forward(self, s0 : torch.SymInt, L_x_ : torch.Tensor, L_weight_ : torch.nn.parameter.Parameter,
                L_scale_ : torch.nn.parameter.Parameter):
        size = L_x_.size()
        rows = size[0]
        hidden = torch._C._nn.linear(L_x_, L_weight_, None)
        active = torch.nn.functional.gelu(hidden)
        wide = active.view(rows, s0, 16)
        scaled = wide / 8
        soft = torch.nn.functional.softmax(scaled, dim=-1)
        product = torch.matmul(soft, wide.transpose(1, 2))
        flat = product.sum(dim=-1)
        normal = torch.nn.functional.layer_norm(flat, (4,), L_scale_, None, 1e-05)
        return (normal,)
"""

WHOLE = ("linear", "gelu", "view", "div", "softmax", "transpose")

INPUT = '''class Program_weight_tensor_meta_L_{name}_:
    name = "L_{name}_"
    shape = {shape}
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 2.0
    std = 0.5
    data = None
'''  # fmt: skip

SIZES = """from sympy import Symbol

S0 = Symbol("S0", integer=True, positive=True)

dynamic_dim_constraint_symbols = [S0]

dynamic_dim_constraint_symbol2example_value = {S0: 4}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = []
"""


def sample(folder: Path, code: str = MODEL) -> None:
    """Write a captured model as GraphNet stores it."""
    folder.mkdir(parents=True)
    folder.joinpath("model.py").write_text(code)
    shapes = {"x": [3, 32], "weight": [64, 32], "scale": [4]}
    folder.joinpath("weight_meta.py").write_text(
        "\n\n".join(INPUT.format(name=name, shape=shape) for name, shape in shapes.items())
    )
    folder.joinpath("input_tensor_constraints.py").write_text(SIZES)


def command(home: Path, *argv: str, python: str = sys.executable) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    settings = Settings(home, home / "data", Path(python))
    code = main(["corpus", *argv], out=out, err=err, settings=settings)
    return code, out.getvalue(), err.getvalue()


def test_each_part_of_whole_models_becomes_one_task_and_a_model_that_cannot_be_cut_is_reported(tmp_path: Path) -> None:
    secret = tmp_path / "secret.pt"
    secret.write_bytes(b"not to be read")
    sample(tmp_path / "failing" / "broken", MODEL.replace("(1, 2)", "(1, 7)"))
    sample(tmp_path / "failing" / "curious", MODEL.replace("L_x_.size()", f"torch.load({str(secret)!r})"))
    sample(tmp_path / "failing" / "foreign", MODEL.replace("L_x_.size()", "os.listdir('/')"))
    sample(tmp_path / "models" / "first")
    sample(tmp_path / "models" / "second", MODEL.replace("/ 8", "/ 4"))
    home = tmp_path / "home"
    code, out, err = command(home, "cut", str(tmp_path / "failing"), str(tmp_path / "models"))
    assert code == 0
    assert "Cut 2 models." in out
    told = sorted(line.removeprefix("Warning: left out: ") for line in err.splitlines())
    assert [line.split("/")[0] for line in told] == ["broken", "curious", "foreign"]
    assert "The model does not run: IndexError: Dimension out of range" in told[0]
    assert "No such file" in told[1], "the sandbox shows no file of the user"
    corpus = Corpus([home / "tasks"])
    assert corpus.problems == ()
    fusible = {task.operators: task for task in corpus.tasks() if task.family is Family.FUSIBLE}
    assert WHOLE in fusible
    members = corpus.task(fusible[WHOLE].id).subgraphs
    assert {each.source_model for each in members} == {"first", "second"}
    assert {each.id.split("/")[0] for each in members} == {"float32"}
    # symbolic sizes became numbers, and statistics were recorded when the model ran
    assert "view(3, 4, 16)" in members[0].code
    sums = next(task for task in corpus.tasks() if task.operators == ("sum",))
    (recorded,) = corpus.task(sums.id).subgraphs[0].inputs
    assert recorded.shape == (3, 4, 4)
    assert recorded.mean
    assert recorded.std
    for task in corpus.tasks():
        for each in corpus.task(task.id).subgraphs:
            assert operator_sequence(parse(each.code)) == task.operators

    # models are not cut twice: this would fail, because the Python does not exist
    sample(tmp_path / "more" / "third", MODEL.replace("softmax(scaled", "tanh(scaled"))
    code, out, err = command(home, "cut", str(tmp_path / "models"), python="/nonexistent")
    assert (code, err) == (0, "")
    assert f"The corpus now has {len(corpus.tasks())} tasks" in out


VMAP = MODEL.replace(
    "        active = torch",
    """        lazy = torch._functorch.vmap.lazy_load_decompositions()
        nest = torch._C._functorch._vmap_increment_nesting(3, 'error')
        row = torch._C._functorch._add_batch_dim(L_x_, 0, 1)
        doubled = row * 2.0
        low = torch.arange(32, device='cuda') <= doubled
        mask = torch._C._functorch._remove_batch_dim(low, 1, 3, 0)
        unnest = torch._C._functorch._vmap_decrement_nesting()
        kept = L_x_.masked_fill(mask, 0.0)
        positive = torch.relu(kept)
        active = torch""",
).replace("return (normal,)", "return (normal, positive)")


def test_a_region_of_vmap_is_left_out_and_the_rest_is_cut(tmp_path: Path) -> None:
    sample(tmp_path / "vmap", VMAP)
    code, _, err = command(tmp_path / "home", "cut", str(tmp_path / "vmap"))
    assert (code, err) == (0, "")
    corpus = Corpus([tmp_path / "home" / "tasks"])
    found = {
        operator_sequence(parse(subgraph.code))
        for each in corpus.tasks()
        for subgraph in corpus.task(each.id).subgraphs
    }
    assert {("masked_fill",), ("relu",), WHOLE} <= found
    assert not any({"_add_batch_dim", "le", "arange", "_remove_batch_dim"} & set(labels) for labels in found)


def test_a_model_that_exceeds_the_time_limit_is_left_out(tmp_path: Path) -> None:
    sample(tmp_path / "models" / "slow")
    code, _, err = command(tmp_path / "home", "cut", "--limit", "0.2", str(tmp_path / "models"))
    assert code == 2
    assert "slow/slow: The time limit of 0 s was exceeded." in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--limit", "0", "nothing"), "--limit must be above 0"),
        (("nothing",), "neither a task of this corpus nor a folder"),
    ],
)
def test_wrong_arguments_of_cut_are_explained(argv: tuple[str, ...], message: str, tmp_path: Path) -> None:
    code, _, err = command(tmp_path / "home", "cut", *argv)
    assert code == 2
    assert message in err
