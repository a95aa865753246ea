"""Sizes, strides and tiles of a launch. They are worked out once for arguments of a kind, not in every call."""

import functools
import math

import torch
import triton
import triton.language as tl

try:
    # what TorchInductor's code allocates with
    from torch._C._dynamo.guards import _empty_strided_cuda
except ImportError:
    _empty_strided_cuda = None

MOST = 2**31 - 1
MOST_IN_A_TILE = 2**20
WIDEST = 2**13
DTYPES = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32}

PROCESSORS = 132
"""So many programs keep a GPU busy: an H100 has as many processors."""

SIDES = (256, 128, 64, 32, 16)
"""Rows or columns of a tile of a product."""


def steps(tensor):
    """Strides of a tensor, 0 along dimensions of size 1, which are repeated wherever a larger size is asked."""
    return tuple(0 if size == 1 else stride for size, stride in zip(tensor.shape, tensor.stride()))


def joint(one, other):
    """The size of a dimension of an operation between tensors of these sizes."""
    if one != other and 1 not in (one, other):
        raise ValueError(f"Sizes {one} and {other} cannot be broadcast together.")
    return other if one == 1 else one


def empty_ordered(shape, order, *, dtype, device):
    """A tensor without gaps whose dimensions lie in this order, the outermost first."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return torch.empty_strided(shape, strides, dtype=dtype, device=device)


def merged(sizes, *strides):
    """Sizes and strides with dimensions that follow each other in memory, in all tensors, walked as one.

    The tuples keep their lengths: sizes of 1 come after the others, so that a single dimension is counted without a
    division, and the compiler sees that its elements are neighbours."""
    kept = [(sizes[-1], [each[-1] for each in strides])]
    for size, outer in zip(reversed(sizes[:-1]), zip(*(reversed(each[:-1]) for each in strides))):
        length, inner = kept[-1]
        if size == 1:
            continue
        if length == 1:
            kept[-1] = size, list(outer)
        elif all(a == b * length for a, b in zip(outer, inner)):
            kept[-1] = size * length, inner
        else:
            kept.append((size, list(outer)))
    kept.reverse()
    kept += [(1, [0] * len(strides))] * (len(sizes) - len(kept))
    return tuple(size for size, _ in kept), *(tuple(each[1][place] for each in kept) for place in range(len(strides)))


def allocation(tensor):
    """A function that allocates memory for a tensor like this one, which lies as this one does."""
    shape, strides = tuple(tensor.shape), tensor.stride()
    # on the current device, that is
    if COMPILES and tensor.is_cuda and _empty_strided_cuda is not None and torch.cuda.device_count() == 1:
        return functools.partial(_empty_strided_cuda, shape, strides, tensor.dtype)
    return functools.partial(torch.empty_strided, shape, strides, dtype=tensor.dtype, device=tensor.device)


def index_dtype(*tensors):
    """int64 if an element's position in one of the tensors may need it."""
    wide = any(
        tensor.numel() > MOST or sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) > MOST
        for tensor in tensors
    )
    return tl.int64 if wide else tl.int32


def triton_dtype(dtype):
    """Triton's word for one of torch's floating dtypes."""
    return DTYPES[dtype]


def kept_dtype(tensor):
    """In which dtype eager keeps the moments of group_norm between its kernels."""
    return triton_dtype(tensor.dtype if COMPILES and tensor.is_cuda else torch.float32)


def blocks(count):
    """Grid, block and warps of a kernel that walks so many elements."""
    block = 1024
    while block > 128 and triton.cdiv(count, block) < 256:
        block //= 2
    return (triton.cdiv(count, block),), block, max(block // 256, 1)


def crossing_tiles(others, down, across):
    """Grid, tiles along both sides, rows and columns of a tile, and warps, where tensors differ in which dimension is
    the inmost: a tile has enough of both, and each program one of the other elements."""
    side = 64 if others * triton.cdiv(down, 64) * triton.cdiv(across, 64) >= 512 else 32
    long, wide = (triton.next_power_of_2(max(each, 1)) for each in (down, across))
    # a short side leaves room along the other one
    rows, columns = min(long, max(side * side // wide, side), 256), min(wide, max(side * side // long, side), 256)
    counts = triton.cdiv(down, rows), triton.cdiv(across, columns)
    return (others * counts[0] * counts[1],), counts, rows, columns, min(max(rows * columns // 256, 1), 8)


def tiles(rows, *columns, beside=False):
    """Grid, rows and columns of a tile, and warps, where a tile holds whole rows, several of them if they are short.

    beside: in some tensor rows are neighbours in memory, and not the elements of a row: a tile needs several anyway."""
    if max(columns, default=0) > MOST_IN_A_TILE:
        raise ValueError(f"Rows of {max(columns)} elements do not fit in a tile.")
    return _tiles(rows, [triton.next_power_of_2(max(each, 1)) for each in columns], beside)


def tiles_of_long_rows(rows, *columns, beside=False):
    """The same where a program walks its rows in several tiles."""
    most = WIDEST // min(triton.next_power_of_2(max(rows, 1)), 32) if beside else WIDEST
    return _tiles(rows, [min(triton.next_power_of_2(max(each, 1)), most) for each in columns], beside)


def _tiles(rows, widths, beside):
    widest = max(widths, default=1)
    together = _neighbours(rows, widest) if beside else 1
    while not beside and together * 2 * widest <= 1024 and triton.cdiv(rows, together * 2) >= 256:
        together *= 2
    programs, elements = triton.cdiv(rows, together), together * widest
    if beside:
        warps = elements // 512
    elif programs < 1024:
        warps = elements // 256
    else:
        # while a warp waits there is enough to do elsewhere, and a row that one warp holds needs no barrier
        warps = elements // (1024 if widest <= 256 else 512)
    return (programs,), together, *widths, min(max(warps, 1), 16)


def _neighbours(rows, widest):
    """Rows of a tile that reads memory across them: as many as it hands out at once, and more if there are many."""
    together = 1
    while together < rows and (
        (together < 16 and together * widest < 2 * WIDEST)
        or (together < 128 and together * widest < 4096 and triton.cdiv(rows, together * 2) >= 256)
    ):
        together *= 2
    return together


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


def inverse(count):
    """What eager multiplies a sum by to get a mean."""
    return 1.0 / count if count else float("nan")


@triton.jit
def _nothing():
    pass


COMPILES = isinstance(_nothing, triton.runtime.JITFunction)
"""Whether kernels run on a GPU, and not in Triton's interpreter."""


@triton.jit
def divided(one, other):
    """The quotient as eager has it. In float32, Triton's / is off by up to two units in the last place."""
    if (one + other).dtype == tl.float64:
        return one / other
    return tl.div_rn(one, other)


def product_tiles(batch, rows, columns, terms, dtype):
    """Grid, sizes of a tile (rows, columns, terms of a sum at a time), warps and stages of a product of matrices.

    They are those that take least by an estimate: a processor computes high * wide products for each term, and reads
    high + wide elements, of which one takes as long as `reading` products."""
    narrow = dtype.itemsize < 4
    reading, most = (200, 2**15) if narrow else (10, 2**14)
    tall, broad, long = (max(triton.next_power_of_2(max(each, 1)), 16) for each in (rows, columns, terms))

    def programs(high, wide):
        return batch * triton.cdiv(rows, high) * triton.cdiv(columns, wide)

    def cost(sides):
        high, wide = sides
        return triton.cdiv(programs(high, wide), PROCESSORS) * (high * wide + reading * (high + wide))

    fitting = [(high, wide) for high in SIDES if high <= tall for wide in SIDES if wide <= broad]
    high, wide = min((each for each in fitting if math.prod(each) <= most), key=cost)
    area = high * wide
    deep = (64 if area > 512 else 128) if narrow else (16 if area > 2048 else 32)
    warps = 8 if area >= 2**14 else 4 if area > 256 else 2
    stages = 4 if narrow and area < 2**15 else 3
    return (programs(high, wide),), (high, wide, min(deep, long)), warps, stages


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
