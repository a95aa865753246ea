import torch
import triton
import triton.language as tl


def pattern(x):
    pooled = torch.nn.functional.max_pool2d(x, 3, 2, 1, 1, ceil_mode=False, return_indices=True)
    return pooled[0], pooled[1]


def replacement_args(x):
    return (x,)


@triton.jit
def max_pool_kernel(
    x_ptr, y_ptr, i_ptr, H, W, OH, OW,
    KERNEL: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr,
):
    plane = tl.program_id(1).to(tl.int64)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < OH * OW
    top = (offs // OW) * STRIDE - PAD
    left = (offs % OW) * STRIDE - PAD
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    index = tl.maximum(top, 0) * W + tl.maximum(left, 0)
    for kh in tl.static_range(KERNEL):
        for kw in tl.static_range(KERNEL):
            h = top + kh
            w = left + kw
            inside = mask & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            v = tl.load(x_ptr + plane * H * W + h * W + w, mask=inside, other=float("-inf"))
            better = inside & ((v > best) | (v != v))
            best = tl.where(better, v, best)
            index = tl.where(better, h * W + w, index)
    tl.store(y_ptr + plane * OH * OW + offs, best, mask=mask)
    tl.store(i_ptr + plane * OH * OW + offs, index.to(tl.int64), mask=mask)


@torch.fx.wrap
def max_pool(x):
    x = x.contiguous()
    N, C, H, W = x.shape
    OH = (H + 2 - 3) // 2 + 1
    OW = (W + 2 - 3) // 2 + 1
    y = torch.empty((N, C, OH, OW), dtype=x.dtype, device=x.device)
    indices = torch.empty((N, C, OH, OW), dtype=torch.int64, device=x.device)
    grid = (triton.cdiv(OH * OW, 64), N * C)
    max_pool_kernel[grid](x, y, indices, H, W, OH, OW, KERNEL=3, STRIDE=2, PAD=1, BLOCK=64, num_warps=2)
    return y, indices


def replacement_func():
    return max_pool
