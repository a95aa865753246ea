import torch
import triton
import triton.language as tl


def pattern(x, gain):
    return torch.roll(x, 3, -1) * gain


def replacement_args(x, gain):
    return (x, gain)


@triton.jit
def rolled_kernel(x_ptr, gain_ptr, out_ptr, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, COLUMNS)
    source = tl.max_contiguous(tl.multiple_of((at + COLUMNS - 3) % COLUMNS, COLUMNS), COLUMNS)
    x = tl.load(x_ptr + row[:, None] * COLUMNS + source[None, :])
    place = row[:, None] * COLUMNS + at[None, :]
    tl.store(out_ptr + place, x * tl.load(gain_ptr + place))


@torch.fx.wrap
def rolled(x, gain):
    x, gain = x.contiguous(), gain.contiguous()
    out = torch.empty_like(x)
    columns = x.shape[-1]
    rows = x.numel() // columns
    share = 8 if rows % 8 == 0 else 1
    rolled_kernel[(rows // share,)](x, gain, out, COLUMNS=columns, ROWS=share)
    return out


def replacement_func():
    return rolled
