"""Compute a graph node by node with torch, and describe each node's value. Needs torch when called."""

import functools
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
"""The exceptions that torch raises for an operation that it cannot compute."""

Specs = dict[str, TensorSpec | None]
"""The description of each node's value, by node name; None for a value that is not a tensor."""

MASKING = 1e4
"""Elements of at least this magnitude are left out of statistics: they are the constants of masks, near the dtype's
limits."""


def evaluate(graph: Graph, inputs: Mapping[str, Any], note: Callable[[str, Any], object]) -> None:
    """Compute all operations in order on the CPU, without gradients. A value that no later node reads is freed.

    inputs: by the names of the input nodes. note: called with each node's name and value right after the node is
    computed, before a later in-place operation can change the value. Raises one of FAILURES if an operation cannot be
    computed, BadInput if it is not one of torch's."""
    import torch

    here = placed(graph, "cpu")
    readers_left = Counter(name for node in here.operations for name in set(node.inputs))
    values: dict[str, Any] = {}
    with torch.no_grad():
        for node in here.nodes:
            value = inputs[node.name] if node.kind is NodeKind.INPUT else _called(node, values)
            note(node.name, value)
            values[node.name] = value
            for name in set(node.inputs):
                readers_left[name] -= 1
                if not readers_left[name]:
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
    """Return the object with this dotted path in torch, operator, math or builtins. Raises BadInput for others."""
    first, *rest = path.split(".")
    if first not in ("torch", "operator", "math", "builtins"):
        raise BadInput(f"{path} is not an operation of torch, operator, math or builtins.")
    return functools.reduce(getattr, rest, importlib.import_module(first))


def in_single_precision(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call the function in float32 if its arguments are float16 or bfloat16, and round the result to their dtype.
    Half-precision products on a CPU would take minutes."""
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
    """Return the shape, dtype and statistics of a tensor with values."""
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
    """Return the shape and dtype of a tensor without values, which are assumed to be normal; integers to be 0."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.is_floating_point():
        return TensorSpec(name, tuple(tensor.shape), dtype, "cuda:0", 0.0, 1.0)
    whole = dtype != "bool" and not tensor.is_complex()
    return TensorSpec(name, tuple(tensor.shape), dtype, "cuda:0", None, None, *((0.0, 0.0) if whole else ()))


def _rounded(number: float) -> float:
    return float(f"{number:.6g}") if math.isfinite(number) else 0.0
