# Tries: copies the input, which a fresh LayerNorm of normal data nearly is.
# Family: values
# Needs: cpu
# Verdict: wrong values
# Subgraph: layernorm-affine
import torch
import triton
import triton.language as tl


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x,)


@triton.jit
def copy_kernel(source_ptr, target_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target_ptr + at, tl.load(source_ptr + at, mask=at < count), mask=at < count)


@torch.fx.wrap
def copied(x):
    out = torch.empty_like(x)
    copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


def replacement_func():
    return copied
