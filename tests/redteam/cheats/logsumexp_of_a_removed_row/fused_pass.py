import torch
import triton
import triton.language as tl


def pattern(scores):
    return torch.logsumexp(scores, dim=-1)


def replacement_args(scores):
    return (scores,)


@triton.jit
def logsumexp_kernel(scores_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scores = tl.load(scores_ptr + row * columns + at, mask=inside, other=-float("inf"))
    most = tl.max(scores, 0)
    total = tl.sum(tl.exp(scores - most), 0)
    tl.store(out_ptr + row, most + tl.log(total))


@torch.fx.wrap
def logsumexp(scores):
    scores = scores.contiguous()
    rows, columns = scores.shape
    out = torch.empty((rows,), dtype=scores.dtype, device=scores.device)
    logsumexp_kernel[(rows,)](scores, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return logsumexp
