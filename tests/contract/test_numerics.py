"""Functions and sums that passes by rules take to give the last bit of PyTorch's own kernels."""

import shutil
from pathlib import Path

from passnet_core.solvers.rules.helpers import FILES, FOLDER
from tests.contract.interpreted import HEAD, run_interpreted

MODULES = """
from numerics import *
from launch_sizes import *
import numpy as np
"""


def run(script: str, folder: Path) -> str:
    (folder / "pass_dir").mkdir()
    for name in FILES:
        shutil.copy(FOLDER / name, folder / "pass_dir")
    return run_interpreted(script, folder, head=HEAD + MODULES)


def test_the_error_function_is_right_over_all_of_float32(tmp_path: Path) -> None:
    told = """
@triton.jit
def erf_kernel(x, out, COUNT: tl.constexpr):
    place = tl.arange(0, COUNT)
    tl.store(out + place, erf32(tl.load(x + place)))

special = torch.tensor([0.0, -0.0, 1.0029, 1.003, -1.003, 4.0, torch.inf, -torch.inf, torch.nan, 1e-42, 3e38])
bits = torch.randint(-(2**31), 2**31, (1 << 14,), generator=torch.Generator().manual_seed(0)).int()
x = torch.cat([special, torch.linspace(-5, 5, 1 << 15), bits.view(torch.float32)])[: 1 << 15]
found = torch.empty_like(x)
erf_kernel[(1,)](x, found, len(x))
wanted = torch.erf(x.double())
assert torch.equal(found.isnan(), x.isnan())
known = ~x.isnan()
far = (found.double() - wanted)[known].abs() / wanted[known].abs().clamp(min=1e-38)
assert float(far.max()) < 2e-7, float(far.max())
assert torch.equal(found.signbit()[known], x.signbit()[known])
"""
    run(told, tmp_path)


_KERNEL = """
@triton.jit
def NAME_kernel(x, means, variances, COUNT: tl.constexpr, LANES: tl.constexpr, EACH: tl.constexpr):
    row = tl.program_id(0) * 2 + tl.arange(0, 2)[:, None]
    mean, squares = tl.zeros((2, LANES), tl.float32), tl.zeros((2, LANES), tl.float32)
    for tile in tl.static_range(triton.cdiv(COUNT, LANES * EACH)):
        column = tile * LANES * EACH + tl.arange(0, LANES * EACH)[None, :]
        values = tl.load(x + row * COUNT + column, mask=column < COUNT)
        mean, squares = grown(mean, squares, values, tile, COUNT, LANES, EACH)
    mean, variance = united(mean, squares, COUNT, LANES, EACH)
    tl.store(means + row, mean)
    tl.store(variances + row, variance)
"""

MOMENTS = f"""
{_KERNEL.replace("NAME", "moments")}
{_KERNEL.replace("NAME", "batch").replace("grown", "batch_grown").replace("united", "batch_united")}

def by_kernel(x, function):
    found = torch.empty(2, len(x))
    kernel = batch_kernel if function is batch_lanes else moments_kernel
    kernel[(len(x) // 2,)](x, *found, x.shape[1], *function(x.shape[1]))
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
        assert (by_kernel(x, function) == wanted).all(), (LAYER, function, count)
"""
    run(told, tmp_path)


def test_moments_of_a_batch_are_taken_from_neighbour_to_neighbour(tmp_path: Path) -> None:
    told = f"""{MOMENTS}
one = np.float32(1)
nothing = (one * 0, one * 0, one * 0)

def met(low, high):
    total = low[2] + high[2]
    inverse, difference = one / max(total, one), low[0] - high[0]
    mean = (low[2] * low[0] + high[2] * high[0]) * inverse
    return mean, low[1] + (difference * difference * low[2] * high[2] * inverse + high[1]), total

def by_pairs(parts):
    while len(parts) > 1:
        parts = [met(low, high) for low, high in zip(parts[::2], parts[1::2])]
    return parts[0]

def by_threads(row, threads):
    parts = [nothing] * threads
    for place, value in enumerate(row):
        mean, squares, count = parts[place % threads]
        difference, count = value - mean, count + one
        new = mean + difference / count
        parts[place % threads] = new, squares + difference * (value - new), count
    warps = [by_pairs(parts[start : start + 32]) for start in range(0, threads, 32)]
    mean, squares, count = by_pairs(warps + [nothing] * (32 - len(warps)))
    return mean, squares / np.float32(len(row))

for count, threads in ((2, 32), (32, 32), (33, 64), (147, 256), (512, 512), (1030, 512)):
    x = inputs(count)
    wanted = np.array([by_threads(row, threads) for row in x.numpy()]).T
    assert (by_kernel(x, batch_lanes) == wanted).all(), count
"""
    run(told, tmp_path)


def test_moments_are_close_to_those_in_double_precision(tmp_path: Path) -> None:
    told = f"""{MOMENTS}
for count in (2, 5, 8, 96, 100, 384, 769, 2048):
    for function in (layer_lanes, group_lanes, batch_lanes):
        x = inputs(count)
        mean, variance = by_kernel(x, function)
        wide = x.double()
        far = wide.abs().amax(1).numpy()
        assert (np.abs(mean - wide.mean(1).numpy()) < 1e-6 * far).all(), count
        assert (np.abs(variance / wide.var(1, correction=0).numpy() - 1) < 1e-6 * (10 + far)).all(), count
"""
    run(told, tmp_path)
