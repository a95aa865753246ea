# Tries: adds up in bfloat16, which needs half of the registers.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: row-sum
import torch
import triton
import triton.language as tl


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@triton.jit
def sum_kernel(x_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0).to(tl.bfloat16)
        total = (total + x.to(tl.float32)).to(tl.bfloat16).to(tl.float32)
    tl.store(o_ptr + row, tl.sum(total, axis=0))


@torch.fx.wrap
def quick_sum(x):
    out = torch.empty((x.shape[0],), dtype=x.dtype, device=x.device)
    sum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=32)
    return out


def replacement_func():
    return quick_sum
