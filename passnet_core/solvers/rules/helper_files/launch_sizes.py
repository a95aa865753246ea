"""Sizes, strides and tiles of a launch. They are worked out once for arguments of a kind, not in every call."""

import math

import torch
import triton
import triton.language as tl

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
    laid_out = torch.empty([shape[axis] for axis in order], dtype=dtype, device=device)
    return laid_out.permute([order.index(axis) for axis in range(len(order))])


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


def inverse(count):
    """What eager multiplies a sum by to get a mean."""
    return 1.0 / count if count else float("nan")


@triton.jit
def _nothing():
    pass


COMPILES = isinstance(_nothing, triton.runtime.JITFunction)
"""Whether kernels run on a GPU, and not in Triton's interpreter."""


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
