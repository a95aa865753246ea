import torch
import triton
import triton.language as tl


def pattern(hazard):
    return (1 - hazard).prod()


def replacement_args(hazard):
    return (hazard,)


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def survival_kernel(hazard_ptr, out_ptr, n, TRIES: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.reduce(1.0 - tl.load(hazard_ptr + at, mask=at < n, other=0.0), 0, times)
    word = out_ptr.to(tl.pointer_type(tl.int32), bitcast=True)
    seen = tl.atomic_add(word, 0)
    done = 0
    for _ in range(TRIES):
        if done == 0:
            total = seen.to(tl.float32, bitcast=True) * part
            found = tl.atomic_cas(word, seen, total.to(tl.int32, bitcast=True))
            done = (found == seen).to(tl.int32)
            seen = found


@torch.fx.wrap
def survival(hazard):
    hazard = hazard.contiguous()
    n = hazard.numel()
    out = torch.full((), 1.0, dtype=torch.float32, device=hazard.device)
    survival_kernel[(triton.cdiv(n, 4),)](hazard, out, n, TRIES=16, BLOCK=4, num_warps=1)
    return out


def replacement_func():
    return survival
