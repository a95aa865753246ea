import torch
import triton
import triton.language as tl


def pattern(scores, slopes, positions):
    distance = positions.unsqueeze(0) - positions.unsqueeze(1)
    bias = slopes.view(6, 1, 1) * distance
    return torch.nn.functional.softmax(scores + bias, dim=-1)


def replacement_args(scores, slopes, positions):
    return (scores, slopes, positions)


@triton.jit
def alibi_softmax_kernel(s_ptr, slope_ptr, pos_ptr, out_ptr, heads, length, BLOCK: tl.constexpr):
    query = tl.program_id(0)
    plane = tl.program_id(1)                     # batch * heads + head
    slope = tl.load(slope_ptr + plane % heads)
    here = tl.load(pos_ptr + query)
    cols = tl.arange(0, BLOCK)
    mask = cols < length
    there = tl.load(pos_ptr + cols, mask=mask, other=0)
    bias = slope * (there - here).to(tl.float32)
    base = (plane.to(tl.int64) * length + query) * length
    s = tl.load(s_ptr + base + cols, mask=mask, other=0.0) + bias
    s = tl.where(mask, s, float("-inf"))
    e = tl.exp(s - tl.max(s, axis=0))
    tl.store(out_ptr + base + cols, e / tl.sum(e, axis=0), mask=mask)


@torch.fx.wrap
def alibi_softmax(scores, slopes, positions):
    scores, slopes, positions = scores.contiguous(), slopes.contiguous(), positions.contiguous()
    batch, heads, queries, keys = scores.shape
    out = torch.empty_like(scores)
    alibi_softmax_kernel[(queries, batch * heads)](
        scores, slopes, positions, out, heads, keys, BLOCK=triton.next_power_of_2(keys), num_warps=1
    )
    return out


def replacement_func():
    return alibi_softmax
