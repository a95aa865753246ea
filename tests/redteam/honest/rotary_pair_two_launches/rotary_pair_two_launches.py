"""Apply the sine part of a rotary embedding to queries and keys. The dtype of the table is whatever the graph says."""

import torch
import triton
import triton.language as tl


def pattern(table, a, a0, b, b0, dtype):
    t = table.to(dtype=dtype).unsqueeze(1)
    return a * t + a0, b * t + b0


def replacement_args(table, a, a0, b, b0, dtype):
    return (table, a, a0, b, b0)


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((256, 2), (512, 4), (1024, 4))],
    key=["numel", "D"],
)
@triton.jit
def mul_add_kernel(
    t_ptr, x_ptr, y_ptr, o_ptr, numel, H, S, D,
    t_b, t_s, t_d, x_b, x_h, x_s, x_d, y_b, y_h, y_s, y_d,
    BLOCK: tl.constexpr,
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < numel
    d = i % D
    s = (i // D) % S
    h = (i // (D * S)) % H
    b = i // (D * S * H)
    x = tl.load(x_ptr + b * x_b + h * x_h + s * x_s + d * x_d, mask=ok, other=0.0)
    y = tl.load(y_ptr + b * y_b + h * y_h + s * y_s + d * y_d, mask=ok, other=0.0)
    t = tl.load(t_ptr + b * t_b + s * t_s + d * t_d, mask=ok, other=0.0).to(x.dtype)
    out = tl.fma(x.to(tl.float32), t.to(tl.float32), y.to(tl.float32))
    tl.store(o_ptr + i, out.to(o_ptr.dtype.element_ty), mask=ok)


def _mul_add(table, x, y):
    B, H, S, D = x.shape
    out = torch.empty((B, H, S, D), dtype=x.dtype, device=x.device)
    table = table.expand(B, S, D)
    numel = out.numel()
    mul_add_kernel[lambda META: (triton.cdiv(numel, META["BLOCK"]),)](
        table, x, y, out, numel, H, S, D, *table.stride(), *x.stride(), *y.stride()
    )
    return out


@torch.fx.wrap
def rotary_sine(table, a, a0, b, b0):
    return _mul_add(table, a, a0), _mul_add(table, b, b0)


def replacement_func():
    return rotary_sine
