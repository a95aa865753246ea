import torch
import triton
import triton.language as tl


def pattern(logits):
    probs = torch.nn.functional.softmax(logits, dim=-1)
    chosen = logits.argmax(dim=-1)
    mask = torch.nn.functional.one_hot(chosen, num_classes=9)
    gate = (probs * mask).sum(dim=-1)
    return chosen, mask, gate


def replacement_args(logits):
    return (logits,)


@triton.jit
def top1_kernel(x_ptr, chosen_ptr, mask_ptr, gate_ptr, tokens, experts, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, BLOCK)[None, :]
    inside = (row[:, None] < tokens) & (col < experts)
    at = row[:, None] * experts + col
    x = tl.load(x_ptr + at, mask=inside, other=float("-inf"))

    # the first NaN wins, else the first of the largest
    nan = x != x
    largest = tl.max(tl.where(nan, float("-inf"), x), axis=1)
    has_nan = tl.max(nan.to(tl.int32), axis=1) > 0
    hit = tl.where(has_nan[:, None], nan, x == largest[:, None]) & (col < experts)
    index = tl.min(tl.where(hit, col, BLOCK), axis=1)
    one = col == index[:, None]

    e = tl.exp(x - largest[:, None])
    denominator = tl.sum(tl.where(col < experts, e, 0.0), axis=1)
    numerator = tl.sum(tl.where(one, e, 0.0), axis=1)

    tl.store(chosen_ptr + row, index.to(tl.int64), mask=row < tokens)
    tl.store(mask_ptr + at, one.to(tl.int64), mask=inside)
    tl.store(gate_ptr + row, numerator / denominator, mask=row < tokens)


@torch.fx.wrap
def top1_gate(logits):
    logits = logits.contiguous()
    tokens, experts = logits.shape
    chosen = torch.empty((tokens,), dtype=torch.int64, device=logits.device)
    mask = torch.empty((tokens, experts), dtype=torch.int64, device=logits.device)
    gate = torch.empty((tokens,), dtype=logits.dtype, device=logits.device)
    top1_kernel[(triton.cdiv(tokens, 16),)](
        logits, chosen, mask, gate, tokens, experts, ROWS=16, BLOCK=triton.next_power_of_2(experts), num_warps=2
    )
    return chosen, mask, gate


def replacement_func():
    return top1_gate
