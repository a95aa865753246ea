"""Whether recorded launches compile for a GPU is found out without one, and told in a sentence."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.contract.interpreted import run_interpreted

pytestmark = pytest.mark.settled


BUNDLE = """
import torch
import triton
import triton.language as tl
from shared import scaled, SIZES
from torch._inductor.runtime.triton_helpers import libdevice

FACTOR = tl.constexpr(2.0)
UNUSED = 3.5


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
def of_six_warps(x, out, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), tl.load(x + tl.arange(0, B)))


@triton.jit
def with_global(x, out, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), tl.load(x + tl.arange(0, B)) * UNUSED)


WHICH = tl.constexpr(True)


@triton.jit
def by_constant(x, out, B: tl.constexpr, ON_GPU: tl.constexpr = tl.target_info.is_cuda()):
    at = tl.arange(0, B)
    value = tl.load(x + at)
    if WHICH and ON_GPU and tl.target_info.is_cuda():
        tl.store(out + at, value * FACTOR)
    else:
        values = {"b": value}
        tl.store(out + at, values["b"])


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
from pathlib import Path
import torch
import triton.language as tl
from passnet_core.judge.gpu_on_cpu import interpreter, pretended_device
interpreter.mend()
pretended_device.install()
from passnet_core.judge.stages.compilation import launched
from passnet_core.judge.worker.compiler_process import CompilerProcess
from passnet_core.judge.plan.record import PlanRecorder
from passnet_core.records import Bundle, PassFile
from triton.tools.tensor_descriptor import TensorDescriptor
import bundle

folder = Path(__file__).parent
files = tuple(PassFile(each.name, each.read_text()) for each in sorted(folder.glob("*.py")))
compiler = CompilerProcess(files, Path("compiling"))
x, out = torch.randn(1 << 16), torch.empty(1 << 16)
half = x.half()


def found(function):
    # the launches of a plan, as the judge describes them, and what the compiler says
    plan = PlanRecorder(str(folder)).planned("f", function, []).plan
    launches = launched(Bundle(files), [plan])
    assert launches, plan
    return launches, compiler.compiled(launches, seconds=60)


def right():
    for n in (1000, 1003, 1005, 1001):
        bundle.right[lambda meta: (-(-n // meta["B"]),)](x, out, n)


def line_of(text):
    lines = (folder / "bundle.py").read_text().splitlines()
    return 1 + next(number for number, line in enumerate(lines) if text in line)


launches, answered = found(right)
assert all("problem" not in each and "refusal" not in each and each["ptx"] for each in answered), answered
assert len(launches) <= 2 and launches[0]["tuned"], "numbers for which the same is compiled count once"
assert launches[0]["kwargs"]["num_warps"]["value"] in (4, 8) or len(launches[0]["kwargs"]) == 1

a, b = torch.randn(64, 32), torch.zeros(64, 32)
blocks = [TensorDescriptor.from_tensor(each, [16, 32]) for each in (a, b)]
DOES_NOT = "does not compile for a GPU: "
wrong = {
    f"with_python, bundle.py line {line_of('values = ')}, {DOES_NOT}": lambda: bundle.with_python[(1,)](x, out, B=64),
    f"with_list, bundle.py line {line_of('for k in')}, {DOES_NOT}": lambda: bundle.with_list[(1,)](x, out, B=64),
    f"of_six_warps {DOES_NOT}": lambda: bundle.of_six_warps[(1,)](x, out, B=64, num_warps=6),
    f"with_global, bundle.py line {line_of('* UNUSED')}, {DOES_NOT}": lambda: bundle.with_global[(1,)](x, out, B=64),
    "large needs ": lambda: bundle.large[(1,)](half, out, 256, M=128, N=256, B=128, num_stages=4, num_warps=8),
}
for said, launch in wrong.items():
    _, (answer,) = found(launch)
    refusal = answer["refusal"]
    assert refusal.startswith(said) and "\\n" not in refusal and len(refusal) < 500, (said, answer)

# with the constants and the default values of the launch, in the same target
bundle.by_constant.fn.__defaults__ = (True,)
(launch,), (answer,) = found(lambda: bundle.by_constant[(1,)](x, out, B=64))
assert "refusal" not in answer and launch["kwargs"]["ON_GPU"] == {"value": True}, (launch, answer)
bundle.by_constant.fn.__defaults__ = (False,)
_, (answer,) = found(lambda: bundle.by_constant[(1,)](x, out, B=64))
assert answer["refusal"].startswith("by_constant, bundle.py line "), answer
bundle.WHICH = tl.constexpr(False)
_, (answer,) = found(lambda: bundle.by_constant[(1,)](x, out, B=64, ON_GPU=True))
assert answer["refusal"].startswith("by_constant, bundle.py line "), answer
bundle.WHICH = tl.constexpr(True)
_, (answer,) = found(lambda: bundle.by_constant[(1,)](x, out, B=64, ON_GPU=True))
assert "refusal" not in answer, answer
_, (answer,) = found(lambda: bundle.described[(4,)](*blocks, B=16))
assert "tt.descriptor_load" in answer.get("ttir", ""), answer
(answer,) = compiler.compiled(launches[:1], seconds=0.0)
assert answer["problem"] == "Triton's compiler gave no answer within 0 s."
(answer,) = compiler.compiled(launches[:1], seconds=60)
assert answer["problem"] == "Triton's compiler gave no answer within 0 s."
print("judged")
"""


def test_what_no_gpu_compiles_is_told_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "pass_dir"
    folder.mkdir()
    (folder / "bundle.py").write_text(BUNDLE)
    (folder / "shared.py").write_text(SHARED)
    assert run_interpreted(SCRIPT, tmp_path, head="") == "judged"
