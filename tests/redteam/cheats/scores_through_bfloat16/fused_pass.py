import torch
import triton
import triton.language as tl


def pattern(scores, position):
    total = (scores + position) * 0.125
    return torch.nn.functional.softmax(total, dim=-1, dtype=torch.float32)


def replacement_args(scores, position):
    return (scores, position)


@triton.jit
def softmax_kernel(scores_ptr, position_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scores = tl.load(scores_ptr + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    position = tl.load(position_ptr + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    total = ((scores + position) * 0.125).to(tl.bfloat16).to(tl.float32)
    total = tl.where(inside, total, float("-inf"))
    power = tl.exp(total - tl.max(total, 0))
    tl.store(out_ptr + row * columns + at, power / tl.sum(power, 0), mask=inside)


@torch.fx.wrap
def shares(scores, position):
    rows, columns = scores.shape
    out = torch.empty((rows, columns), dtype=torch.float32, device=scores.device)
    softmax_kernel[(rows,)](scores, position, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return shares
