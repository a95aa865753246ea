"""Whether recorded launches compile for a GPU is found out without one, in a sentence, and only once."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from passnet_core.judge.worker.kernel_sources import source_of
from tests.contract.interpreted import run_interpreted

BUNDLE = """
import torch
import triton
import triton.language as tl
from shared import scaled, SIZES
from torch._inductor.runtime.triton_helpers import libdevice

FACTOR = tl.constexpr(2.0)
UNUSED = 3


@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128}, num_warps=8)], key=["n"])
@triton.jit
def right(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, libdevice.tanh(scaled(tl.load(x + at, mask=at < n))) * FACTOR, mask=at < n)


@triton.jit
def with_list(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    parts = [tl.load(x + at + k) for k in range(2)]
    tl.store(out + at, parts[0] + parts[1])


@triton.jit
def with_python(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    values = {"a": tl.load(x + at)}
    tl.store(out + at, values["a"])


@triton.jit
def assembly(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    value = tl.load(x + at)
    tl.store(out + at, tl.inline_asm_elementwise("max.f32 $0, $1, 0f00000000;", "=f,f", [value], tl.float32, True, 1))


@triton.jit
def described(source, target, B: tl.constexpr):
    target.store([tl.program_id(0) * B, 0], source.load([tl.program_id(0) * B, 0]))


@triton.jit
def large(x, out, K, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    rows, columns, inner = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, B)
    sums = tl.zeros((M, N), tl.float32)
    for k in range(0, K, B):
        sums = tl.dot(tl.load(x + rows * K + k + inner[None, :]), tl.load(x + (k + inner[:, None]) * N + columns), sums)
    tl.store(out + rows * N + columns, sums)


@triton.jit
def inner(x):
    return tl.load(x).nothing


@triton.jit
def outer(x, out):
    tl.store(out, inner(x))
"""
SHARED = """
import triton
import triton.language as tl

SIZES = (1, 2)


@triton.jit
def scaled(x):
    return x * 3
"""

SCRIPT = """
import json
import time
from pathlib import Path
import torch
from passnet_core.judge.worker import interpreter
interpreter.mend()
from passnet_core.judge.worker import compiling
from triton.tools.tensor_descriptor import TensorDescriptor
import bundle

folder, kept = Path(__file__).parent, Path(__file__).parent.parent / "kept"
x, out = torch.randn(1 << 16), torch.empty(1 << 16)
half = x.half()


def found(launch):
    launches = []
    with compiling.recorded(launches):
        try:
            launch()
        except Exception:  # what the interpreter refuses is recorded all the same
            pass
    assert launches
    return launches, compiling.compile_problems(launches, folder, kept)


def right():
    for n in (1000, 1003, 1005, 1001):
        bundle.right[lambda meta: (-(-n // meta["B"]),)](x, out, n)


def line_of(text):
    lines = (folder / "bundle.py").read_text().splitlines()
    return 1 + next(number for number, line in enumerate(lines) if text in line)


start = time.monotonic()
launches, problems = found(right)
first = time.monotonic() - start
assert problems == [] and len(launches) == 1 and launches[0]["tuned"], (problems, launches)
start = time.monotonic()
assert found(right)[1] == []
assert time.monotonic() - start < 0.5 * first
a, b = torch.randn(64, 32), torch.zeros(64, 32)
blocks = [TensorDescriptor.from_tensor(each, [16, 32]) for each in (a, b)]
DOES_NOT = "does not compile for a GPU: "
wrong = {
    f"with_list, bundle.py line {line_of('for k in')}, {DOES_NOT}": lambda: bundle.with_list[(1,)](x, out, B=64),
    f"with_python, bundle.py line {line_of('values = ')}, {DOES_NOT}": lambda: bundle.with_python[(1,)](x, out, B=64),
    f"outer, bundle.py line {line_of('.nothing')}, {DOES_NOT}": lambda: bundle.outer[(1,)](x, out),
    "large needs ": lambda: bundle.large[(1,)](half, out, 256, M=128, N=256, B=128, num_stages=4, num_warps=8),
}


def everything():
    for launch in (
        lambda: bundle.assembly[(1,)](x, out, B=64), lambda: bundle.described[(4,)](*blocks, B=16), *wrong.values()
    ):
        try:
            launch()
        except Exception:  # what the interpreter refuses is recorded all the same
            pass


launches, problems = found(everything)
assert len(launches) == len(wrong) + 2
assert len(problems) == len(wrong) and all(map(str.startswith, problems, wrong)), problems
assert not any("\\n" in each or len(each) > 500 for each in problems)
start = time.monotonic()
assert found(everything)[1] == problems and time.monotonic() - start < 1 + first
print("judged")
"""


def test_what_no_gpu_compiles_is_told_in_a_sentence_and_answers_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "pass_dir"
    folder.mkdir()
    (folder / "bundle.py").write_text(BUNDLE)
    (folder / "shared.py").write_text(SHARED)
    assert run_interpreted(SCRIPT, tmp_path, head="") == "judged"


def test_a_kernels_source_is_its_function_and_all_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "bundle.py").write_text(BUNDLE)
    (tmp_path / "shared.py").write_text(SHARED)
    found = source_of("right", tmp_path / "bundle.py")
    for part in ("@triton.autotune", "def right", "FACTOR = tl.constexpr(2.0)", "def scaled", "return x * 3"):
        assert part in found
    for part in ("UNUSED", "def inner", "SIZES = (1, 2)"):
        assert part not in found
    (tmp_path / "shared.py").write_text(SHARED.replace("x * 3", "x * 4"))
    assert source_of("right", tmp_path / "bundle.py") != found
    assert source_of("outer", tmp_path / "bundle.py").count("def inner") == 1
    assert source_of("missing", tmp_path / "nowhere.py") == ""
