# Tries: an integer output: the place of each row's maximum, the first of equals as eager gives it.
# Family: honest
# Needs: cpu
# Verdict: accepted
# Subgraph: argmax

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.argmax(x, -1)


def replacement_args(x):
    return (x,)


@triton.jit
def argmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=float("-inf"))
    tl.store(out_ptr + row, tl.argmax(x, axis=0, tie_break_left=True).to(tl.int64))


@torch.fx.wrap
def argmax(x):
    columns = x.shape[-1]
    out = torch.empty(x.shape[:-1], dtype=torch.int64, device=x.device)
    argmax_kernel[(out.numel(),)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return argmax
