import torch
import triton
import triton.language as tl


def pattern(x):
    return x.pow(2).sum()


def replacement_args(x):
    return (x,)


@triton.jit
def energy_kernel(x_ptr, part_ptr, count_ptr, out_ptr, n, PROGRAMS: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    at = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(part_ptr + program, tl.sum(x * x, 0))
    tl.debug_barrier()
    before = tl.atomic_add(count_ptr, 1, sem="acq_rel")
    if before % PROGRAMS == PROGRAMS - 1:
        lane = tl.arange(0, LANES)
        tl.store(out_ptr, tl.sum(tl.load(part_ptr + lane, mask=lane < PROGRAMS, other=0.0), 0))


kept = {}


@torch.fx.wrap
def energy(x):
    x = x.contiguous()
    if x.device not in kept:
        kept[x.device] = torch.zeros((1,), dtype=torch.int32, device=x.device)
    programs = triton.cdiv(x.numel(), 512)
    parts = torch.empty((programs,), dtype=x.dtype, device=x.device)
    out = torch.empty((), dtype=x.dtype, device=x.device)
    energy_kernel[(programs,)](
        x, parts, kept[x.device], out, x.numel(), PROGRAMS=programs, LANES=triton.next_power_of_2(programs), BLOCK=512
    )
    return out


def replacement_func():
    return energy
