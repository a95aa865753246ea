"""Launches in Triton's interpreter behave as on a GPU: grids, autotuning, options, names, undefined lanes."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.contract.interpreted import run_interpreted

pytestmark = pytest.mark.settled


TUNING = """
import triton.testing
from passnet_core.judge.gpu_on_cpu import launching

seen = []


def prune(configs, named_args, **kwargs):
    return [each for each in configs if each.kwargs["B"] <= named_args["n"]]


def model(n, B, **kwargs):
    return -B


@triton.autotune(
    configs=[triton.Config({"B": b}, num_warps=w) for b in (4096, 64, 128) for w in (2, 4)],
    key=["n"],
    reset_to_zero=["total"],
    prune_configs_by={"early_config_prune": prune, "perf_model": model, "top_k": 1},
)
@triton.jit
def summed(x, total, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(total, tl.sum(tl.load(x + at, mask=at < n, other=0.0)))


@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"], restore_value=["x"])
@triton.jit
def doubled(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])
@triton.jit
def doubled_without_restoring(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.autotune(
    configs=[triton.Config({"B": 32}), triton.Config({"B": 128}, pre_hook=lambda args: args["out"].zero_())],
    key=["n"], use_cuda_graph=True, warmup=1, rep=1,
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
@triton.jit
def copied(x, out, n, B: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(B > 32, "too small")
    at = tl.program_id(0) * B + tl.arange(0, B)
    if EVEN:
        tl.atomic_add(out + at, tl.load(x + at))
    else:
        tl.atomic_add(out + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.autotune(configs=[triton.Config({}, num_warps=each) for each in (1, 2, 4)], key=[])
@triton.jit
def copied_or_not(x, out, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), tl.load(x + tl.arange(0, B)))


n = 1000
x = torch.randn(n)
for _ in range(2):
    total = torch.zeros(1)
    summed[lambda meta: (triton.cdiv(n, meta["B"]),)](x, total, n)
    torch.testing.assert_close(total[0], x.sum(), rtol=1e-4, atol=1e-4)
assert summed.best_config.kwargs == {"B": 128}, summed.best_config

y = x.clone()
doubled[lambda meta: (triton.cdiv(n, meta["B"]),)](y, n)
assert torch.equal(y, 2 * x)
# on a GPU, trying configurations changes the values as well
y = x.clone()
doubled_without_restoring[lambda meta: (triton.cdiv(n, meta["B"]),)](y, n)
assert not torch.equal(y, 2 * x)

for size in (1000, 1024):
    x, out = torch.randn(size), torch.full((size,), 7.0)
    copied[lambda meta: (triton.cdiv(size, meta["B"]),)](x, out, size)
    assert torch.equal(out, x) and copied.best_config.kwargs["B"] == 128

chosen = set()
for _ in range(200):
    launching.choose_anew()
    copied_or_not[(1,)](x, out, B=8)
    chosen.add(copied_or_not.best_config.num_warps)
assert chosen == {1, 2, 4}, "a GPU may choose any of them"
for _ in range(5):
    copied_or_not[(1,)](x, out, B=8)
    assert copied_or_not.best_config.num_warps == copied_or_not.cache[next(iter(copied_or_not.cache))].num_warps
times = [[triton.testing.do_bench(lambda: None) for _ in range(2)] for _ in range(50)]
assert {one < other for one, other in times} == {True, False}, "any of two may be the faster one"

calls = []
assert triton.testing.do_bench(lambda: calls.append(1)) > 0 and len(calls) == 1
assert len(triton.testing.do_bench(lambda: None, quantiles=(0.5, 0.2, 0.8))) == 3
print("tuned")
"""

LAUNCHES = """
import math
from triton.language import arange, load, program_id, store, constexpr
import triton.language.core as core


@triton.jit
def added_by_name(x, out, n, B: constexpr):
    at = program_id(0) * B + arange(0, B)
    store(out + at, load(x + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def masked(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n))


@triton.jit
def blocked(x, out, n, B: tl.constexpr):
    pointer = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    tl.store(out + tl.arange(0, B), tl.load(pointer, boundary_check=(0,)))


n = 100
x = torch.randn(n)
for grid in (lambda meta: (math.ceil(meta["n"] / meta["B"]),), [4], (4, 1), lambda meta: [4 if meta["x"] is x else 1]):
    out = torch.empty(n)
    added_by_name[grid](x, out, n, B=32)
    assert torch.equal(out, x + 1)

for grid, options, wanted in (
    ((1, 65536), {}, "invalid argument"),
    ((1.5,), {}, "float"),
    ((4,), {"num_warp": 4}, "num_warp"),
):
    try:
        added_by_name[grid](x, out, n, B=32, **options)
    except Exception as error:
        assert wanted in str(error), error
    else:
        raise AssertionError(grid)
added_by_name[(4,)](x, out, n, B=32, num_warps=8, num_stages=2, maxnreg=64)

for kernel in (masked, blocked):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        out = torch.zeros(16, dtype=dtype)
        kernel[(1,)](torch.ones(16, dtype=dtype), out, 9, B=16)
        assert out[:9].eq(1).all() and out[9:].isnan().all(), out
    for dtype in (torch.int64, torch.int32, torch.int8):
        out = torch.zeros(16, dtype=dtype)
        kernel[(1,)](torch.ones(16, dtype=dtype), out, 9, B=16)
        assert out[:9].eq(1).all() and out[9:].eq(-1).all(), out
print("launched")
"""

LIBRARIES = """
from passnet_core.judge.gpu_on_cpu.needs_gpu import need_of
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from triton.language.extra import libdevice as extra
from triton.language.extra.cuda.libdevice import tanh


@triton.jit
def functions(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    a = tl.load(x + at)
    tl.store(out + at, libdevice.tanh(a))
    tl.store(out + B + at, tl.extra.cuda.libdevice.tanh(a))
    tl.store(out + 2 * B + at, tanh(a))
    tl.store(out + 3 * B + at, tl_math.exp(extra.log(tl.math.exp(a))))
    tl.store(out + 4 * B + at, triton_helpers.maximum(a, 0.0))
    tl.store(out + 5 * B + at, triton_helpers.max2(triton_helpers.promote_to_tensor(a)[None, :], 1) + 0 * a)
    tl.store(out + 6 * B + at, tl.where(~libdevice.isnan(a), a, 0.0))
    tl.store(out + 7 * B + at, libdevice.int_as_float(libdevice.float_as_int(a)))
    tl.store(out + 8 * B + at, libdevice.popc(at).to(tl.float32))
    tl.store(out + 9 * B + at, libdevice.erfinv(libdevice.erf(a)))


@triton.jit
def assembly(x, B: tl.constexpr):
    at = tl.arange(0, B)
    a = tl.load(x + at)
    tl.store(x + at, tl.inline_asm_elementwise("max.f32 $0, $1, 0f;", "=f,f", [a], tl.float32, is_pure=True, pack=1))


@triton.jit
def scaled(x, B: tl.constexpr):
    a = tl.zeros((32, 32), tl.uint8)
    tl.dot_scaled(a, a, "e4m3", a, a, "e4m3")


@triton.jit
def clock(x, B: tl.constexpr):
    tl.store(x, tl.extra.cuda.globaltimer().to(tl.float32))


@triton.jit
def rare(x, B: tl.constexpr):
    tl.store(x, libdevice.y0(tl.load(x)))


@triton.jit
def inner(x):
    return libdevice.y1(x)


@triton.jit
def outer(x, B: tl.constexpr):
    tl.store(x, inner(tl.load(x)))


B = 64
x = torch.randn(B)
out = torch.empty(10, B)
functions[(1,)](x, out, B, B=B)
for row in (0, 1, 2):
    torch.testing.assert_close(out[row], x.tanh())
torch.testing.assert_close(out[3], x.exp())
assert torch.equal(out[4], x.relu()) and torch.equal(out[5], x.max().expand(B))
assert torch.equal(out[6], x) and torch.equal(out[7], x)
assert out[8, :8].tolist() == [0, 1, 1, 2, 1, 2, 2, 3]
torch.testing.assert_close(out[9][x.abs() < 2], x[x.abs() < 2], rtol=1e-4, atol=1e-4)

for kernel, construct in (
    (assembly, "tl.inline_asm_elementwise (kernels.py line "),
    (scaled, "tl.dot_scaled (kernels.py line "),
    (clock, "tl.extra.cuda.globaltimer (kernels.py line "),
    (rare, "libdevice.y0 (kernels.py line "),
    (outer, "libdevice.y1 (kernels.py line "),
):
    try:
        kernel[(1,)](x, B=B)
    except InterpreterError as error:
        assert need_of(error).startswith(construct), (construct, need_of(error), error)
    else:
        raise AssertionError(construct)
assert need_of(ValueError("another")) == ""
print("computed")
"""


def test_autotuning_chooses_without_a_device_and_treats_arguments_as_on_a_gpu(tmp_path: Path) -> None:
    assert run_interpreted(TUNING, tmp_path) == "tuned"


def test_launches_take_what_a_gpu_takes_and_masked_lanes_are_undefined(tmp_path: Path) -> None:
    assert run_interpreted(LAUNCHES, tmp_path) == "launched"


def test_libdevice_comes_by_any_import_and_what_needs_a_gpu_is_named(tmp_path: Path) -> None:
    assert run_interpreted(LIBRARIES, tmp_path) == "computed"
