import torch
import triton
import triton.language as tl


def pattern(weight, normed, padding_mask):
    scaled = weight * normed
    masked = scaled * padding_mask
    return masked.to(torch.float32)


def replacement_args(weight, normed, padding_mask):
    return (weight, normed, padding_mask)


@triton.jit
def scale_and_mask_kernel(w_ptr, x_ptr, m_ptr, y_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    r_ok = r < rows
    c_ok = c < cols
    ok = r_ok[:, None] & c_ok[None, :]
    w = tl.load(w_ptr + c, mask=c_ok, other=0.0).to(tl.float32)
    keep = tl.load(m_ptr + r, mask=r_ok, other=0).to(tl.float32)
    x = tl.load(x_ptr + r[:, None] * cols + c[None, :], mask=ok, other=0.0).to(tl.float32)
    # a product, not a select: an infinite x at a masked position is NaN in eager mode as well
    y = x * w[None, :] * keep[:, None]
    tl.store(y_ptr + r[:, None] * cols + c[None, :], y.to(y_ptr.dtype.element_ty), mask=ok)


@torch.fx.wrap
def scale_and_mask(weight, normed, padding_mask):
    normed = normed.contiguous()
    cols = normed.shape[-1]
    rows = normed.numel() // cols
    padding_mask = padding_mask.expand(*normed.shape[:-1], 1).contiguous()
    out = torch.empty(normed.shape, dtype=torch.float32, device=normed.device)
    scale_and_mask_kernel[(triton.cdiv(rows, 4), triton.cdiv(cols, 256))](
        weight.contiguous(), normed, padding_mask, out, rows, cols, BLOCK_R=4, BLOCK_C=256
    )
    return out


def replacement_func():
    return scale_and_mask
