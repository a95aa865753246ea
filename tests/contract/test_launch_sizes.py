"""How passes by rules choose what they launch: sizes, strides and tiles."""

import shutil
from pathlib import Path

from passnet_core.solvers.rules.helpers import FOLDER
from tests.contract.interpreted import run_interpreted


def run(script: str, folder: Path) -> str:
    (folder / "pass_dir").mkdir()
    shutil.copy(FOLDER / "launch_sizes.py", folder / "pass_dir")
    return run_interpreted(script, folder, head="import itertools\nimport torch\nfrom launch_sizes import *\n")


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
