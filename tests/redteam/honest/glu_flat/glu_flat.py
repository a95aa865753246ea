import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.nn.functional.glu(x, dim=1)


def replacement_args(x):
    return (x,)


@triton.jit
def glu_kernel(x_ptr, out_ptr, n_out, half, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_out
    # half: number of elements of one half of one batch entry
    batch = offsets // half
    inner = offsets % half
    src = batch * 2 * half + inner
    value = tl.load(x_ptr + src, mask=mask, other=0.0).to(tl.float32)
    gate = tl.load(x_ptr + src + half, mask=mask, other=0.0).to(tl.float32)
    out = value * tl.sigmoid(gate)
    tl.store(out_ptr + offsets, out.to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def triton_glu(x):
    x = x.contiguous()
    shape = list(x.shape)
    shape[1] //= 2
    out = torch.empty(shape, dtype=x.dtype, device=x.device)
    n_out = out.numel()
    half = n_out // shape[0]
    BLOCK_SIZE = 1024
    glu_kernel[(triton.cdiv(n_out, BLOCK_SIZE),)](x, out, n_out, half, BLOCK_SIZE=BLOCK_SIZE)
    return out


def replacement_func():
    return triton_glu
