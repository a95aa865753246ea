import torch
import triton
import triton.language as tl


def pattern(ids):
    return ids.argmax(dim=-1)


def replacement_args(ids):
    return (ids,)


@triton.jit
def argmax_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    # padding sits to the right of all real columns, so a tie with it goes to a real column
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-2147483648)
    idx = tl.argmax(x, axis=0, tie_break_left=True)
    tl.store(out_ptr + row, idx.to(tl.int64))


@torch.fx.wrap
def row_argmax(ids):
    if ids.dtype != torch.int32:
        raise TypeError(f"row_argmax was written for int32, not {ids.dtype}")
    ids = ids.contiguous()
    n_cols = ids.shape[-1]
    out = torch.empty(ids.shape[:-1], dtype=torch.int64, device=ids.device)
    argmax_kernel[(out.numel(),)](ids, out, n_cols, BLOCK=triton.next_power_of_2(n_cols), num_warps=1)
    return out


def replacement_func():
    return row_argmax
