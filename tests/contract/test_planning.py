"""What passes by rules use to plan their launches: sizes, strides and tiles."""

from pathlib import Path

from passnet_core.bundles import carried
from tests.contract.interpreted import run_interpreted


def run(script: str, folder: Path) -> str:
    (folder / "pass_dir").mkdir()
    (folder / "pass_dir" / "planning.py").write_text(carried.planning().code)
    return run_interpreted(script, folder, head="import itertools\nimport torch\nfrom planning import *\n")


def test_merged_dimensions_reach_the_same_elements(tmp_path: Path) -> None:
    told = """
def places(sizes, strides):
    return [sum(i * s for i, s in zip(index, strides)) for index in itertools.product(*map(range, sizes))]

base = torch.empty(3, 4, 5, 6)
tensors = [
    base, base.transpose(1, 2), base[:, :, 1:], base[..., ::2], base[:, :1], base[:1, :, :1], base.permute(3, 2, 1, 0),
    base[:, :, None, 0], base.expand(3, 4, 5, 6), base[0, 0], base[:0],
]
lengths = []
for one in tensors:
    row = torch.empty(one.shape[-1]).expand(one.shape)
    for other in [one, torch.empty(one.shape), torch.empty(1).expand(one.shape), row]:
        sizes, first, second = merged(tuple(one.shape), steps(one), steps(other))
        assert len(sizes) == len(first) == len(second) == one.dim()
        assert places(sizes, first) == places(one.shape, steps(one)), (one.shape, one.stride())
        assert places(sizes, second) == places(one.shape, steps(other))
    lengths.append(sum(size != 1 for size in merged(tuple(one.shape), steps(one), steps(one))[0]))
print(lengths)
"""
    found = run(told, tmp_path)
    assert found == "[1, 4, 2, 1, 2, 2, 4, 2, 1, 1, 1]"


def test_joint_sizes_are_those_of_broadcasting(tmp_path: Path) -> None:
    told = """
for one, other in itertools.product(range(4), repeat=2):
    try:
        wanted = torch.broadcast_shapes((one,), (other,))[0]
    except RuntimeError:
        try:
            joint(one, other)
        except ValueError as problem:
            assert f"{one} and {other}" in str(problem)
            continue
        raise AssertionError
    assert joint(one, other) == wanted, (one, other)
"""
    run(told, tmp_path)


def test_strides_in_an_order_are_those_of_the_permuted_tensor(tmp_path: Path) -> None:
    told = """
for order in itertools.permutations(range(4)):
    shape = (2, 3, 4, 5)
    permuted = torch.empty([shape[axis] for axis in order]).permute([order.index(axis) for axis in range(4)])
    assert tuple(permuted.shape) == shape
    assert empty_ordered(shape, order, dtype=torch.float16, device="cpu").stride() == permuted.stride()
"""
    run(told, tmp_path)


def test_an_allocation_lies_as_the_tensor_that_it_was_made_for(tmp_path: Path) -> None:
    told = """
last = torch.empty(1, 4, 3, 3).to(memory_format=torch.channels_last)
for tensor in (torch.empty(2, 3), torch.empty(2, 3).t().half(), last):
    new = allocation(tensor)
    one, other = new(), new()
    assert (one.shape, one.stride(), one.dtype) == (tensor.shape, tensor.stride(), tensor.dtype)
    assert one.data_ptr() != other.data_ptr()
"""
    run(told, tmp_path)


def test_a_mean_of_nothing_is_nan(tmp_path: Path) -> None:
    told = """
assert inverse(4) == 0.25 and inverse(0) != inverse(0)
assert torch.equal(torch.zeros(3, 0).mean(1), torch.zeros(3) * inverse(0)) is False
assert (torch.zeros(3, 0).mean(1).isnan() == (torch.zeros(3) * inverse(0)).isnan()).all()
"""
    run(told, tmp_path)


def test_tiles_and_blocks_cover_everything_and_are_powers_of_two(tmp_path: Path) -> None:
    told = """
for count in (0, 1, 2, 127, 128, 129, 5000, 10**6, 2**31 + 5):
    (programs,), block, warps = blocks(count)
    assert block & (block - 1) == 0 and warps in (1, 2, 4, 8)
    assert (programs - 1) * block < count <= programs * block or count == programs == 0
for others, down, across in itertools.product((0, 1, 7), (0, 1, 16, 37, 5000), (0, 1, 9, 64, 70000)):
    (programs,), (lower, wider), rows, columns, warps = crossing_tiles(others, down, across)
    assert rows & (rows - 1) == 0 and columns & (columns - 1) == 0 and rows * columns <= 4096 and warps in (1, 2, 4, 8)
    assert programs == others * lower * wider
    assert lower * rows >= down > (lower - 1) * rows or lower == down == 0
    assert wider * columns >= across > (wider - 1) * columns or wider == across == 0
lengths = ((1,), (7,), (768,), (16384,), (10**6,), (5, 900))
for function, rows, columns in itertools.product((tiles, tiles_of_long_rows), (0, 1, 3, 1000, 10**6), lengths):
    (programs,), together, *widths, warps = function(rows, *columns)
    assert len(widths) == len(columns) and all(width & (width - 1) == 0 for width in widths)
    assert all(width >= (length if function is tiles else min(length, 8192)) for width, length in zip(widths, columns))
    assert programs * together >= rows > (programs - 1) * together or rows == programs == 0
    assert 1 <= warps <= 16
    _, together, *widths, warps = function(rows, *columns, beside=True)
    assert all(width & (width - 1) == 0 for width in widths) and 1 <= warps <= 16
    assert function is tiles_of_long_rows or all(width >= length for width, length in zip(widths, columns))
    assert together >= min(rows, 16) or together * max(widths) >= 8192
    assert function is tiles or together * max(widths) <= 16384
try:
    tiles(1, 2**20 + 1)
except ValueError as problem:
    print(problem)
"""
    assert run(told, tmp_path) == "Rows of 1048577 elements do not fit in a tile."


def test_positions_beyond_32_bits_are_counted_in_64(tmp_path: Path) -> None:
    told = """
small, large = torch.empty(10, device="meta"), torch.empty(2**31, device="meta")
far = torch.empty(2, 2**31, device="meta")[:, :1]
print(index_dtype(small), index_dtype(small, large), index_dtype(far), index_dtype(large[: 2**31 - 1]))
"""
    assert run(told, tmp_path) == "int32 int64 int64 int32"


def test_tiles_of_a_product_cover_it_and_fit_in_a_processor(tmp_path: Path) -> None:
    told = """
lengths = (0, 1, 16, 17, 64, 297, 4096)
for batch, rows, columns, terms in itertools.product((0, 1, 500), lengths, lengths, lengths):
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        (programs,), sides, warps, stages = product_tiles(batch, rows, columns, terms, dtype)
        high, wide, deep = sides
        assert programs == batch * -(-rows // high) * -(-columns // wide)
        assert all(each >= 16 and each & each - 1 == 0 for each in sides), sides
        assert high < 2 * max(rows, 16) and wide < 2 * max(columns, 16) and deep < 2 * max(terms, 16)
        assert stages * deep * (high + wide) * dtype.itemsize <= 227 * 1024
        assert high * wide <= 128 * 32 * warps
print(product_tiles(1, 4096, 4096, 4096, torch.float16), product_tiles(1, 16, 4096, 4096, torch.float32))
"""
    assert run(told, tmp_path) == "((512,), (256, 128, 64), 8, 3) ((128,), (16, 32, 32), 4, 3)"


MOMENTS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def moments_kernel(x, means, variances, COUNT: tl.constexpr, LANES: tl.constexpr, EACH: tl.constexpr):
    row = tl.program_id(0) * 2 + tl.arange(0, 2)[:, None]
    mean, squares = tl.zeros((2, LANES), tl.float32), tl.zeros((2, LANES), tl.float32)
    for tile in tl.static_range(triton.cdiv(COUNT, LANES * EACH)):
        column = tile * LANES * EACH + tl.arange(0, LANES * EACH)[None, :]
        values = tl.load(x + row * COUNT + column, mask=column < COUNT)
        mean, squares = grown(mean, squares, values, tile, COUNT, LANES, EACH)
    mean, variance = united(mean, squares, COUNT, LANES, EACH)
    tl.store(means + row, mean)
    tl.store(variances + row, variance)

def by_kernel(x, lanes):
    found = torch.empty(2, len(x))
    moments_kernel[(len(x) // 2,)](x, *found, x.shape[1], *lanes)
    return found.numpy()

def inputs(count):
    made = torch.Generator().manual_seed(count)
    offsets = torch.tensor([[0.0], [1.0], [-50.0], [1000.0]])
    return torch.randn(4, count, generator=made) + offsets
"""


def test_moments_are_taken_in_the_order_of_eagers_threads(tmp_path: Path) -> None:
    told = f"""{MOMENTS}
one = np.float32(1)

def seen(part, value):
    mean, squares, count = part
    difference, count = value - mean, count + one
    new = mean + (difference * (one / count) if LAYER else difference / count)
    return new, squares + difference * (value - new), count

def met(low, high):
    total = low[2] + high[2]
    if LAYER:
        if not total:
            return low
        difference, inverse = low[0] - high[0], one / total
        share = low[2] * inverse
        mean = high[2] * inverse * high[0] + share * low[0]
        return mean, low[1] + high[1] + difference * difference * high[2] * share, total
    if not low[2] or not high[2]:
        return high if not low[2] else low
    difference, share = high[0] - low[0], high[2] / total
    return low[0] + difference * share, low[1] + high[1] + difference * difference * low[2] * share, total

def halved(parts):
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [met(low, high) for low, high in zip(parts[:half], parts[half:])]
    return parts[0]

def by_threads(row, threads, each):
    parts = [(one * 0, one * 0, one * 0)] * threads
    for place in range(0, len(row), each):
        for value in row[place : place + each]:
            parts[place // each % threads] = seen(parts[place // each % threads], value)
    warps = [halved(parts[start : start + 32]) for start in range(0, threads, 32)]
    mean, squares, count = halved(warps)
    return mean, squares / np.float32(len(row))

for LAYER, function, counts in (
    (True, layer_lanes, (4, 12, 100, 128, 256, 512, 768, 1024)),
    (False, layer_lanes, (3, 33, 130, 515)),
    (False, group_lanes, (3, 32, 100, 512, 1030)),
):
    for count in counts:
        x = inputs(count)
        threads, each = (128, 4) if LAYER else (512 if function is layer_lanes or count >= 512 else 32, 1)
        wanted = np.array([by_threads(row, threads, each) for row in x.numpy()]).T
        assert (by_kernel(x, function(count)) == wanted).all(), (LAYER, function, count)
"""
    run(told, tmp_path)


def test_moments_are_close_to_those_in_double_precision(tmp_path: Path) -> None:
    told = f"""{MOMENTS}
for count in (2, 5, 8, 96, 100, 384, 769, 2048):
    for function in (layer_lanes, group_lanes):
        x = inputs(count)
        mean, variance = by_kernel(x, function(count))
        wide = x.double()
        far = wide.abs().amax(1).numpy()
        assert (np.abs(mean - wide.mean(1).numpy()) < 1e-6 * far).all(), count
        assert (np.abs(variance / wide.var(1, correction=0).numpy() - 1) < 1e-6 * (10 + far)).all(), count
"""
    run(told, tmp_path)
