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


def summing_lanes(rows, columns):
    """How many threads of eager's kernel add up a row of so many columns, if it has less than 8192: block_width in
    ReduceConfig::set_block_dimension of PyTorch's Reduce.cuh."""
    width = _power(min(columns // 4 if columns >= 128 else columns, 512))
    height = min(_power(min(rows, 512)), 512 // min(width, 32))
    return min(width, 512 // height)


def softmax_lanes(columns):
    """How many threads add up a row in eager's softmax of up to 1024 columns: a warp, or less for short rows."""
    return min(triton.next_power_of_2(max(columns, 1)), 32)


def layer_lanes(columns):
    """How many threads see anything of a row in eager's layer_norm, and of how many elements each at a time:
    vectorized_layer_norm_kernel and RowwiseMomentsCUDAKernel of PyTorch."""
    each = 1 if columns % 4 else 4
    return min(triton.next_power_of_2(max(columns // each, 1)), 512 // each), each


def group_lanes(columns):
    """The same in eager's group_norm."""
    return min(triton.next_power_of_2(max(columns, 1)), 512 if columns >= 512 else 32), 1


def _power(count):
    """The largest power of two that is not larger."""
    return 1 << (max(count, 1).bit_length() - 1)


@triton.jit
def divided(one, other):
    """The quotient as eager has it. In float32, Triton's / is off by up to two units in the last place."""
    if (one + other).dtype == tl.float64:
        return one / other
    return tl.div_rn(one, other)


@triton.jit
def rounded(value, dtype: tl.constexpr):
    """The value as eager has it after an operation: rounded to the tensor's dtype, and wide again for the next one."""
    return value.to(dtype).to(value.dtype)


@triton.jit
def folded(parts, LANES: tl.constexpr, VECTORS: tl.constexpr):
    """Sums of rows from 4 * LANES partial sums, in the order in which eager's threads add them: each its own four, of
    which VECTORS says whether they lie side by side, and then half to half."""
    ROWS: tl.constexpr = parts.shape[0]
    if VECTORS:
        fours = tl.reshape(parts, (ROWS, LANES, 2, 2))
    else:
        fours = tl.permute(tl.reshape(parts, (ROWS, 2, 2, LANES)), (0, 3, 1, 2))
    even, odd = tl.split(fours)
    first, third = tl.split(even)
    second, fourth = tl.split(odd)
    return halved(first + second + third + fourth, LANES)


@triton.jit
def halved(parts, LANES: tl.constexpr):
    """Sums of rows from LANES partial sums: half is added to half until one is left."""
    ROWS: tl.constexpr = parts.shape[0]
    total = parts
    for step in tl.static_range(1, 10):
        if LANES >> step:
            total = tl.sum(tl.reshape(total, (ROWS, 2, LANES >> step)), 1)
    return tl.reshape(total, (ROWS, 1))


@triton.jit
def grown(mean, squares, values, tile: tl.constexpr, COUNT: tl.constexpr, LANES: tl.constexpr, EACH: tl.constexpr):
    """Means, and sums of squared differences from them, of what each of LANES threads has seen of rows of COUNT
    elements, after the next tile: by Welford's method, EACH elements one after the other."""
    ROWS: tl.constexpr = values.shape[0]
    lane = tl.arange(0, LANES)[None, :]
    inside = tile * LANES + lane < COUNT // EACH
    if EACH == 4:
        even, odd = tl.split(tl.reshape(values, (ROWS, LANES, 2, 2)))
        first, third = tl.split(even)
        second, fourth = tl.split(odd)
        new_mean, new_squares = _with_next(mean, squares, first, 1.0 / (4 * tile + 1))
        new_mean, new_squares = _with_next(new_mean, new_squares, second, 1.0 / (4 * tile + 2))
        new_mean, new_squares = _with_next(new_mean, new_squares, third, 1.0 / (4 * tile + 3))
        new_mean, new_squares = _with_next(new_mean, new_squares, fourth, 1.0 / (4 * tile + 4))
    else:
        difference = values - mean
        new_mean = mean + tl.div_rn(difference, tl.zeros_like(mean) + (tile + 1.0))
        new_squares = tl.fma(difference, values - new_mean, squares)
    return tl.where(inside, new_mean, mean), tl.where(inside, new_squares, squares)


@triton.jit
def _with_next(mean, squares, value, INVERSE: tl.constexpr):
    difference = value - mean
    new_mean = tl.fma(difference, tl.zeros_like(mean) + INVERSE, mean)
    return new_mean, tl.fma(difference, value - new_mean, squares)


@triton.jit
def united(mean, squares, COUNT: tl.constexpr, LANES: tl.constexpr, EACH: tl.constexpr):
    """Mean and variance of rows of COUNT elements from what LANES threads have seen of them, united in the order of
    eager's threads: half with half of each warp, and then half with half of the warps."""
    WARP: tl.constexpr = LANES if LANES < 32 else 32
    # all threads have seen as many
    EVEN: tl.constexpr = COUNT % (LANES * EACH) == 0
    if EVEN:
        count = tl.full((1, 1), COUNT // LANES, tl.float32)
    else:
        lane = tl.arange(0, LANES)[None, :]
        count = tl.zeros_like(mean) + (COUNT // EACH + LANES - 1 - lane) // LANES * EACH
    for step in tl.static_range(1, 6):
        if WARP >> step:
            mean, squares, count = _by_halves(mean, squares, count, LANES // WARP, WARP >> step, EACH, EVEN)
    for step in tl.static_range(1, 5):
        if 16 >> step < LANES // WARP:
            mean, squares, count = _by_halves(mean, squares, count, 1, 16 >> step, EACH, EVEN)
        elif EACH == 4 and step > 2:
            # layer_norm has four warps, and unites these with those that have seen nothing
            mean = mean * (count * tl.div_rn(tl.zeros_like(count) + 1.0, tl.maximum(count, 1.0)))
    return mean, tl.div_rn(squares, tl.zeros_like(squares) + COUNT)


@triton.jit
def _by_halves(mean, squares, count, GROUPS: tl.constexpr, SIZE: tl.constexpr, EACH: tl.constexpr, EVEN: tl.constexpr):
    mean, other_mean = _halves(mean, GROUPS, SIZE)
    squares, other_squares = _halves(squares, GROUPS, SIZE)
    if EVEN:
        other_count = count
    else:
        count, other_count = _halves(count, GROUPS, SIZE)
    total = count + other_count
    if EACH == 4:
        # layer_norm's own formula
        inverse_total = tl.div_rn(tl.zeros_like(total) + 1.0, tl.maximum(total, 1.0))
        difference = mean - other_mean
        share = count * inverse_total
        new_mean = tl.fma(other_count * inverse_total + tl.zeros_like(mean), other_mean, share * mean)
        new_squares = difference * difference * other_count
        new_squares = tl.fma(new_squares, share + tl.zeros_like(mean), other_squares + squares)
    else:
        difference = other_mean - mean
        share = tl.div_rn(other_count, tl.maximum(total, 1.0)) + tl.zeros_like(mean)
        new_mean = tl.fma(difference, share, mean)
        new_squares = tl.fma(difference * difference * count, share, squares + other_squares)
        if not EVEN:
            new_mean = tl.where(count == 0, other_mean, tl.where(other_count == 0, mean, new_mean))
            new_squares = tl.where(count == 0, other_squares, tl.where(other_count == 0, squares, new_squares))
    return new_mean, new_squares, total


@triton.jit
def _halves(parts, GROUPS: tl.constexpr, SIZE: tl.constexpr):
    """Of each group of twice this size its first half, and its second half."""
    ROWS: tl.constexpr = parts.shape[0]
    low, high = tl.split(tl.permute(tl.reshape(parts, (ROWS, GROUPS, 2, SIZE)), (0, 1, 3, 2)))
    return tl.reshape(low, (ROWS, GROUPS * SIZE)), tl.reshape(high, (ROWS, GROUPS * SIZE))
