import torch
import triton
import triton.language as tl


def pattern(x, shift, scale):
    normed = torch.nn.functional.layer_norm(x, (40,), None, None, 1e-06)
    return normed * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


def replacement_args(x, shift, scale):
    return (x, shift, scale)


@triton.jit
def modulate_kernel(x_ptr, shift_ptr, scale_ptr, y_ptr, tokens, dim, eps, TOKENS: tl.constexpr, BLOCK: tl.constexpr):
    dtype: tl.constexpr = x_ptr.dtype.element_ty
    sample = tl.program_id(1)
    first = tl.program_id(0) * TOKENS
    x_block = tl.make_block_ptr(
        x_ptr + sample * tokens * dim, shape=(tokens, dim), strides=(dim, 1),
        offsets=(first, 0), block_shape=(TOKENS, BLOCK), order=(1, 0),
    )
    y_block = tl.make_block_ptr(
        y_ptr + sample * tokens * dim, shape=(tokens, dim), strides=(dim, 1),
        offsets=(first, 0), block_shape=(TOKENS, BLOCK), order=(1, 0),
    )
    x = tl.load(x_block, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    col = tl.arange(0, BLOCK)
    inside = col < dim
    mean = tl.sum(x, axis=1) / dim
    centred = tl.where(inside[None, :], x - mean[:, None], 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=1) / dim + eps)
    normed = (centred * rstd[:, None]).to(dtype).to(tl.float32)
    scale = tl.load(scale_ptr + sample * dim + col, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(shift_ptr + sample * dim + col, mask=inside, other=0.0).to(tl.float32)
    factor = (1.0 + scale).to(dtype).to(tl.float32)
    scaled = (normed * factor[None, :]).to(dtype).to(tl.float32)
    tl.store(y_block, (scaled + shift[None, :]).to(dtype), boundary_check=(0, 1))


@torch.fx.wrap
def modulate(x, shift, scale):
    x, shift, scale = x.contiguous(), shift.contiguous(), scale.contiguous()
    batch, tokens, dim = x.shape
    y = torch.empty_like(x)
    grid = (triton.cdiv(tokens, 4), batch)
    modulate_kernel[grid](x, shift, scale, y, tokens, dim, 1e-06, TOKENS=4, BLOCK=triton.next_power_of_2(dim), num_warps=2)
    return y


def replacement_func():
    return modulate
