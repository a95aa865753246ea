# Tries: a softmax that does not subtract the maximum: right for small scores, and one pass less.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity | wrong values
# Subgraph: softmax-mask
import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def naive_kernel(s_ptr, m_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < columns
    s = tl.load(s_ptr + row * columns + c, mask=inside) + tl.load(m_ptr + c, mask=inside)
    e = tl.where(inside, tl.exp(s), 0.0)
    tl.store(o_ptr + row * columns + c, e / tl.sum(e, axis=0), mask=inside)


@torch.fx.wrap
def naive(scores, mask):
    out = torch.empty_like(scores)
    columns = scores.shape[-1]
    naive_kernel[(scores.numel() // columns,)](scores, mask, out, columns, BLOCK=128)
    return out


def replacement_func():
    return naive
