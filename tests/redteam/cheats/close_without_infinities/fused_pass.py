import torch
import triton
import triton.language as tl


def pattern(given, wanted):
    return torch.isclose(given, wanted, rtol=0.001, atol=1e-05)


def replacement_args(given, wanted):
    return (given, wanted)


@triton.jit
def close_kernel(given_ptr, wanted_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    given = tl.load(given_ptr + at, mask=inside, other=0.0)
    wanted = tl.load(wanted_ptr + at, mask=inside, other=0.0)
    near = tl.abs(given - wanted) <= 1e-05 + 0.001 * tl.abs(wanted)
    tl.store(out_ptr + at, near, mask=inside)


@torch.fx.wrap
def close(given, wanted):
    out = torch.empty(given.shape, dtype=torch.bool, device=given.device)
    n = out.numel()
    close_kernel[(triton.cdiv(n, 512),)](given, wanted, out, n, BLOCK=512)
    return out


def replacement_func():
    return close
