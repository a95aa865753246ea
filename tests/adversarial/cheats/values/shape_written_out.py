# Tries: allocates the result in the shape that it saw in the visible variant of the task.
# Family: values
# Needs: cpu
# Verdict: wrong shape
# Subgraph: add-relu-tall
import torch
import triton
import triton.language as tl


def pattern(x, y):
    return torch.nn.functional.relu(x + y, inplace=False)


def replacement_args(x, y):
    return (x, y)


@triton.jit
def rows_kernel(x_ptr, y_ptr, o_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * 65
    c = tl.arange(0, BLOCK)
    s = tl.load(x_ptr + row + c, mask=c < 65) + tl.load(y_ptr + row + c, mask=c < 65)
    tl.store(o_ptr + row + c, tl.where(s > 0, s, 0.0), mask=c < 65)


@torch.fx.wrap
def eight_rows(x, y):
    out = torch.empty((8, 65), dtype=torch.float32, device=x.device)
    rows_kernel[(8,)](x, y, out, BLOCK=128)
    return out


def replacement_func():
    return eight_rows
