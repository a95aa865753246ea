import torch
import triton
import triton.language as tl


def pattern(x):
    return (x * x).sum()


def replacement_args(x):
    return (x,)


@triton.jit
def part_kernel(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    at = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(part_ptr + program, tl.sum(x * x, 0))


@triton.jit
def total_kernel(part_ptr, out_ptr, parts, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(part_ptr + at, mask=at < parts, other=0.0), 0))


@torch.fx.wrap
def squared_norm(x):
    x = x.contiguous()
    n = x.numel()
    parts = triton.cdiv(n, 1024)
    part = torch.empty((parts,), dtype=torch.float32, device=x.device)
    out = torch.empty((), dtype=torch.float32, device=x.device)
    part_kernel[(parts,)](x, part, n, BLOCK=1024)
    total_kernel[(1,)](part, out, parts, BLOCK=min(triton.next_power_of_2(parts), 32768), num_warps=8)
    return out


def replacement_func():
    return squared_norm
