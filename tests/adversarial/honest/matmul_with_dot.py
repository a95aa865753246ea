# Tries: a product of matrices in tiles with tl.dot, in full float32 precision.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: matmul

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.matmul(a, b)


def replacement_args(a, b):
    return (a, b)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, m, n, k, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, TILE):
        inner = start + tl.arange(0, TILE)
        a_inside = (row < m)[:, None] & (inner < k)[None, :]
        b_inside = (inner < k)[:, None] & (column < n)[None, :]
        a = tl.load(a_ptr + row[:, None] * k + inner[None, :], mask=a_inside, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + column[None, :], mask=b_inside, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    inside = (row < m)[:, None] & (column < n)[None, :]
    tl.store(c_ptr + row[:, None] * n + column[None, :], total, mask=inside)


@torch.fx.wrap
def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    matmul_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a.contiguous(), b.contiguous(), c, m, n, k, TILE=16)
    return c


def replacement_func():
    return matmul
