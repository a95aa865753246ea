# Tries: computes the even rows, and writes each of them twice.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: softmax-mask
import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def doubled_kernel(s_ptr, m_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0) * 2
    c = tl.arange(0, BLOCK)
    inside = c < columns
    s = tl.load(s_ptr + first * columns + c, mask=inside, other=float("-inf"))
    s += tl.load(m_ptr + c, mask=inside, other=0.0)
    e = tl.exp(s - tl.max(s, axis=0))
    e = e / tl.sum(e, axis=0)
    for row in range(first, first + 2):
        tl.store(o_ptr + row * columns + c, e, mask=inside)


@torch.fx.wrap
def doubled(scores, mask):
    out = torch.empty_like(scores)
    rows = scores.shape[0] * scores.shape[1]
    doubled_kernel[(rows // 2,)](scores, mask, out, scores.shape[2], BLOCK=128)
    return out


def replacement_func():
    return doubled
