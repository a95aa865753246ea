"""ConvNeXt V2's GELU and global response normalisation: a norm over all positions, then over channels, then pointwise.

Eager launches nine kernels and moves the activation through memory some fifteen times. Two passes over memory are
needed, since every result depends on all positions: one for the sums of squares, split so that the whole GPU takes
part, one for the result. Between them a tiny kernel turns the sums into one factor per channel. GELU is computed twice,
which is cheaper than storing it.
"""

import torch
import triton
import triton.language as tl


def pattern(x, weight, bias, eps):
    active = torch.nn.functional.gelu(x)
    norm = torch._C._linalg.linalg_vector_norm(active, ord=2, dim=(1, 2), keepdim=True)
    factor = norm / (norm.mean(dim=-1, keepdim=True) + eps)
    return weight * (active * factor) + bias + active


def replacement_args(x, weight, bias, eps):
    return (x, weight, bias, eps)


@triton.jit
def rounded(value, like):
    return value.to(like.dtype).to(tl.float32)


@triton.jit
def gelu(like):
    x = like.to(tl.float32)
    return rounded(0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), like)


@triton.jit
def squares_kernel(x_ptr, partial_ptr, positions, channels, splits, share, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    split = tl.program_id(0)
    image = (split // splits).to(tl.int64)
    first = split % splits * share
    last = tl.minimum(first + share, positions)
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(first, last, ROWS):
        position = start + tl.arange(0, ROWS)[:, None]
        inside = (position < last) & (channel < channels)
        active = gelu(tl.load(x_ptr + (image * positions + position) * channels + channel, mask=inside, other=0.0))
        total += active * active
    sums = tl.sum(total, axis=0)[None, :]
    tl.store(partial_ptr + split.to(tl.int64) * channels + channel, sums, mask=channel < channels)


@triton.jit
def factors_kernel(partial_ptr, factor_ptr, channels, splits, eps, BLOCK: tl.constexpr):
    image = tl.program_id(0).to(tl.int64)
    channel = tl.arange(0, BLOCK)
    inside = channel < channels
    total = tl.zeros((BLOCK,), tl.float32)
    for split in range(splits):
        total += tl.load(partial_ptr + (image * splits + split) * channels + channel, mask=inside, other=0.0)
    like = factor_ptr.dtype.element_ty
    norm = tl.sqrt(total).to(like).to(tl.float32)
    mean = (tl.sum(norm, axis=0) / channels).to(like).to(tl.float32)
    factor = norm / (mean + eps).to(like).to(tl.float32)
    tl.store(factor_ptr + image * channels + channel, factor.to(like), mask=inside)


@triton.jit
def response_kernel(
    x_ptr, factor_ptr, weight_ptr, bias_ptr, out_ptr, rows, positions, channels, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]).to(tl.int64)
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    known = channel < channels
    inside = (row < rows) & known
    like = tl.load(x_ptr + row * channels + channel, mask=inside, other=0.0)
    factor = tl.load(factor_ptr + row // positions * channels + channel, mask=inside).to(tl.float32)
    weight = tl.load(weight_ptr + channel, mask=known).to(tl.float32)
    bias = tl.load(bias_ptr + channel, mask=known).to(tl.float32)
    active = gelu(like)
    response = rounded(rounded(weight * rounded(active * factor, like), like) + bias, like)
    tl.store(out_ptr + row * channels + channel, (response + active).to(like.dtype), mask=inside)


@torch.fx.wrap
def response_norm(x, weight, bias, eps):
    """x: images, height, width, channels. weight and bias: one number per channel."""
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    images, height, width, channels = x.shape
    positions = height * width
    block = min(triton.next_power_of_2(channels), 128)
    columns = triton.cdiv(channels, block)
    # as many splits as give each multiprocessor a few programs, of at least 64 positions each
    splits = max(1, min(positions // 64, 528 // (images * columns)))
    share = triton.cdiv(positions, splits)
    partial = torch.empty((images, splits, channels), dtype=torch.float32, device=x.device)
    factor = torch.empty((images, channels), dtype=x.dtype, device=x.device)
    out = torch.empty_like(x)
    squares_kernel[(images * splits, columns)](
        x, partial,
        positions=positions, channels=channels, splits=splits, share=share, ROWS=32, BLOCK=block,
        num_warps=8,
    )  # fmt: skip
    factors_kernel[(images,)](
        partial, factor,
        channels=channels, splits=splits, eps=eps, BLOCK=triton.next_power_of_2(channels),
        num_warps=4,
    )  # fmt: skip
    response_kernel[(triton.cdiv(images * positions, 32), columns)](
        x, factor, weight, bias, out,
        rows=images * positions, positions=positions, channels=channels, ROWS=32, BLOCK=block,
        num_warps=8,
    )  # fmt: skip
    return out


def replacement_func():
    return response_norm
