"""Triton's interpreter with this project's repairs: kernels compute the same without a GPU as on a GPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import seconds

pytestmark = pytest.mark.settled

pytest.importorskip("triton")

PROJECT = Path(__file__).resolve().parents[2]

SCRIPT = """
import torch
from passnet_core.judge.gpu_on_cpu import interpreter
interpreter.mend()
interpreter.mend()
import triton
import triton.language as tl
from triton.language.extra import libdevice
from passnet_core.judge.gpu_on_cpu.needs_gpu import need_of
from triton.runtime.errors import InterpreterError
from triton.language.extra.cuda import libdevice as cuda_libdevice


@triton.jit
def concatenated(x, y, out, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + tl.arange(0, 2 * B), tl.cat(tl.load(x + at), tl.load(y + at), can_reorder=True))


@triton.jit
def left_out(x, out):
    tl.store(out, tl.load(x, mask=tl.program_id(0) > 5, other=0))


@triton.jit
def in_halves(a, b, out, KIND: tl.constexpr, K: tl.constexpr):
    row, k = tl.arange(0, 32), tl.arange(0, K)
    x, y = tl.load(a + row[:, None] * K + k[None, :]), tl.load(b + k[:, None] * 32 + row[None, :])
    tl.store(out + row[:, None] * 32 + row[None, :], tl.dot(x, y, out_dtype=KIND).to(tl.float32))


@triton.jit
def binary(x, y, z, n, KIND: tl.constexpr, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + o, mask=o < n, other=0.0)
    b = tl.load(y + o, mask=o < n)
    if KIND == "product":
        c = a * b
    elif KIND == "sum":
        c = a + b
    elif KIND == "larger":
        c = tl.where(a > b, a, b)
    elif KIND == "size":
        c = tl.abs(a)
    elif KIND == "sigmoid":
        c = tl.sigmoid(a.to(tl.float32)).to(a.dtype)
    elif KIND == "bits":
        c = a.to(tl.int16, bitcast=True).to(a.dtype, bitcast=True)
    elif KIND == "one":
        c = tl.full((B,), 1.0, a.dtype)
    tl.store(z + o, c, mask=o < n)


@triton.jit
def rounding(x, z, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + o, tl.load(x + o, mask=o < n), mask=o < n)


@triton.jit
def reduction(x, z, n, B: tl.constexpr):
    o = tl.arange(0, B)
    a = tl.load(x + o, mask=o < n, other=0.0).to(tl.float32)
    tl.store(z, tl.sum(a, axis=0))
    tl.store(z + 1, tl.max(a, axis=0))


@triton.jit
def product(x, y, z, B: tl.constexpr, PRECISION: tl.constexpr = "tf32"):
    o = tl.arange(0, B)
    i = o[:, None] * B + o[None, :]
    tl.store(z + i, tl.dot(tl.load(x + i), tl.load(y + i), input_precision=PRECISION))

@triton.jit
def folded(one, other):
    return one * 0.5 + other

@triton.jit
def later(value, index, other_value, other_index):
    return other_value, other_index

@triton.jit
def orders(x, small, scanned, reduced, counts, B: tl.constexpr, HALF: tl.constexpr):
    at = tl.arange(0, B)
    value = tl.load(x + at)
    tl.store(scanned + at, tl.associative_scan(value, 0, folded))
    tl.store(reduced, tl.reduce(value, 0, folded))
    tl.store(reduced + 1, tl.sum(tl.load(small + at)).to(tl.float32))
    last, place = tl.reduce((value, at), 0, later)
    tl.store(reduced + 2, last)
    tl.store(reduced + 3, place.to(tl.float32))
    rows = tl.reshape(value, (HALF, 2))
    tl.store(reduced + 4 + tl.arange(0, HALF), tl.reduce(rows, 1, folded))
    tl.store(counts + tl.arange(0, 4), tl.histogram(at - 2, 4))


@triton.jit
def then(decay, state, next_decay, next_state):
    return decay * next_decay, state * next_decay + next_state


@triton.jit
def in_order(x, out, B: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    decay = tl.full((B,), 0.5, tl.float32)
    _, states = tl.associative_scan((decay, value), 0, then)
    _, state = tl.reduce((decay, value), 0, then)
    tl.store(out + tl.arange(0, B), states)
    tl.store(out + B, state)


@triton.jit
def fast(x, y, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, libdevice.fast_sinf(a))
    tl.store(out + n + at, libdevice.fast_expf(b))
    tl.store(out + 2 * n + at, libdevice.fast_dividef(a, b))
    tl.store(out + 3 * n + at, libdevice.fast_logf(tl.abs(a)))
    tl.store(out + 4 * n + at, libdevice.fast_powf(tl.abs(a), b))


@triton.jit
def hinted(x, out, M, CLAIM: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    if CLAIM == "rows":
        at = tl.max_contiguous(tl.multiple_of(at % M, B), B)
    elif CLAIM == "turned":
        at = tl.max_contiguous(tl.multiple_of((at + B - 3) % M, 4), B)
    elif CLAIM == "spread":
        at = tl.max_contiguous(2 * at, 4)
    elif CLAIM == "constant":
        at = tl.max_constancy(at // 4, 4)
    elif CLAIM == "not constant":
        at = tl.max_constancy(at // 4, 8)
    elif CLAIM == "columns":
        at = tl.reshape(tl.multiple_of(tl.reshape(at, (4, B // 4)), [1, 4]), (B,))
    elif CLAIM == "aligned":
        x = tl.multiple_of(x, 16)
        tl.assume(M % 16 == 0)
    tl.store(out + at, tl.load(x + at))


@triton.constexpr_function
def wide(count, of=1):
    return count > 64 * of


@triton.jit
def with_constants(x, out, n, WRONG: tl.constexpr, B: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    if WRONG == "a block":
        wide(value)
    if WRONG == "a number":
        wide(B, of=n)
    if WRONG == "a function":
        wide((B, then))
    if WRONG == "another function":
        wide(tl.load)
    if wide(B, of=2):
        value += 1
    tl.store(out + tl.arange(0, B), value)


@triton.jit
def device_functions(x, z, n, B: tl.constexpr):
    o = tl.arange(0, B)
    a = tl.load(x + o, mask=o < n)
    tl.store(z + o, libdevice.tanh(a) + libdevice.pow(a, 2.0) + cuda_libdevice.erf(a), mask=o < n)
    tl.store(z + n + o, libdevice.log1p(libdevice.exp(a)), mask=o < n)


@triton.jit
def add_to_first(x, z):
    tl.atomic_add(z, tl.load(x))


@triton.jit
def exchanged(x, y, z):
    tl.store(z, tl.atomic_xchg(x, tl.load(y)))


@triton.jit
def described(z, A: tl.constexpr, B: tl.constexpr):
    rows, columns = tl.arange(0, A), tl.arange(0, B)
    table = rows[:, None] * B + columns[None, :]
    wide, truth = table.to(tl.float32), table > 3
    tl.static_assert(table.shape[0] == A and table.shape[1] == B and table.numel == A * B)
    tl.static_assert(wide.dtype == tl.float32 and table.dtype == tl.int32 and truth.dtype == tl.int1)
    tl.static_assert(wide.type != table.type and rows.type != wide.type and wide.shape == table.shape)
    flat = tl.reshape(tl.trans(wide), (A * B,))
    tl.static_assert(flat.shape[0] == A * B and len(flat.shape) == 1)
    tl.store(z + tl.arange(0, A * B), flat)


@triton.jit
def of_size(z, B: tl.constexpr):
    tl.store(z + tl.arange(0, 4), tl.zeros((B,), tl.float32))


for a, b in ((4, 8), (8, 4), (4, 8), (2, 16)):
    z = torch.empty(a * b)
    described[(1,)](z, A=a, B=b)
    assert torch.equal(z, torch.arange(a * b).reshape(a, b).T.reshape(-1).float()), (a, b)
for size in (4, 3, 4, 3):
    z = torch.ones(4)
    try:
        of_size[(1,)](z, B=size)
    except InterpreterError as error:
        assert size == 3 and "power of 2" in str(error.__cause__ or error), error
    else:
        assert size == 4 and not z.any()

def in_tf32(values):
    return (((values.view(torch.int32) + 4096) >> 13) << 13).view(torch.float32)


torch.manual_seed(0)
n = 1000
for dtype in (torch.bfloat16, torch.float16, torch.float32):
    x, y = torch.randn(n).to(dtype), torch.randn(n).to(dtype)
    expected = {
        "product": x * y, "sum": x + y, "larger": torch.maximum(x, y), "size": x.abs(), "one": torch.ones_like(x),
        "sigmoid": torch.sigmoid(x.float()).to(dtype),
    }
    if dtype is not torch.float32:
        expected["bits"] = x
    for kind, wanted in expected.items():
        z = torch.empty_like(x)
        binary[(8,)](x, y, z, n, KIND=kind, B=128)
        torch.testing.assert_close(z, wanted, rtol=1e-6 if kind == "sigmoid" else 0, atol=0, msg=f"{dtype} {kind}")
    z = torch.empty(2)
    reduction[(1,)](x, z, n, B=1024)
    torch.testing.assert_close(z, torch.stack([x.double().sum().float(), x.max().float()]), rtol=1e-4, atol=1e-4)
    a, b, z = torch.randn(32, 32).to(dtype), torch.randn(32, 32).to(dtype), torch.empty(32, 32)
    product[(1,)](a, b, z, B=32)
    # float32 is multiplied in TF32, whose mantissa has 10 bits
    one, other = (each.float() if dtype is not torch.float32 else in_tf32(each) for each in (a, b))
    torch.testing.assert_close(z, one @ other, rtol=1e-5, atol=1e-4)
    product[(1,)](a, b, z, B=32, PRECISION="ieee")
    torch.testing.assert_close(z, a.float() @ b.float(), rtol=1e-5, atol=1e-4)

x, small = torch.randn(16), torch.full((16,), 1.0, dtype=torch.float16)
small[0] = 2048.0
scanned, reduced, counts = torch.empty(16), torch.empty(12), torch.empty(4, dtype=torch.int32)
orders[(1,)](x, small, scanned, reduced, counts, B=16, HALF=8)
# functions that are not associative do not give what going from element to element gives
for at in range(1, 16):
    step_by_step = x[0] if at == 1 else step_by_step
    step_by_step = step_by_step * 0.5 + x[at]
    assert at == 1 or not torch.allclose(scanned[at], step_by_step, rtol=1e-3), at
assert torch.allclose(scanned[:2], torch.stack([x[0], x[0] * 0.5 + x[1]]))
tree = x
while len(tree) > 1:
    tree = tree[0::2] * 0.5 + tree[1::2]
assert torch.allclose(reduced[0], tree[0])
# in a tree of float16, 2048 takes in one 1 after the other only where they have become 2
assert reduced[1].item() == 2062, reduced[1]
assert reduced[2] == x[-1] and reduced[3] == 15
assert torch.allclose(reduced[4:], x[0::2] * 0.5 + x[1::2])
assert counts.tolist() == [4, 4, 4, 4]

ties = torch.tensor([1 + 2**-8, 1 + 3 * 2**-8, float("nan"), float("inf"), -float("inf"), 3.4e38, 1e-40, -0.0])
values = torch.cat([ties, torch.randn(992) * 10 ** torch.randn(992)])
z = torch.empty(n, dtype=torch.bfloat16)
rounding[(8,)](values, z, n, B=128)
torch.testing.assert_close(z, values.to(torch.bfloat16), rtol=0, atol=0, equal_nan=True)

x, z = torch.randn(100), torch.empty(200)
device_functions[(1,)](x, z, 100, B=128)
torch.testing.assert_close(z[:100], torch.tanh(x) + x**2 + torch.erf(x), rtol=1e-5, atol=1e-6)
torch.testing.assert_close(z[100:], torch.nn.functional.softplus(x), rtol=1e-5, atol=1e-6)

x, out = torch.randn(16), torch.empty(17)
in_order[(1,)](x, out, B=16)
state, states = torch.tensor(0.0), []
for each in x:
    state = state * 0.5 + each
    states.append(state)
torch.testing.assert_close(out[:16], torch.stack(states))
assert not torch.allclose(out[16], state, rtol=1e-3), "a reduction that does not commute has no defined order"

# within the documented errors of a GPU's fast unit, and no better
n = 4096
x, y, out = torch.empty(n).uniform_(-3.14, 3.14), torch.empty(n).uniform_(-80, 80), torch.empty(5, n)
fast[(4,)](x, y, out, n, B=1024)
a, b, found = x.double(), y.double(), out.double()
ulp = torch.nextafter(out, torch.tensor(float("inf"))).double() - found
off = [(found[0] - a.sin()).abs().max().item()]
off += [((found[1] - b.exp()).abs() / ulp[1]).max().item(), ((found[2] - a / b).abs() / ulp[2]).max().item()]
assert 2**-24 < off[0] < 2**-21.4 and 2 < off[1] < 2 + 1.173 * 80 and 0.5 < off[2] <= 2, off
near = (a.abs() > 0.5) & (a.abs() < 2)
assert (found[3] - a.abs().log())[near].abs().max() < 2**-21.4
assert ((found[3] - a.abs().log()).abs() / ulp[3])[~near].max() <= 3
torch.testing.assert_close(out[4], (a.abs() ** b).float(), rtol=1e-3, atol=1e-30)
far = torch.empty(n).uniform_(1000, 4000)
fast[(4,)](far, torch.full((n,), 2.0**127), out, n, B=1024)
assert 2**-15 < (out[0].double() - far.double().sin()).abs().max() < 2**-9
assert (out[2] == 0).all()

x, out = torch.randn(512), torch.empty(512)
for claim in ("rows", "constant", "columns", "aligned"):
    hinted[(2,)](x, out, 96, CLAIM=claim, B=64)
for claim, said in (
    ("turned", "tl.multiple_of(4) is not true of its values along axis 0: 61, 62, 63, 64, 65, 66, …"),
    ("spread", "tl.max_contiguous(4) is not true"), ("not constant", "tl.max_constancy(8) is not true"),
    ("aligned", "Assume failed"),
):
    try:
        hinted[(2,)](x, out, 97, CLAIM=claim, B=64)
    except InterpreterError as error:
        assert said in str(error), (claim, error)
    else:
        raise AssertionError(claim)
try:
    hinted[(1,)](x[1:], out, 96, CLAIM="aligned", B=64)
except InterpreterError as error:
    assert "tl.multiple_of(16) is not true" in str(error)
else:
    raise AssertionError("an address is counted in bytes")

with_constants[(1,)](x, out, 3, WRONG="", B=256)
assert torch.equal(out[:256], x[:256] + 1) and triton.cdiv(10, 4) == 3
for wrong in ("a block", "a number", "a function", "another function"):
    try:
        with_constants[(1,)](x, out, 3, WRONG=wrong, B=256)
    except InterpreterError as error:
        assert "wide, a constexpr_function, takes constants only" in str(error), error
    else:
        raise AssertionError(wrong)

x, y, z, w = torch.rand(64), torch.rand(64), torch.empty(128), torch.empty(128)
for out in (z, w):
    concatenated[(1,)](x, y, out, B=64)
# any order, but the same for the same blocks, so that the same inputs give the same bits
whole = torch.cat([x, y])
assert torch.equal(z, w) and not torch.equal(z, whole) and torch.equal(z.sort()[0], whole.sort()[0])

a, b = torch.rand(32, 512).half(), torch.rand(512, 32).half()
exact, errors = a.double() @ b.double(), {}
for kind in (tl.float32, tl.float16):
    out = torch.empty(32, 32)
    in_halves[(1,)](a, b, out, KIND=kind, K=512)
    errors[kind] = (out - exact).abs().max().item()
assert errors[tl.float32] < 1e-3 and 0.1 < errors[tl.float16] < 2, errors

z = torch.zeros(1)
add_to_first[(4,)](torch.ones(1), z)
assert z.item() == 4
for dtype in (torch.float32, torch.float64, torch.int32):
    x, y, z = torch.tensor([3.5]).to(dtype), torch.tensor([-7.25]).to(dtype), torch.zeros(1, dtype=dtype)
    exchanged[(1,)](x, y, z)
    assert (x.item(), z.item()) == (y.item(), torch.tensor([3.5]).to(dtype).item())
try:
    add_to_first[(1,)](torch.ones(1, dtype=torch.bfloat16), torch.zeros(2, dtype=torch.bfloat16))
except InterpreterError as error:
    assert need_of(error).startswith("an atomic operation on bfloat16"), error
else:
    raise AssertionError("an atomic operation on bfloat16 would write over its neighbour")
out = torch.ones(1, dtype=torch.int64)
left_out[(1,)](torch.full((1,), 7), out)
assert out.item() == 0, "a scalar that a mask leaves out is what the load says"
print("all as on a GPU")
"""


def test_kernels_compute_what_a_gpu_computes(tmp_path: Path) -> None:
    # Triton reads a kernel's source from its file, and chooses the interpreter when it is imported
    script = tmp_path / "kernels.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=seconds(200),
        check=False,
        cwd=tmp_path,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(PROJECT)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "all as on a GPU"
