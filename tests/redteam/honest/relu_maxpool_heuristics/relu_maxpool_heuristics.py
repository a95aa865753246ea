import torch
import triton
import triton.language as tl


def pattern(x):
    active = torch.nn.functional.relu(x, inplace=False)
    return torch.nn.functional.max_pool2d(active, 3, 2, 1, 1, ceil_mode=False, return_indices=False)


def replacement_args(x):
    return (x,)


@triton.heuristics({
    "BLOCK": lambda args: min(256, triton.next_power_of_2(args["out_h"] * args["out_w"])),
    "num_warps": lambda args: 1 if args["out_h"] * args["out_w"] <= 64 else 4,
})
@triton.jit
def relu_max_pool_kernel(
    x_ptr, out_ptr, in_h, in_w, out_h, out_w,
    KERNEL: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr, BLOCK: tl.constexpr,
):
    plane = tl.program_id(1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = at < out_h * out_w
    top = (at // out_w) * STRIDE - PADDING
    left = (at % out_w) * STRIDE - PADDING
    x_ptr += plane * in_h * in_w
    # after relu nothing is below 0, and each window has at least one pixel of the image
    best = tl.zeros((BLOCK,), dtype=tl.float32)
    for dy in tl.static_range(KERNEL):
        for dx in tl.static_range(KERNEL):
            y = top + dy
            x = left + dx
            inside = live & (y >= 0) & (y < in_h) & (x >= 0) & (x < in_w)
            value = tl.load(x_ptr + y * in_w + x, mask=inside, other=0.0).to(tl.float32)
            best = tl.where((value > best) | (value != value), value, best)
    tl.store(out_ptr + plane * out_h * out_w + at, best.to(out_ptr.dtype.element_ty), mask=live)


@torch.fx.wrap
def relu_max_pool(x):
    x = x.contiguous()
    n, c, in_h, in_w = x.shape
    out_h = (in_h + 2 * 1 - 3) // 2 + 1
    out_w = (in_w + 2 * 1 - 3) // 2 + 1
    out = torch.empty((n, c, out_h, out_w), dtype=x.dtype, device=x.device)
    grid = lambda meta: (triton.cdiv(out_h * out_w, meta["BLOCK"]), n * c)
    relu_max_pool_kernel[grid](x, out, in_h, in_w, out_h, out_w, KERNEL=3, STRIDE=2, PADDING=1)
    return out


def replacement_func():
    return relu_max_pool
