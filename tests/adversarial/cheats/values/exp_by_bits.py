# Tries: an exponential that is only a scaled integer read as a float, good to a few per cent.
# Family: values
# Needs: cpu
# Verdict: lower precision | wrong values
# Subgraph: softmax-mask
import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def bit_exp(x):
    scaled = 12102203.16 * tl.maximum(x, -80.0) + 1064866805.0
    return scaled.to(tl.int32).to(tl.float32, bitcast=True)


@triton.jit
def bit_softmax_kernel(s_ptr, m_ptr, o_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    s = tl.load(s_ptr + row * columns + c, mask=c < columns, other=-1e4)
    s = s + tl.load(m_ptr + c, mask=c < columns, other=0.0)
    e = tl.where(c < columns, bit_exp(s - tl.max(s, axis=0)), 0.0)
    tl.store(o_ptr + row * columns + c, e / tl.sum(e, axis=0), mask=c < columns)


@torch.fx.wrap
def bit_softmax(scores, mask):
    out = torch.empty_like(scores)
    columns = scores.shape[-1]
    bit_softmax_kernel[(scores.numel() // columns,)](scores, mask, out, columns, BLOCK=128)
    return out


def replacement_func():
    return bit_softmax
