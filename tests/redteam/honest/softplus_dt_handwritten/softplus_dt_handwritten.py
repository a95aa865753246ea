import torch
import triton
import triton.language as tl


def pattern(x, a):
    y = torch._C._nn.softplus(x)
    y = torch.clamp(y, min=0.001, max=float("inf"))
    return y[..., None].float(), a * y.float()


def replacement_args(x, a):
    return (x, a)


@triton.jit
def _log1p(u):
    # accurate for small u: the rounding error of 1 + u cancels in the quotient
    w = 1.0 + u
    d = w - 1.0
    return tl.where(d == 0.0, u, tl.log(w) * (u / tl.where(d == 0.0, 1.0, d)))


@triton.jit
def _softplus(v):
    return tl.maximum(v, 0.0) + _log1p(tl.exp(-tl.abs(v)))


@triton.jit
def softplus_clamp_kernel(
    x_ptr, a_ptr, y_ptr, ay_ptr, numel, width, lower, BLOCK: tl.constexpr, UNROLL: tl.constexpr
):
    start = tl.program_id(0) * BLOCK * UNROLL
    for i in tl.static_range(UNROLL):
        idx = start + i * BLOCK + tl.arange(0, BLOCK)
        ok = idx < numel
        v = tl.load(x_ptr + idx, mask=ok, other=0.0).to(tl.float32)
        sp = _softplus(v)
        y = tl.where(sp < lower, lower, sp)
        tl.store(y_ptr + idx, y, mask=ok)
        a = tl.load(a_ptr + idx % width, mask=ok, other=0.0).to(tl.float32)
        tl.store(ay_ptr + idx, a * y, mask=ok)


@torch.fx.wrap
def softplus_clamp(x, a):
    x = x.contiguous()
    a = a.expand(x.shape[-1:]).contiguous()
    y = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    ay = torch.empty_like(y)
    numel = x.numel()
    softplus_clamp_kernel[(triton.cdiv(numel, 128 * 4),)](
        x, a, y, ay, numel, x.shape[-1], 0.001, BLOCK=128, UNROLL=4
    )
    return y.unsqueeze(-1), ay


def replacement_func():
    return softplus_clamp
