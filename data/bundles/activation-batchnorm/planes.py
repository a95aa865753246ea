"""Scale and bias per channel, an optional residual, and relu, over the planes of an image batch: one kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def planes_kernel(
    x_ptr, residual_ptr, mean_ptr, variance_ptr, weight_ptr, bias_ptr, out_ptr, planes, size, channels, eps,
    RESIDUAL: tl.constexpr, PLANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    plane = (tl.program_id(0) * PLANES + tl.arange(0, PLANES)[:, None]).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = (plane < planes) & (place < size)
    channel = plane % channels
    # one number per plane: read once, then used for the whole plane
    mean = tl.load(mean_ptr + channel).to(tl.float32)
    scale = tl.rsqrt(tl.load(variance_ptr + channel).to(tl.float32) + eps)
    scale *= tl.load(weight_ptr + channel).to(tl.float32)
    bias = tl.load(bias_ptr + channel).to(tl.float32)
    offsets = plane * size + place
    narrow = tl.load(x_ptr + offsets, mask=inside)
    y = ((narrow.to(tl.float32) - mean) * scale + bias).to(narrow.dtype)
    if RESIDUAL:
        total = y.to(tl.float32) + tl.load(residual_ptr + offsets, mask=inside).to(tl.float32)
        y = total.to(narrow.dtype)
        # the graph adds in place
        tl.store(residual_ptr + offsets, y, mask=inside)
    # written so that NaN stays NaN
    tl.store(out_ptr + offsets, tl.where(y < 0, 0.0, y).to(narrow.dtype), mask=inside)


def tiling(planes, size):
    """Planes and places of a tile, and its warps."""
    block = min(triton.next_power_of_2(size), 8192)
    together = 1
    while together * 2 * block <= 8192 and planes // (together * 2) >= 128:
        together *= 2
    return together, block, max(together * block // 512, 1)


def normalise(x, residual, mean, variance, weight, bias, eps, added):
    """x and residual: images without gaps, of one shape. added: whether the residual is added, and takes the sum."""
    mean, variance, weight, bias = (each.contiguous() for each in (mean, variance, weight, bias))
    out = torch.empty_like(x)
    channels = x.shape[1]
    size = x[0, 0].numel()
    planes = x.shape[0] * channels
    together, block, warps = tiling(planes, size)
    planes_kernel[(triton.cdiv(planes, together), triton.cdiv(size, block))](
        x, residual, mean, variance, weight, bias, out,
        planes=planes, size=size, channels=channels, eps=eps,
        RESIDUAL=added, PLANES=together, BLOCK=block,
        num_warps=warps,
    )  # fmt: skip
    return out


@torch.fx.wrap
def batchnorm_relu(x, mean, variance, weight, bias, eps):
    x = x.contiguous()
    return normalise(x, x, mean, variance, weight, bias, eps, False)


@torch.fx.wrap
def batchnorm_add_relu(x, residual, mean, variance, weight, bias, eps):
    total = residual.contiguous()
    out = normalise(x.contiguous(), total, mean, variance, weight, bias, eps, True)
    if total is not residual:
        residual.copy_(total)
    return out
