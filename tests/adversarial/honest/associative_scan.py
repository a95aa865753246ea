# Tries: a running sum with a combine function of its own, by tl.associative_scan.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: cumsum

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.cumsum(x, -1)


def replacement_args(x):
    return (x,)


@triton.jit
def plus(left, right):
    return left + right


@triton.jit
def scan_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * columns + column, mask=inside, other=0.0)
    tl.store(out_ptr + row * columns + column, tl.associative_scan(x, 1, plus), mask=inside)


@torch.fx.wrap
def scanned(x):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    rows = x.numel() // columns
    scan_kernel[(triton.cdiv(rows, 4),)](x, out, rows, columns, ROWS=4, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return scanned
