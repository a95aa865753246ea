import torch
import triton
import triton.language as tl


def pattern(scores):
    return scores - scores.amax(-1, keepdim=True)


def replacement_args(scores):
    return (scores,)


@triton.jit
def below_maximum_kernel(scores_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scores = tl.load(scores_ptr + row * columns + at, mask=inside, other=-10000.0)
    tl.store(out_ptr + row * columns + at, scores - tl.max(scores, 0), mask=inside)


@torch.fx.wrap
def below_maximum(scores):
    scores = scores.contiguous()
    out = torch.empty_like(scores)
    columns = scores.shape[-1]
    below_maximum_kernel[(scores.numel() // columns,)](
        scores, out, columns, BLOCK=triton.next_power_of_2(columns)
    )
    return out


def replacement_func():
    return below_maximum
