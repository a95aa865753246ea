"""Computes a graph node by node with torch, and tells what every node gave. Needs torch when called."""

import importlib
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from passnet_core.corpus.cutting import PRODUCTS, label
from passnet_core.errors import BadInput
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Symbol, Value
from passnet_core.graphs.placement import placed
from passnet_core.records import TensorSpec

FAILURES = (RuntimeError, ValueError, TypeError, IndexError, AttributeError, AssertionError, MemoryError, LookupError)
"""What torch raises for what it cannot compute."""

Specs = dict[str, TensorSpec | None]
"""Per node what its value is; None for one that is no tensor."""

MASKING = 1e4
"""Masks hold constants near the end of the range, which say nothing about the spread of the rest."""


def evaluate(graph: Graph, inputs: Mapping[str, Any], note: Callable[[str, Any], object]) -> None:
    """Computes all operations on the CPU, in order, without gradients. note: told each node's name and value at the
    moment it is made, so that later writes do not blur it. A value that nobody reads any more is given up.

    inputs: by name of the input nodes. Raises one of FAILURES where an operation cannot be computed, BadInput where it
    is none of torch's.
    """
    import torch

    here = placed(graph, "cpu")
    left = Counter(name for node in here.operations for name in set(node.inputs))
    values: dict[str, Any] = {}
    with torch.no_grad():
        for node in here.nodes:
            value = inputs[node.name] if node.kind is NodeKind.INPUT else _called(node, values)
            note(node.name, value)
            values[node.name] = value
            for name in set(node.inputs):
                left[name] -= 1
                if not left[name]:
                    del values[name]


def _called(node: Node, values: Mapping[str, Any]) -> Any:
    args = [_plain(value, values) for value in node.args]
    kwargs = {name: _plain(value, values) for name, value in node.kwargs}
    if node.kind is NodeKind.METHOD:
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    function = _named(node.target)
    return in_single_precision(function, args, kwargs) if label(node) in PRODUCTS else function(*args, **kwargs)


def _plain(value: Value, values: Mapping[str, Any]) -> Any:
    match value:
        case Ref(name):
            return values[name]
        case Symbol(path):
            return _named(path)
        case DeviceLiteral(kind, index):
            import torch

            return torch.device(kind) if index is None else torch.device(kind, index)
        case Slice(start, stop, step):
            return slice(*(_plain(each, values) for each in (start, stop, step)))
        case Listed(items):
            return [_plain(each, values) for each in items]
        case tuple():
            return tuple(_plain(each, values) for each in value)
    return value


def _named(path: str) -> Any:
    """What a dotted path names, of torch, operator, math or the builtins."""
    first, *rest = path.split(".")
    if first not in ("torch", "operator", "math", "builtins"):
        raise BadInput(f"{path} is none of torch's operations.")
    found: Any = importlib.import_module(first)
    for name in rest:
        found = getattr(found, name)
    return found


def in_single_precision(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What it gives for float16 or bfloat16, computed in float32 and rounded: half-precision products on a CPU take
    minutes."""
    import torch
    import torch.utils._pytree as pytree

    found: set[Any] = set()

    def widened(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16):
            found.add(value.dtype)
            return value.float()
        return value

    result = function(*pytree.tree_map(widened, args), **pytree.tree_map(widened, kwargs))
    single = isinstance(result, torch.Tensor) and result.dtype is torch.float32
    return result.to(found.pop()) if single and len(found) == 1 else result


def spec_of(name: str, tensor: Any) -> TensorSpec:
    """The tensor's shape, dtype and statistics, as met."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    mean = std = low = high = None
    if tensor.numel() and tensor.is_floating_point():
        wide = tensor.detach().double()
        ordinary = wide[wide.abs() < MASKING]
        mean = _rounded(ordinary.mean().item()) if ordinary.numel() else 0.0
        std = _rounded(ordinary.std(correction=0).item()) if ordinary.numel() else 0.0
        low = 0.0 if "running_var" in name else None
    elif tensor.numel() and dtype != "bool" and not tensor.is_complex():
        low, high = float(tensor.min().item()), float(tensor.max().item())
    return TensorSpec(name, tuple(tensor.shape), dtype, "cuda:0", mean, std, low, high)


def foreseen_spec(name: str, tensor: Any) -> TensorSpec:
    """The tensor's shape and dtype, where its values are not known: they are taken to be normal, whole numbers 0."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.is_floating_point():
        return TensorSpec(name, tuple(tensor.shape), dtype, "cuda:0", 0.0, 1.0)
    whole = dtype != "bool" and not tensor.is_complex()
    return TensorSpec(name, tuple(tensor.shape), dtype, "cuda:0", None, None, *((0.0, 0.0) if whole else ()))


def _rounded(number: float) -> float:
    return float(f"{number:.6g}") if math.isfinite(number) else 0.0
