import torch
import triton
import triton.language as tl


def pattern(neg_half, first_half, sin, x_cos):
    rotated = torch.cat((neg_half, first_half), dim=-1)
    return x_cos + rotated * sin


def replacement_args(neg_half, first_half, sin, x_cos):
    return (neg_half, first_half, sin, x_cos)


@triton.jit
def rotary_add_kernel(
    a_ptr, b_ptr, sin_ptr, base_ptr, out_ptr,
    H, S, DA, D,
    sin_sb, sin_sh, sin_ss,
    BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr,
):
    pid_s = tl.program_id(0)
    pid_bh = tl.program_id(1)
    s = pid_s * BLOCK_S + tl.arange(0, BLOCK_S)[:, None]
    d = tl.arange(0, BLOCK_D)[None, :]
    inside = (s < S) & (d < D)
    row = pid_bh * S + s
    in_a = d < DA
    a = tl.load(a_ptr + row * DA + d, mask=inside & in_a, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + row * (D - DA) + (d - DA), mask=inside & (d >= DA), other=0.0).to(tl.float32)
    rotated = tl.where(in_a, a, b)
    sin_row = (pid_bh // H) * sin_sb + (pid_bh % H) * sin_sh + s * sin_ss
    sin = tl.load(sin_ptr + sin_row + d, mask=inside, other=0.0).to(tl.float32)
    base = tl.load(base_ptr + row * D + d, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * D + d, (base + rotated * sin).to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def rotary_add(neg_half, first_half, sin, x_cos):
    x_cos = x_cos.contiguous()
    B, H, S, D = x_cos.shape
    sin = sin.expand(B, H, S, D)
    if sin.stride(3) != 1:
        sin = sin.contiguous()
    out = torch.empty_like(x_cos)
    grid = lambda meta: (triton.cdiv(S, meta["BLOCK_S"]), B * H)
    rotary_add_kernel[grid](
        neg_half.contiguous(), first_half.contiguous(), sin, x_cos, out,
        H, S, neg_half.shape[-1], D, sin.stride(0), sin.stride(1), sin.stride(2),
        BLOCK_S=8, BLOCK_D=triton.next_power_of_2(D),
    )
    return out


def replacement_func():
    return rotary_add
