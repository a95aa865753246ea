# Tries: converts to float16 without the limits that the graph puts before, so that what is too large becomes
#   infinite.
# Family: values
# Needs: cpu
# Verdict: wrong NaN or infinity | wrong values
# Subgraph: clamp-to-half

import torch
import triton
import triton.language as tl


def pattern(x):
    return torch.clamp(x * 4.0, -64504.0, 64504.0).to(torch.float16)


def replacement_args(x):
    return (x,)


@triton.jit
def convert_kernel(x_ptr, out_ptr, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    tl.store(out_ptr + place, (tl.load(x_ptr + place, mask=inside) * 4.0).to(tl.float16), mask=inside)


@torch.fx.wrap
def converted(x):
    out = torch.empty(x.shape, dtype=torch.float16, device=x.device)
    convert_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), SIZE=256)
    return out


def replacement_func():
    return converted
