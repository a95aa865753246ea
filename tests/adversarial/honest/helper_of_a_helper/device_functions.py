import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x / (1.0 + tl.exp(-x))
