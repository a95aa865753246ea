import torch
import triton
import triton.language as tl

WINDOW = tl.constexpr(8)
LOWEST = tl.constexpr(-65504.0)


def pattern(scores, q_pos, k_pos):
    behind = q_pos[:, None] - k_pos[None, :]
    keep = (behind >= 0) & (behind < 8)
    scores = scores.masked_fill(~keep, -65504.0)
    probs = torch.nn.functional.softmax(scores, dim=-1, dtype=torch.float32)
    return probs.to(torch.float16)


def replacement_args(scores, q_pos, k_pos):
    return (scores, q_pos, k_pos)


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n_keys"])})
@triton.jit
def window_softmax_kernel(
    s_ptr, q_ptr, k_ptr, out_ptr, heads, n_queries, n_keys,
    s_batch, s_head, s_query, s_key, BLOCK: tl.constexpr,
):
    query = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_keys
    s_row = s_ptr + batch * s_batch + head * s_head + query * s_query
    s = tl.load(s_row + cols * s_key, mask=mask, other=0.0).to(tl.float32)
    behind = tl.load(q_ptr + query) - tl.load(k_ptr + cols, mask=mask, other=0)
    keep = (behind >= 0) & (behind < WINDOW)
    # a row without any key in its window is uniform, as the lowest number everywhere is
    s = tl.where(keep, s, LOWEST)
    s = tl.where(mask, s, float("-inf"))
    e = tl.exp(s - tl.max(s, axis=0))
    p = e / tl.sum(e, axis=0)
    out_row = out_ptr + ((batch * heads + head) * n_queries + query) * n_keys
    tl.store(out_row + cols, p.to(tl.float16), mask=mask)


@torch.fx.wrap
def window_softmax(scores, q_pos, k_pos):
    batch, heads, n_queries, n_keys = scores.shape
    out = torch.empty((batch, heads, n_queries, n_keys), dtype=torch.float16, device=scores.device)
    window_softmax_kernel[(n_queries, heads, batch)](
        scores, q_pos.contiguous(), k_pos.contiguous(), out, heads, n_queries, n_keys,
        scores.stride(0), scores.stride(1), scores.stride(2), scores.stride(3), num_warps=1,
    )
    return out


def replacement_func():
    return window_softmax
