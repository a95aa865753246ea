# Tries: normalises by the statistics of the batch, which spares two reads; they are near the running ones at first.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: batchnorm
import torch
import triton
import triton.language as tl


def pattern(x, mean, var, weight, bias):
    return torch.nn.functional.batch_norm(x, mean, var, weight, bias, False, 0.1, 1e-05)


def replacement_args(x, mean, var, weight, bias):
    return (x, weight, bias)


@triton.jit
def batch_kernel(x_ptr, w_ptr, b_ptr, o_ptr, batch, channels, plane, BATCH: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    n = tl.arange(0, BATCH)[:, None]
    p = tl.arange(0, BLOCK)[None, :]
    inside = (n < batch) & (p < plane)
    at = (n * channels + c) * plane + p
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    count = batch * plane
    d = tl.where(inside, x - tl.sum(tl.sum(x, axis=1), axis=0) / count, 0.0)
    var = tl.sum(tl.sum(d * d, axis=1), axis=0) / count
    tl.store(o_ptr + at, d * tl.rsqrt(var + 1e-5) * tl.load(w_ptr + c) + tl.load(b_ptr + c), mask=inside)


@torch.fx.wrap
def batch_statistics(x, weight, bias):
    out = torch.empty_like(x)
    batch, channels, height, width = x.shape
    batch_kernel[(channels,)](x, weight, bias, out, batch, channels, height * width, BATCH=2, BLOCK=32)
    return out


def replacement_func():
    return batch_statistics
