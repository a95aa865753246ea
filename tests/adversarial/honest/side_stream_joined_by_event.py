# Tries: two independent activations on two streams, joined by events before returning.
# Family: honest
# Needs: gpu
# Verdict: accepted
# Planned: rejected by a rule
# Subgraph: two-activations

import torch
import triton
import triton.language as tl


def pattern(x, y):
    return torch.nn.functional.relu(x, inplace=False), torch.sigmoid(y)


def replacement_args(x, y):
    return (x, y)


@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.store(out_ptr + offsets, tl.where(x < 0, 0.0, x), mask=offsets < count)


@triton.jit
def sigmoid_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.store(out_ptr + offsets, 1.0 / (1.0 + tl.exp(-x)), mask=offsets < count)


class Streams:
    """The second stream, made at the first call."""

    second = None


@torch.fx.wrap
def both(x, y):
    first, second = torch.empty_like(x), torch.empty_like(y)
    if Streams.second is None:
        Streams.second = torch.cuda.Stream()
    ready, done = torch.cuda.Event(), torch.cuda.Event()
    ready.record()
    with torch.cuda.stream(Streams.second):
        Streams.second.wait_event(ready)
        sigmoid_kernel[(triton.cdiv(y.numel(), 256),)](y, second, y.numel(), BLOCK=256)
        done.record()
    relu_kernel[(triton.cdiv(x.numel(), 256),)](x, first, x.numel(), BLOCK=256)
    torch.cuda.current_stream().wait_event(done)
    return first, second


def replacement_func():
    return both
