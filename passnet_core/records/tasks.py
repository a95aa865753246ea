"""What is judged on: tasks, their subgraphs and those' inputs."""

import math
from dataclasses import dataclass
from functools import cached_property

from passnet_core.errors import UnknownItem
from passnet_core.records.codec import digest_of, to_json, whole
from passnet_core.records.enums import Family


@dataclass(frozen=True)
class TensorSpec:
    """One input of a subgraph. dtype without "torch."; low, high and data as recorded, or None."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str = "cuda:0"
    mean: float | None = None
    std: float | None = None
    low: float | None = None
    high: float | None = None
    data: tuple[float, ...] | None = None
    original_name: str = ""


@dataclass(frozen=True)
class Subgraph:
    """One recorded PyTorch computation. id is unique in its task and is its folder below graphs/, "float16/3/name"."""

    id: str
    task_id: str
    source_model: str
    code: str
    inputs: tuple[TensorSpec, ...]

    @cached_property
    def digest(self) -> str:
        """Covers what is computed (code and inputs), not the names."""
        return digest_of({"code": self.code, "inputs": whole(to_json(self.inputs))})

    @property
    def dtype(self) -> str:
        """The floating dtype most of its input elements have, else that of the first input."""
        sizes: dict[str, int] = {}
        for spec in self.inputs:
            if "float" in spec.dtype:
                sizes[spec.dtype] = sizes.get(spec.dtype, 0) + math.prod(spec.shape)
        return max(sizes, key=lambda dtype: sizes[dtype]) if sizes else (self.inputs[0].dtype if self.inputs else "")


@dataclass(frozen=True)
class Task:
    """One benchmark unit: the subgraphs that one bundle must handle together."""

    id: str
    family: Family
    split: str
    subgraphs: tuple[Subgraph, ...]

    def subgraph(self, subgraph_id: str) -> Subgraph:
        """The subgraph with this id. Raises UnknownItem, which names some that exist."""
        for each in self.subgraphs:
            if each.id == subgraph_id:
                return each
        some = ", ".join(each.id for each in self.subgraphs[:3])
        raise UnknownItem(f"Task {self.id!r} has no subgraph {subgraph_id!r}. It has {some}, …")
