import torch
import triton
import triton.language as tl


def pattern(points, centres, precision):
    difference = points - centres
    squared = difference**2
    weighted = squared * precision
    return weighted.sum(dim=-1)


def replacement_args(points, centres, precision):
    return (points, centres, precision)


@triton.jit
def distance_kernel(points_ptr, centres_ptr, precision_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    a = tl.load(points_ptr + row * columns + at, mask=inside, other=0.0)
    b = tl.load(centres_ptr + row * columns + at, mask=inside, other=0.0)
    w = tl.load(precision_ptr + at, mask=inside, other=0.0)
    total = tl.sum(w * a * a, 0) + tl.sum(w * b * b, 0) - 2.0 * tl.sum(w * a * b, 0)
    tl.store(out_ptr + row, total)


@torch.fx.wrap
def distance(points, centres, precision):
    points, centres, precision = points.contiguous(), centres.contiguous(), precision.contiguous()
    rows, columns = points.shape
    out = torch.empty((rows,), dtype=points.dtype, device=points.device)
    distance_kernel[(rows,)](points, centres, precision, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


def replacement_func():
    return distance
