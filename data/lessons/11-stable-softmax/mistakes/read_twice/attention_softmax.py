"""Attention weights as ViT computes them: scores scaled, softmax in float32, idle dropout. One program per row."""

import torch
import triton
import triton.language as tl


def pattern(scores, scale, dtype, p):
    weights = torch.nn.functional.softmax(scores * scale, dim=-1, dtype=torch.float32)
    return torch.nn.functional.dropout(weights.to(dtype=dtype), p, False)


def replacement_args(scores, scale, dtype, p):
    return (scores, scale, dtype)


@triton.jit
def softmax_kernel(scores_ptr, largest_ptr, out_ptr, columns, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    # Lanes beyond the row hold minus infinity: never the maximum, and 0 after exp.
    narrow = tl.load(scores_ptr + row * columns + column, mask=inside, other=float("-inf"))
    x = (narrow.to(tl.float32) * scale).to(narrow.dtype).to(tl.float32)
    # The largest exponent is 0 now, so that exp cannot overflow. The factor that this takes out cancels below.
    powers = tl.exp(x - tl.load(largest_ptr + row))
    weights = powers / tl.sum(powers, axis=0)
    tl.store(out_ptr + row * columns + column, weights.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def largest_kernel(scores_ptr, largest_ptr, columns, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    narrow = tl.load(scores_ptr + row * columns + column, mask=column < columns, other=float("-inf"))
    x = (narrow.to(tl.float32) * scale).to(narrow.dtype).to(tl.float32)
    tl.store(largest_ptr + row, tl.max(x, axis=0))


@torch.fx.wrap
def attention_softmax(scores, scale, dtype):
    scores = scores.contiguous()
    out = torch.empty_like(scores, dtype=dtype)
    columns = scores.shape[-1]
    rows = scores.numel() // columns
    largest = torch.empty(rows, dtype=torch.float32, device=scores.device)
    largest_kernel[(rows,)](scores, largest, columns, scale, BLOCK=triton.next_power_of_2(columns))
    softmax_kernel[(rows,)](scores, largest, out, columns, scale, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return attention_softmax
