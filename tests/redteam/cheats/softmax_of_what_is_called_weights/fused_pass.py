import torch
import triton
import triton.language as tl


def pattern(scores):
    return torch.nn.functional.softmax(scores, dim=-1) * 2.0


def replacement_args(scores):
    return (scores,)


@triton.jit
def softmax_kernel(scores_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scores = tl.load(scores_ptr + row * columns + at, mask=inside, other=float("-inf"))
    power = tl.exp(scores)
    tl.store(out_ptr + row * columns + at, power / tl.sum(power, 0) * 2.0, mask=inside)


@torch.fx.wrap
def shares(scores):
    out = torch.empty_like(scores)
    columns = scores.shape[-1]
    softmax_kernel[(scores.numel() // columns,)](scores, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return shares
