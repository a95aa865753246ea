import torch
import triton
import triton.language as tl


def pattern(hidden, tokens, expert_output, routing_weights):
    scaled = expert_output * routing_weights.unsqueeze(-1)
    return hidden.index_add_(0, tokens, scaled)


def replacement_args(hidden, tokens, expert_output, routing_weights):
    return (hidden, tokens, expert_output, routing_weights)


@triton.jit
def combine_kernel(hidden_ptr, tokens_ptr, expert_ptr, weights_ptr, n_tokens, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    live = rows < n_tokens
    mask = live[:, None] & (cols < n_cols)[None, :]
    token = tl.load(tokens_ptr + rows, mask=live, other=0)
    weight = tl.load(weights_ptr + rows, mask=live, other=0.0)
    value = tl.load(expert_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
    tl.atomic_add(hidden_ptr + token[:, None] * n_cols + cols[None, :], value * weight[:, None], mask=mask)


@torch.fx.wrap
def combine(hidden, tokens, expert_output, routing_weights):
    if not hidden.is_contiguous():
        raise ValueError("hidden is updated in place and must be contiguous")
    n_tokens, n_cols = expert_output.shape
    rows, cols = 4, 32
    grid = (triton.cdiv(n_tokens, rows), triton.cdiv(n_cols, cols))
    combine_kernel[grid](
        hidden, tokens.contiguous(), expert_output.contiguous(), routing_weights.contiguous(), n_tokens, n_cols,
        ROWS=rows, COLS=cols,
    )
    return hidden


def replacement_func():
    return combine
