import torch
import triton
import triton.language as tl


def pattern(frames, weight, bias):
    return torch.nn.functional.batch_norm(frames, None, None, weight, bias, True, 0.1, 1e-05)


def replacement_args(frames, weight, bias):
    return (frames, weight, bias)


@triton.jit
def batch_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, batch, channels, length, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    channel = tl.program_id(0)
    row, column = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside = (row < batch)[:, None] & (column < length)[None, :]
    place = (row * channels + channel)[:, None] * length + column[None, :]
    x = tl.load(x_ptr + place, mask=inside, other=0.0)
    count = batch * length
    mean = tl.sum(tl.sum(x, 1), 0) / count
    square = tl.sum(tl.sum(x * x, 1), 0) / count
    variance = tl.maximum(square - mean * mean, 0.0)
    scale = tl.load(weight_ptr + channel) / tl.sqrt(variance + 1e-05)
    y = (x - mean) * scale + tl.load(bias_ptr + channel)
    tl.store(out_ptr + place, y, mask=inside)


@torch.fx.wrap
def batch_norm(frames, weight, bias):
    frames = frames.contiguous()
    out = torch.empty_like(frames)
    batch, channels, length = frames.shape
    batch_norm_kernel[(channels,)](
        frames, weight, bias, out, batch, channels, length,
        ROWS=triton.next_power_of_2(batch), COLUMNS=triton.next_power_of_2(length),
    )
    return out


def replacement_func():
    return batch_norm
