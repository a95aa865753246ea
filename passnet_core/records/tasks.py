"""Tasks, their subgraphs, and the inputs of subgraphs."""

import math
import re
from dataclasses import dataclass
from functools import cached_property

from passnet_core.errors import UnknownItem
from passnet_core.records.codec import digest_of, to_json, whole
from passnet_core.records.enums import Device, Family

OF_A_MODULE = re.compile(r"(^|_)self_(\w+_)?(parameters|buffers)_", re.IGNORECASE)
"""How a capture names what belongs to a module, such as L_self_modules_norm_parameters_weight_."""


@dataclass(frozen=True)
class TensorSpec:
    """One input of a subgraph, as it was recorded. None means that the property was not recorded.

    dtype: without "torch.". mean, std, low, high: statistics of the values; low and high bound the values.
    data: all values, in row-major order. original_name: the name in the source model."""

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

    @property
    def is_of_a_module(self) -> bool:
        """Whether its original name is that of a parameter or buffer."""
        return OF_A_MODULE.search(self.original_name) is not None


@dataclass(frozen=True)
class Subgraph:
    """One recorded PyTorch computation.

    id: unique in its task; also its folder below graphs/, such as "float16/3/name". source_model: the model that it was
    captured from. code: the source of a GraphModule. inputs: in the order of forward's arguments."""

    id: str
    task_id: str
    source_model: str
    code: str
    inputs: tuple[TensorSpec, ...]

    @cached_property
    def digest(self) -> str:
        """The subgraph's identity: it covers the code and the inputs, not id, task_id or source_model."""
        return digest_of({"code": self.code, "inputs": whole(to_json(self.inputs))})

    @property
    def dtype(self) -> str:
        """The floating-point dtype with the most input elements; without one, the first input's; without inputs, ""."""
        sizes: dict[str, int] = {}
        for spec in self.inputs:
            if "float" in spec.dtype:
                sizes[spec.dtype] = sizes.get(spec.dtype, 0) + math.prod(spec.shape)
        return max(sizes, key=lambda dtype: sizes[dtype]) if sizes else (self.inputs[0].dtype if self.inputs else "")


@dataclass(frozen=True)
class JudgedSubgraph:
    """A subgraph on which the judge has accepted a bundle. devices: where. passes: those of the bundle's passes that
    were judged on it, named without ".py"; empty: all."""

    subgraph: Subgraph
    devices: tuple[Device, ...]
    passes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """The unit of the benchmark: subgraphs with the same operations, all of which one bundle must handle.
    split: the part of the benchmark that the task belongs to, such as "train" or "eval"."""

    id: str
    family: Family
    split: str
    subgraphs: tuple[Subgraph, ...]

    def subgraph(self, subgraph_id: str) -> Subgraph:
        """Return the subgraph with this id. Raises UnknownItem, naming some that exist."""
        for each in self.subgraphs:
            if each.id == subgraph_id:
                return each
        some = ", ".join(each.id for each in self.subgraphs[:3])
        raise UnknownItem(f"Task {self.id!r} has no subgraph {subgraph_id!r}. It has {some}, …")
