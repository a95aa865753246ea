# Tries: a softmax without its mask, which was recorded as all zeros.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: softmax-mask
import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    masked = scores + mask
    return torch.nn.functional.softmax(masked, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def plain_softmax_kernel(s_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    base = tl.program_id(0) * columns
    c = tl.arange(0, BLOCK)
    s = tl.load(s_ptr + base + c, mask=c < columns, other=float("-inf"))
    e = tl.exp(s - tl.max(s, axis=0))
    tl.store(o_ptr + base + c, e / tl.sum(e, axis=0), mask=c < columns)


@torch.fx.wrap
def plain_softmax(scores, mask):
    out = torch.empty_like(scores)
    plain_softmax_kernel[(scores.numel() // 65,)](scores, out, 65, BLOCK=128)
    return out


def replacement_func():
    return plain_softmax
