import torch
import triton
import triton.language as tl


def pattern(scores, attention_mask):
    masked = scores + attention_mask
    return torch.nn.functional.softmax(masked, dim=-1)


def replacement_args(scores, attention_mask):
    return (scores, attention_mask)


@triton.jit
def _masked_scores(s_ptr, m_ptr, cols, n_cols, stride_mk):
    inside = cols < n_cols
    s = tl.load(s_ptr + cols, mask=inside, other=0.0)
    m = tl.load(m_ptr + cols * stride_mk, mask=inside, other=0.0)
    # the addition rounds to the dtype of the scores, as the separate addition does
    total = (s.to(tl.float32) + m.to(tl.float32)).to(s.dtype).to(tl.float32)
    return tl.where(inside, total, float("-inf"))


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 32}, num_warps=1),
        triton.Config({"BLOCK": 64}, num_warps=2),
        triton.Config({"BLOCK": 128}, num_warps=4),
    ],
    key=["n_cols"],
)
@triton.jit
def online_softmax_kernel(
    s_ptr, m_ptr, y_ptr, heads, queries, n_cols,
    stride_mb, stride_mh, stride_mq, stride_mk,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    q = row % queries
    h = (row // queries) % heads
    b = row // (queries * heads)
    s_ptr += row * n_cols
    y_ptr += row * n_cols
    m_ptr += b * stride_mb + h * stride_mh + q * stride_mq

    running_max = float("-inf")
    running_sum = 0.0
    for start in range(0, n_cols, BLOCK):
        x = _masked_scores(s_ptr, m_ptr, start + tl.arange(0, BLOCK), n_cols, stride_mk)
        new_max = tl.maximum(running_max, tl.max(x, axis=0))
        # while everything is masked, exp(-inf - -inf) would be NaN
        safe_max = tl.where(new_max == float("-inf"), 0.0, new_max)
        running_sum = running_sum * tl.exp(running_max - safe_max) + tl.sum(tl.exp(x - safe_max), axis=0)
        running_max = new_max

    safe_max = tl.where(running_max == float("-inf"), 0.0, running_max)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = _masked_scores(s_ptr, m_ptr, cols, n_cols, stride_mk)
        # a row in which everything is masked gives 0 / 0, NaN as in torch
        y = tl.exp(x - safe_max) / running_sum
        tl.store(y_ptr + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n_cols)


@torch.fx.wrap
def masked_softmax(scores, attention_mask):
    scores = scores.contiguous()
    batch, heads, queries, n_cols = scores.shape
    mask = attention_mask.expand(scores.shape)
    y = torch.empty_like(scores)
    online_softmax_kernel[(batch * heads * queries,)](scores, mask, y, heads, queries, n_cols, *mask.stride())
    return y


def replacement_func():
    return masked_softmax
