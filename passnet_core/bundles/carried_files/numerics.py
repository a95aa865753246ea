"""Functions and sums of float32 to the last bit as PyTorch's own kernels have them on a GPU, where Triton's differ."""

import triton
import triton.language as tl


@triton.jit
def erf32(x):
    """The error function of float32, as PyTorch has it: that of libdevice in CUDA 12.8 to 13.1, whose coefficients
    beyond 1.003 are others than those of the older libdevice that Triton brings along."""
    size = tl.abs(x)
    far = size >= 1.00296
    by = tl.where(far, size, x * x)
    found = tl.fma(tl.where(far, 0.000112198715, 8.4834945e-05), by, tl.where(far, -0.0013275252, -0.00082130916))
    found = tl.fma(found, by, tl.where(far, 0.008396535, 0.005213489))
    found = tl.fma(found, by, tl.where(far, -0.040246584, -0.026868774))
    found = tl.fma(found, by, tl.where(far, 0.15950431, 0.11284005))
    found = tl.fma(found, by, tl.where(far, 0.9129177, -0.37612665))
    found = tl.fma(found, by, tl.where(far, 0.62906003, 0.12837915))
    last = tl.where(far, -size, x)
    found = tl.fma(found, last, last)
    beyond = 1.0 - tl.exp2(found)
    return tl.where(far, tl.where(x < 0.0, -beyond, beyond), found)


def batch_lanes(columns):
    """How many threads see a row in eager's batch_norm of one example, and of how many elements each at a time:
    getNumThreads and batch_norm_collect_statistics_kernel of PyTorch's Normalization.cuh."""
    return min(max(triton.next_power_of_2(columns), 32), 512), 1


@triton.jit
def batch_grown(
    mean, squares, values, tile: tl.constexpr, COUNT: tl.constexpr, LANES: tl.constexpr, EACH: tl.constexpr
):
    """Means, and sums of squared differences from them, of what each of LANES threads has seen of rows of COUNT
    elements, after the next tile: by Welford's method."""
    inside = tile * LANES + tl.arange(0, LANES)[None, :] < COUNT
    difference = values - mean
    new_mean = mean + tl.div_rn(difference, tl.zeros_like(mean) + (tile + 1.0))
    new_squares = tl.fma(difference, values - new_mean, squares)
    return tl.where(inside, new_mean, mean), tl.where(inside, new_squares, squares)


@triton.jit
def batch_united(mean, squares, COUNT: tl.constexpr, LANES: tl.constexpr, EACH: tl.constexpr):
    """Mean and variance of rows of COUNT elements from what LANES threads have seen of them: neighbours of each warp
    are united until one is left, and then the warps, as if there were 32 of them."""
    lane = tl.arange(0, LANES)[None, :]
    count = tl.zeros_like(mean) + (COUNT + LANES - 1 - lane) // LANES
    for step in tl.static_range(1, 11):
        if step <= 5 or LANES >> step:
            mean, squares, count = _neighbours_united(mean, squares, count, LANES >> step)
        else:
            # with a warp that has seen nothing, which rounds the mean anew
            mean = mean * count * tl.div_rn(tl.zeros_like(count) + 1.0, tl.maximum(count, 1.0))
    return mean, tl.div_rn(squares, tl.zeros_like(squares) + COUNT)


@triton.jit
def _neighbours_united(mean, squares, count, PAIRS: tl.constexpr):
    ROWS: tl.constexpr = mean.shape[0]
    mean, other_mean = tl.split(tl.reshape(mean, (ROWS, PAIRS, 2)))
    squares, other_squares = tl.split(tl.reshape(squares, (ROWS, PAIRS, 2)))
    count, other_count = tl.split(tl.reshape(count, (ROWS, PAIRS, 2)))
    total = count + other_count
    inverse_total = tl.div_rn(tl.zeros_like(total) + 1.0, tl.maximum(total, 1.0))
    difference = mean - other_mean
    between = difference * difference * count * other_count
    new_mean = tl.fma(count, mean, other_count * other_mean) * inverse_total
    return new_mean, squares + tl.fma(between, inverse_total, other_squares), total
