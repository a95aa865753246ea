import torch
import triton
import triton.language as tl


# Pattern: out = (x + y) + z
def pattern(x, y, z):
    tmp = x + y
    out = tmp + z
    return out


def replacement_args(x, y, z):
    return (x, y, z)


@triton.jit
def add3_persistent_kernel(x_ptr, y_ptr, z_ptr, out_ptr, n, num_tiles, NUM_PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    for tile in range(pid, num_tiles, NUM_PROGRAMS):
        offs = tile * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        z = tl.load(z_ptr + offs, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + offs, (x + y + z).to(out_ptr.dtype.element_ty), mask=mask)


@torch.fx.wrap
def add3(x, y, z):
    assert x.is_cuda and y.is_cuda and z.is_cuda, "expected CUDA tensors"
    assert x.shape == y.shape == z.shape, "this kernel does not broadcast"
    assert x.dtype in (torch.float32, torch.float16, torch.bfloat16)
    x = x.contiguous()
    y = y.contiguous()
    z = z.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    BLOCK = 1024
    num_tiles = triton.cdiv(n, BLOCK)
    num_sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    num_programs = min(num_sms, num_tiles)
    add3_persistent_kernel[(num_programs,)](
        x, y, z, out, n, num_tiles, NUM_PROGRAMS=num_programs, BLOCK=BLOCK, num_warps=4
    )
    return out


def replacement_func():
    return add3
