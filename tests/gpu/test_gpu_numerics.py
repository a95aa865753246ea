"""What passes by rules compute to the last bit of PyTorch's own kernels."""

from pathlib import Path

import pytest

from passnet_core.solvers.rules.helpers import FOLDER
from tests.gpu.scripts import run_beside

pytestmark = pytest.mark.gpu

HEAD = """
import torch
import triton
import triton.language as tl
from numerics import batch_grown, batch_lanes, batch_united, erf32
"""

CASES = {
    "erf": """
@triton.jit
def kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, erf32(tl.load(x + at, mask=at < count)), mask=at < count)

bits = torch.randint(-(2**31), 2**31, (1 << 24,), device="cuda").int().view(torch.float32)
x = torch.cat([bits[~bits.isnan()], torch.randn(1 << 24, device="cuda") * 2])
found = torch.empty_like(x)
kernel[(triton.cdiv(len(x), 1024),)](x, found, len(x), 1024, enable_fp_fusion=False)
assert torch.equal(found, torch.erf(x)), int((found != torch.erf(x)).sum())
""",
    "moments of a batch": """
@triton.jit
def kernel(x, means, roots, COUNT: tl.constexpr, LANES: tl.constexpr, EACH: tl.constexpr):
    row = tl.program_id(0)
    mean, squares = tl.zeros((1, LANES), tl.float32), tl.zeros((1, LANES), tl.float32)
    for tile in tl.static_range((COUNT + LANES - 1) // LANES):
        column = tile * LANES + tl.arange(0, LANES)[None, :]
        values = tl.load(x + row * COUNT + column, mask=column < COUNT, other=0.0).to(tl.float32)
        mean, squares = batch_grown(mean, squares, values, tile, COUNT, LANES, EACH)
    mean, variance = batch_united(mean, squares, COUNT, LANES, EACH)
    tl.store(means + row + tl.zeros_like(mean).to(tl.int32), mean)
    tl.store(roots + row + tl.zeros_like(mean).to(tl.int32), tl.extra.cuda.libdevice.rsqrt(variance + 1e-8))

for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for count in (2, 31, 32, 64, 100, 147, 512, 576, 2048, 4608):
        x = (torch.randn(1, 256, count, device="cuda") + torch.randn(1, 256, 1, device="cuda")).to(dtype)
        _, mean, root = torch.native_batch_norm(x, None, None, None, None, True, 0.0, 1e-8)
        found = torch.empty(2, 256, device="cuda")
        kernel[(256,)](x, *found, count, *batch_lanes(count), enable_fp_fusion=False)
        assert torch.equal(found[0], mean.float()) and torch.equal(found[1], root.float()), (dtype, count)
""",
}


@pytest.mark.parametrize("lines", CASES.values(), ids=list(CASES))
def test_kernels_have_the_bits_of_eager(lines: str, tmp_path: Path) -> None:
    run_beside(FOLDER / "numerics.py", f"{HEAD}\n{lines}\n", tmp_path)
