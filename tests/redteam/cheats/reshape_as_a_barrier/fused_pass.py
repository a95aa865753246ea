import torch
import triton
import triton.language as tl


def pattern(x, mix):
    return torch.roll(x, 1, -1) * mix


def replacement_args(x, mix):
    return (x, mix)


@triton.jit
def shifted_kernel(x_ptr, mix_ptr, scratch_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    mix = tl.load(mix_ptr + row * columns + at, mask=inside, other=0.0)
    tl.store(scratch_ptr + row * columns + at, x, mask=inside)
    mix = tl.reshape(mix, (BLOCK,))
    before = tl.load(scratch_ptr + row * columns + (at + columns - 1) % columns, mask=inside, other=0.0)
    tl.store(out_ptr + row * columns + at, before * mix, mask=inside)


@torch.fx.wrap
def shifted(x, mix):
    x, mix = x.contiguous(), mix.contiguous()
    out, scratch = torch.empty_like(x), torch.empty_like(x)
    columns = x.shape[-1]
    shifted_kernel[(x.numel() // columns,)](
        x, mix, scratch, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8
    )
    return out


def replacement_func():
    return shifted
