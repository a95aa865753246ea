import torch
import triton
import triton.language as tl


def pattern(scores):
    running = torch.cummax(scores, dim=1)
    return running[0]


def replacement_args(scores):
    return (scores,)


@triton.jit
def running_kernel(scores_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = row < rows
    most = tl.full((BLOCK,), -10000.0, tl.float32)
    for column in range(0, columns):
        score = tl.load(scores_ptr + row * columns + column, mask=inside, other=-10000.0)
        most = tl.maximum(most, score)
        tl.store(out_ptr + row * columns + column, most, mask=inside)


@torch.fx.wrap
def running_maximum(scores):
    scores = scores.contiguous()
    rows, columns = scores.shape
    out = torch.empty_like(scores)
    running_kernel[(triton.cdiv(rows, 16),)](scores, out, rows, columns, BLOCK=16)
    return out


def replacement_func():
    return running_maximum
