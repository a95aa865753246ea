"""Run recorded subgraphs with torch: their source as a callable, and random inputs that resemble the recorded ones.

Needs torch when called."""

import math
from typing import Any

from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import emit, parse
from passnet_core.records import Subgraph, TensorSpec

BLOCK = 1 << 20
"""The most random numbers drawn for a tensor; a larger tensor repeats them."""


def module_of(subgraph: Subgraph, device: str) -> Any:
    """Return the subgraph's GraphModule, to be called with inputs on this device ("cpu" or "cuda")."""
    namespace: dict[str, Any] = {}
    # only parsed and re-emitted source is executed: a list of tensor operations, whatever else the file contains
    exec(compile(emit(placed(parse(subgraph.code), device), release=True), subgraph.id, "exec"), namespace)
    return namespace["GraphModule"]()


def empty(spec: TensorSpec, device: str = "cpu") -> Any:
    """Return a tensor with the recorded shape and dtype."""
    import torch

    return torch.empty(spec.shape, dtype=getattr(torch, spec.dtype), device=device)


def drawn(spec: TensorSpec, device: str) -> Any:
    """Return a random tensor with the recorded shape, dtype, mean, standard deviation and range."""
    import torch

    dtype, count = getattr(torch, spec.dtype), math.prod(spec.shape)
    block = min(count, BLOCK)
    if dtype is torch.bool:
        values = torch.rand(block, device=device) < 0.5
    elif dtype.is_floating_point or dtype.is_complex:
        values = torch.randn(block, device=device) * (spec.std or 0.1) + (spec.mean or 0.0)
        values = values.clamp(spec.low, spec.high) if spec.low is not None else values
    else:
        values = torch.randint(int(spec.low or 0), int(spec.high or 0) + 1, (block,), device=device)
    whole = values.to(dtype).repeat(-(-count // max(block, 1)))[:count]
    return whole.reshape(spec.shape)
