"""A small task, and its folder, for the tests of this folder."""

from pathlib import Path

from passnet_core.corpus.layout import write_task
from passnet_core.records import Family, Subgraph, Task, TensorSpec

CODE = """import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1):
        tmp_0 = in_0 + in_1
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace=False)
        return (tmp_1, tmp_0)
"""


def sample_task(name: str = "add-relu", *, count: int = 2) -> Task:
    """A task of the given number of subgraphs, each of another size."""
    subgraphs = []
    for number in range(count):
        dtype = ("float32", "bfloat16")[number % 2]
        shape = (number + 1, 8)
        inputs = (
            TensorSpec("in_0", shape, dtype, mean=0.5, std=1.25, original_name="x"),
            TensorSpec("in_1", (8,), dtype, mean=0.0, std=0.0, low=-1.0, original_name="bias"),
        )
        subgraphs.append(Subgraph(f"{dtype}/{number}/model_op{number}", name, "model", CODE, inputs))
    return Task(name, Family.FUSIBLE, "develop", tuple(subgraphs))


def sample_folder(root: Path, name: str = "add-relu", *, count: int = 2) -> Path:
    """The same on disk."""
    write_task(sample_task(name, count=count), root / name)
    return root / name
