import torch
import triton
import triton.language as tl


def pattern(scores, fallback):
    lost = torch.isinf(scores)
    chosen = torch.where(lost, fallback, scores)
    return torch.sigmoid(chosen)


def replacement_args(scores, fallback):
    return (scores, fallback,)


@triton.jit
def chosen_kernel(scores_ptr, fallback_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    scores = tl.load(scores_ptr + at, mask=inside, other=0)
    fallback = tl.load(fallback_ptr + at, mask=inside, other=0)
    chosen = tl.where(scores == float("-inf"), fallback, scores)
    y = 1.0 / (1.0 + tl.exp(-chosen))
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@torch.fx.wrap
def chosen(scores, fallback):
    out = torch.empty_like(scores)
    n = out.numel()
    chosen_kernel[(triton.cdiv(n, 256),)](scores, fallback, out, n, scores.shape[-1], BLOCK=256)
    return out


def replacement_func():
    return chosen
