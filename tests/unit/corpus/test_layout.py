"""PassNet's folders: what is written reads the same, what real folders lack is done without, what is wrong is named."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from passnet_core.corpus.layout import read_task, write_task
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import Family, TensorSpec
from tests.unit.corpus.samples import CODE, sample_folder, sample_task


def subgraph_folder(task: Path) -> Path:
    return task / (task / "graph_list.txt").read_text().splitlines()[0]


def test_what_is_written_reads_the_same(tmp_path: Path) -> None:
    task = sample_task()
    write_task(task, tmp_path / task.id)
    assert read_task(tmp_path / task.id) == task


def test_the_layout_is_passnets(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path)
    assert (folder / "graph_list.txt").read_text().splitlines() == [
        "graphs/float32/0/model_op0",
        "graphs/bfloat16/1/model_op1",
    ]
    assert {path.name for path in subgraph_folder(folder).iterdir()} == {
        "model.py",
        "weight_meta.py",
        "input_meta.py",
        "graph_net.json",
        "graph_hash.txt",
    }


def test_only_model_and_weights_are_needed(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path, count=1)
    (folder / "task.json").unlink()
    for name in ("input_meta.py", "graph_net.json", "graph_hash.txt"):
        (subgraph_folder(folder) / name).unlink()
    task = read_task(folder)
    assert task.split == "imported"
    assert task.family is Family.FUSIBLE
    assert task.subgraphs[0].source_model == "model_op0"
    assert task.subgraphs[0].inputs == sample_task().subgraphs[0].inputs


def test_empty_optional_files_count_as_missing(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path, count=1)
    for name in ("input_meta.py", "graph_net.json", "graph_hash.txt"):
        (subgraph_folder(folder) / name).write_text("")
    assert read_task(folder).subgraphs[0].source_model == "model_op0"


def test_without_a_list_every_subgraph_is_read(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path)
    (folder / "graph_list.txt").unlink()
    assert {each.id for each in read_task(folder).subgraphs} == {"float32/0/model_op0", "bfloat16/1/model_op1"}


def test_a_lone_subgraph_is_a_task_of_one(tmp_path: Path) -> None:
    shutil.copytree(subgraph_folder(sample_folder(tmp_path)), tmp_path / "lone")
    task = read_task(tmp_path / "lone")
    assert [each.id for each in task.subgraphs] == ["lone"]
    assert task.id == "lone"


def test_inputs_come_in_the_order_of_forward_from_both_files(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path, count=1)
    place = subgraph_folder(folder)
    entry = 'class Program_weight_tensor_meta_{0}:\n\tname = "{0}"\n\tshape = [{1}]\n\tdtype = "torch.float32"\n'
    (place / "weight_meta.py").write_text(entry.format("in_1", 8) + entry.format("unused", 3))
    (place / "input_meta.py").write_text(entry.format("in_0", 4))
    assert [(each.name, each.shape) for each in read_task(folder).subgraphs[0].inputs] == [
        ("in_0", (4,)),
        ("in_1", (8,)),
    ]


def test_symbolic_sizes_take_their_example_value(tmp_path: Path) -> None:
    (tmp_path / "lone").mkdir()
    (tmp_path / "lone" / "model.py").write_text(
        "import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, s1: torch.SymInt):\n"
        "        tmp_0 = torch.arange(s1)\n        return (tmp_0,)\n"
    )
    (tmp_path / "lone" / "input_tensor_constraints.py").write_text(
        "dynamic_dim_constraint_symbol2example_value = {S1: 12}\n"
    )
    assert read_task(tmp_path / "lone").subgraphs[0].inputs == (TensorSpec("s1", (), "int64", data=(12.0,)),)


def test_a_call_that_only_logs_does_not_count_for_the_family(tmp_path: Path) -> None:
    code = """import torch

class GraphModule(torch.nn.Module):

    def forward(self):
        _log_api_usage_once = torch._C._log_api_usage_once("arange");  _log_api_usage_once = None
        tmp_0 = torch.arange(4);  unused = None
        return (tmp_0,)
"""
    (tmp_path / "model.py").write_text(code)
    assert read_task(tmp_path).family is Family.SINGLE


def test_a_graph_without_inputs(tmp_path: Path) -> None:
    (tmp_path / "lone").mkdir()
    (tmp_path / "lone" / "model.py").write_text(
        "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, ):\n"
        "        tmp_0 = torch.arange(14)\n        return (tmp_0,)\n"
    )
    task = read_task(tmp_path / "lone")
    assert task.subgraphs[0].inputs == ()
    assert task.family is Family.SINGLE


def no_model(place: Path) -> None:
    (place / "model.py").unlink()


def broken_model(place: Path) -> None:
    (place / "model.py").write_text("class GraphModule(:\n")


def no_forward(place: Path) -> None:
    (place / "model.py").write_text("x = 1\n")


def no_metadata(place: Path) -> None:
    (place / "weight_meta.py").unlink()


def executable_metadata(place: Path) -> None:
    (place / "weight_meta.py").write_text("class A:\n  name = 'in_0'\n  shape = list(range(3))\n")


def described(name: str, shape: str, more: str = "") -> Callable[[Path], None]:
    """Add a description to those of a subgraph."""

    def damage(place: Path) -> None:
        with (place / "weight_meta.py").open("a") as file:
            file.write(f"\n\nclass More:\n    name = {name!r}\n    shape = {shape}\n    dtype = 'torch.int64'\n{more}")

    return damage


def number_described_as_tensor(place: Path) -> None:
    model = place / "model.py"
    model.write_text(model.read_text().replace("self, in_0", "self, s0: torch.SymInt, in_0", 1))
    described("s0", "[2, 3]")(place)


def broken_about(place: Path) -> None:
    (place / "graph_net.json").write_text("{")


def binary_model(place: Path) -> None:
    (place / "model.py").write_bytes(b"\xff\xfe\x00")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (no_model, "add-relu/graphs/float32/0/model_op0 has no model.py"),
        (broken_model, "add-relu/graphs/float32/0/model_op0/model.py line 1 is not Python"),
        (no_forward, "model.py has no class with a forward method"),
        (no_metadata, "forward's argument 'in_0' is described in neither weight_meta.py nor input_meta.py"),
        (executable_metadata, "weight_meta.py line 3: shape is not a literal: list(range(3))"),
        (described("in_0", "[2]"), "weight_meta.py: 'in_0' is described twice, in different ways"),
        (described("in_9", "[2]", "    data = [1, 2, 3]\n"), "'in_9' has 3 values for a tensor of shape [2]"),
        (number_described_as_tensor, "'s0' is a number in model.py, and here a tensor of shape [2, 3]"),
        (broken_about, "graph_net.json is not JSON"),
        (binary_model, "model.py is not UTF-8 text"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: Callable[[Path], None], words: str) -> None:
    folder = sample_folder(tmp_path)
    damage(subgraph_folder(folder))
    with pytest.raises(BadInput) as caught:
        read_task(folder)
    assert words in str(caught.value)


@pytest.mark.parametrize("line", ["../elsewhere", "/etc", "graphs/../../elsewhere"])
def test_a_list_cannot_point_out_of_the_task(tmp_path: Path, line: str) -> None:
    folder = sample_folder(tmp_path)
    (folder / "graph_list.txt").write_text(line + "\n")
    with pytest.raises(BadInput, match="not a path below the task"):
        read_task(folder)


def test_a_link_cannot_lead_out_of_the_task(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path)
    secret = tmp_path / "secret.py"
    secret.write_text(CODE)
    (subgraph_folder(folder) / "model.py").unlink()
    (subgraph_folder(folder) / "model.py").symlink_to(secret)
    with pytest.raises(BadInput, match="leads out of the task's folder"):
        read_task(folder)


def test_what_is_no_task_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no folder"):
        read_task(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"neither graph_list.txt nor model.py"):
        read_task(tmp_path / "empty")


def test_an_unknown_family_is_refused(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path)
    (folder / "task.json").write_text('{"family": "huge", "split": "develop"}')
    with pytest.raises(BadInput, match="single-operator, fusible, typical"):
        read_task(folder)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    folder = sample_folder(tmp_path)
    with pytest.raises(BadInput, match="exists already"):
        write_task(sample_task(), folder)


def test_a_hostile_subgraph_name_is_not_written(tmp_path: Path) -> None:
    task = sample_task()
    hostile = replace(task, subgraphs=(replace(task.subgraphs[0], id="../../escape"),))
    with pytest.raises(BadInput, match="not a path below the task"):
        write_task(hostile, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_the_machines_fault(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot be written"):
        write_task(sample_task(), Path("/proc/none/task"))
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is not a folder"):
        write_task(sample_task(), tmp_path / "file" / "task")
