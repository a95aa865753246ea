import torch
import triton
import triton.language as tl


def pattern(ids, banned):
    return torch.isin(ids, banned)


def replacement_args(ids, banned):
    return (ids, banned)


@triton.jit
def membership_kernel(ids_ptr, banned_ptr, out_ptr, n, count, BLOCK: tl.constexpr, COUNT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    ids = tl.load(ids_ptr + at, mask=inside, other=0).to(tl.float32)
    which = tl.arange(0, COUNT)
    banned = tl.load(banned_ptr + which, mask=which < count, other=0).to(tl.float32)
    same = (ids[:, None] == banned[None, :]) & (which < count)[None, :]
    found = tl.max(same.to(tl.int32), 1) > 0
    tl.store(out_ptr + at, found, mask=inside)


@torch.fx.wrap
def membership(ids, banned):
    ids, banned = ids.contiguous(), banned.contiguous()
    out = torch.empty(ids.shape, dtype=torch.bool, device=ids.device)
    n, count = ids.numel(), banned.numel()
    membership_kernel[(triton.cdiv(n, 256),)](
        ids, banned, out, n, count, BLOCK=256, COUNT=triton.next_power_of_2(count)
    )
    return out


def replacement_func():
    return membership
