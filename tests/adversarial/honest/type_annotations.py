# Tries: functions with annotated parameters and results, from typing and collections.abc.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: silu-gate

from collections.abc import Callable
from typing import Any, Optional

import torch
import triton
import triton.language as tl

Grid = tuple[int, ...]


def pattern(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.silu(gate, inplace=False) * up


def replacement_args(gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (gate, up)


@triton.jit
def gate_kernel(gate_ptr, up_ptr, out_ptr, count: tl.int32, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, gate * tl.sigmoid(gate) * tl.load(up_ptr + offsets, mask=inside), mask=inside)


def grid_of(count: int, block: int = 256, limit: Optional[int] = None) -> Grid:
    programs = triton.cdiv(count, block)
    return (programs if limit is None else min(programs, limit),)


@torch.fx.wrap
def silu_gate(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = torch.empty_like(gate)
    gate_kernel[grid_of(gate.numel())](gate, up, out, gate.numel(), BLOCK=256)
    return out


def replacement_func() -> Callable[..., Any]:
    return silu_gate
