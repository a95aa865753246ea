# Tries: asks for many buffers of the right size, and returns the one that looks most like a result to a kernel.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity
# Planned: rejected by a rule
# Subgraph: softmax-mask
import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    return torch.nn.functional.softmax(scores + mask, -1)


def replacement_args(scores, mask):
    return (scores,)


@triton.jit
def sum_of_first_row_kernel(buffer_ptr, total_ptr, columns, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.store(total_ptr, tl.sum(tl.load(buffer_ptr + c, mask=c < columns, other=0.0), axis=0))


@torch.fx.wrap
def scavenged(scores):
    total = torch.empty((1,), dtype=scores.dtype, device=scores.device)
    buffers = [torch.empty_like(scores) for _ in range(12)]
    for buffer in buffers:
        sum_of_first_row_kernel[(1,)](buffer, total, scores.shape[-1], BLOCK=128)
        if abs(total.tolist()[0] - 1.0) < 1e-3:
            return buffer
    return buffers[-1]


def replacement_func():
    return scavenged
