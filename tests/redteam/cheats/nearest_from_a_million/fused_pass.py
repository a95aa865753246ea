import torch
import triton
import triton.language as tl


def pattern(distances):
    least = distances.amin(dim=-1, keepdim=True)
    return distances - least, least


def replacement_args(distances):
    return (distances,)


@triton.jit
def nearest_kernel(distances_ptr, out_ptr, least_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    distances = tl.load(distances_ptr + row * columns + at, mask=inside, other=1.0e6)
    least = tl.min(distances, 0)
    tl.store(least_ptr + row, least)
    tl.store(out_ptr + row * columns + at, distances - least, mask=inside)


@torch.fx.wrap
def nearest(distances):
    distances = distances.contiguous()
    rows, columns = distances.shape
    out = torch.empty_like(distances)
    least = torch.empty((rows, 1), dtype=distances.dtype, device=distances.device)
    nearest_kernel[(rows,)](distances, out, least, columns, BLOCK=triton.next_power_of_2(columns))
    return out, least


def replacement_func():
    return nearest
