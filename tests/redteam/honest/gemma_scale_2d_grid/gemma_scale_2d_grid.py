import torch
import triton
import triton.language as tl


def pattern(weight, normed, like):
    w = weight.float()
    w = 1.0 + w
    scaled = normed * w
    return scaled.type_as(like)


def replacement_args(weight, normed, like):
    return (weight, normed, like)


@triton.jit
def gemma_scale_kernel(w_ptr, x_ptr, y_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    r = tl.program_id(1) * BLOCK_R + tl.arange(0, BLOCK_R)
    c_mask = c < cols
    mask = (r < rows)[:, None] & c_mask[None, :]
    w = 1.0 + tl.load(w_ptr + c, mask=c_mask, other=0.0).to(tl.float32)
    offs = r[:, None] * cols + c[None, :]
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(y_ptr + offs, (x * w[None, :]).to(y_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def gemma_scale(weight, normed, like):
    normed = normed.contiguous()
    cols = normed.shape[-1]
    rows = normed.numel() // cols
    out = torch.empty(normed.shape, dtype=like.dtype, device=normed.device)
    grid = lambda meta: (triton.cdiv(cols, meta["BLOCK_C"]), triton.cdiv(rows, meta["BLOCK_R"]))
    gemma_scale_kernel[grid](weight, normed, out, rows, cols, BLOCK_R=4, BLOCK_C=256)
    return out


def replacement_func():
    return gemma_scale
