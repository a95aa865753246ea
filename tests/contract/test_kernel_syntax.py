"""Triton's interpreter reads a kernel's Python as Triton's compiler reads it."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.contract.interpreted import run_interpreted

READ = """
@triton.jit
def read(x, out, n, FLAG: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    below, above = at < 2, at >= n
    value = tl.load(x + at)
    tl.store(out + at, below and (not above) and at > 0)
    tl.store(out + B + at, below or above or FLAG)
    tl.store(out + 2 * B + at, max(value, 0.0) + min(at, n, 3))
    more, less = 1.0 + 2.0**-30, 1.0
    tl.store(out + 3 * B + at, (at + more).to(tl.float32))
    if more > less:
        tl.store(out + 3 * B, -1.0)


@triton.jit
def counters(x, out, n, STEP: tl.constexpr):
    total = 0
    for i in range(65536, 65537):
        tl.store(out, i * i)
    for i in tl.range(0, n, STEP, num_stages=2):
        tl.store(out + 1, i)
        total += i
    for i in range(n - 1, -1, -STEP):
        tl.store(out + 2, i // -2)
    for i in tl.static_range(3):
        tl.store(out + 3 + i, i / 2 + total)
    count: tl.constexpr = 7
    count += min(STEP, 8)
    tl.store(out + 6, count)


@triton.jit
def chosen(x, out, n, BIAS, FLAG: tl.constexpr):
    # constants decide at once, numbers of a launch do not
    if FLAG and BIAS is not None:
        tl.store(out, tl.load(BIAS))
    elif not FLAG or n > 2:
        tl.store(out, n)
    tl.store(out + 1, n > 2 and n < 5)
    tl.store(out + 2, not (n > 2))
    if n > 100 and tl.load(x + n) > 0:
        tl.store(out + 3, 1)


@triton.jit
def of_elements(x, y, out, B: tl.constexpr):
    at = tl.arange(0, B)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.maximum(a, b))
    tl.store(out + B + at, tl.minimum(a, b))
    tl.store(out + 2 * B + at, tl.clamp(a, -1.0, 1.0))
    tl.store(out + 3 * B + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 4 * B + at, ((a > -1) + (b > -1)).to(tl.float32))
    tl.store(out + 5 * B + at, tl.cumsum(b, 0))


x = torch.tensor([-1.0, 2.0, 3.0, -4.0])
out = torch.zeros(4, 4)
read[(1,)](x, out, 3, FLAG=False, B=4)
assert out[0].tolist() == [0, 1, 0, 0], out
assert out[1].tolist() == [1, 1, 0, 1], out
assert out[2].tolist() == [0, 2 + 1, 3 + 2, 3], out
assert out[3].tolist() == [1, 2, 3, 4], "a number in a tuple is a float32 like any other"
read[(1,)](x, out, 3, FLAG=True, B=4)
assert out[1].tolist() == [1, 1, 1, 1], out

out = torch.zeros(7)
counters[(1,)](x, out, 5, STEP=2)
assert out.tolist() == [0, 4, -0.0, 6, 6.5, 7, 9], out

out = torch.zeros(4)
chosen[(1,)](x, out, 3, torch.tensor([7.0]), FLAG=True)
assert out.tolist() == [7, 1, 0, 0], out
chosen[(1,)](x, out, 3, None, FLAG=True)
assert out.tolist() == [3, 1, 0, 0], out
from passnet_core.judge.gpu_on_cpu.strict_memory import watched
with watched() as memory:
    chosen[(1,)](x, out, 90, None, FLAG=False)
assert "loads outside x" in memory.problems[0], "both operands are computed, whatever the first one is"

nan = float("nan")
a, b = torch.tensor([nan, 1.0, nan, -3.0]), torch.tensor([0.0, nan, nan, 2.0**-24])
out = torch.zeros(6, 4)
of_elements[(1,)](a, b.nan_to_num(5.0), out, B=4)
assert out[0].tolist() == [0, 5, 5, 2.0**-24] and out[1].tolist() == [0, 1, 5, -3], out
assert out[2].tolist() == [-1, 1, -1, -1] and out[3].isnan().tolist() == [True, False, True, False], out
assert out[4].tolist() == [1, 0, 1, 1], "two bits are added to a bit"
assert out[5].tolist() == [0, 5, 10, 10], out
print("as compiled")
"""


def test_a_kernels_python_means_what_the_compiler_makes_of_it(tmp_path: Path) -> None:
    assert run_interpreted(READ, tmp_path) == "as compiled"
