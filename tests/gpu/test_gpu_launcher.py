"""The lean launcher on a GPU: what it launches equals what kernel[grid] does, and the judge sees it."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from passnet_core.bundles.launcher import FILE, with_launcher
from passnet_core.execution.backends.base import CompileKernels
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import LAUNCHED, Bundle, Device, EvalSpec, Job, PassFile, Stage, Subgraph, TensorSpec, Verdict
from tests.gpu.scripts import run_beside
from tests.gpu.test_measure import RIGHT, SOURCE
from tests.waiting import seconds

pytestmark = pytest.mark.gpu

SCRIPT = """
import functools
import torch
import triton
import triton.language as tl
from launching import LAUNCHES, lean

@triton.jit
def scale_kernel(x_ptr, out_ptr, count, step, factor, SHIFT: tl.constexpr, BLOCK: tl.constexpr = 256):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at * step, mask=inside) * factor + SHIFT, mask=inside)

def check(x, count, step=1, factor=2.0):
    grid = (triton.cdiv(count, 256),)
    wanted = torch.zeros(count, dtype=x.dtype, device=x.device)
    found = torch.zeros_like(wanted)
    with torch.cuda.device(x.device):
        scale_kernel[grid](x, wanted, count, step, factor, SHIFT=1.0, BLOCK=256)
    for _ in range(2):
        found.zero_()
        lean(scale_kernel)[grid](x, found, count, step, factor, SHIFT=1.0, BLOCK=256)
        torch.cuda.synchronize(x.device)
        assert torch.equal(found, wanted), (x.dtype, count, step)

x = torch.randn(5000, device="cuda")
"""
CASES = {
    "sizes": "for count in (1, 15, 16, 17, 256, 1000, 1024): check(x, count)",
    "steps": "for step in (1, 2, 16, 17): check(x, 100, step)",
    "large numbers": "check(x[:1], 1, 2**31); check(x[:1], 1, 2**40)",
    "dtypes": "for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64): check(x.to(dtype), 777)",
    "unaligned after aligned": "for start in (0, 1, 2, 4, 5, 0): check(x[start:], 1024)",
    "floats": "for factor in (0.0, -0.0, 1.0, 0.1): check(x, 100, factor=factor)",
    "an empty grid": """
out = torch.zeros_like(x)
lean(scale_kernel)[(0,)](x, out, 5000, 1, 2.0, SHIFT=1.0, BLOCK=256)
assert not out.any()
""",
    "another stream": """
out, side = torch.zeros_like(x), torch.cuda.Stream()
launch = functools.partial(lean(scale_kernel)[(20,)], count=5000, step=1, factor=2.0, SHIFT=1.0, BLOCK=256)
launch(x, out)
out.zero_()
graph = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
# what is launched on another stream than the capturing one is not in the graph
with torch.cuda.graph(graph, stream=side):
    launch(x, out)
assert not out.any()
graph.replay()
torch.cuda.synchronize()
assert torch.equal(out, x * 2 + 1)
""",
    "another device": """
if torch.cuda.device_count() > 1:
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        check(x.to(device), 1000)
        assert torch.cuda.current_device() == 0
    with torch.cuda.device(1):
        check(x, 1000)
""",
    "a hook": """
seen = []
hook = lambda metadata: seen.append(metadata.get()["name"])
out = torch.zeros_like(x)
launch = functools.partial(lean(scale_kernel)[(20,)], count=5000, step=1, factor=2.0, SHIFT=1.0, BLOCK=256)
launch(x, out)
triton.knobs.runtime.launch_enter_hook.add(hook)
launch(x, out)
launch(x, out)
triton.knobs.runtime.launch_enter_hook.remove(hook)
launch(x, out)
assert seen == ["scale_kernel"] * 2
""",
    "a default, and a grid that is a number or worked out": """
for grid in (20, (20,), lambda meta: (triton.cdiv(5000, meta["BLOCK"]),)):
    out = torch.zeros_like(x)
    for _ in range(2):
        lean(scale_kernel)[grid](x, out_ptr=out, factor=2.0, count=5000, SHIFT=1.0, step=1)
    assert torch.equal(out, x * 2 + 1)
""",
    "an unknown Triton": 'triton.__version__ = "9.9.9"; check(x, 1000); check(x[1:], 77)',
    "a Triton that launches otherwise than its version does": """
triton.__version__ = "3.7.0" if triton.__version__.startswith("3.6") else "3.6.0"
check(x, 1000)
check(x[1:], 77)
""",
    "the compiler's options": """
# a product and a sum in one instruction round once
part = x.double()
wanted = ((x * 0.1).double() + 1.0).float(), (part * torch.tensor(0.1).double().item() + 1.0).float()
for fused in (False, True):
    out = torch.zeros_like(x)
    lean(scale_kernel)[(20,)](x, out, 5000, 1, 0.1, BLOCK=256, SHIFT=1.0, enable_fp_fusion=fused)
    assert torch.equal(out, wanted[fused])
""",
}


@pytest.mark.parametrize("lines", CASES.values(), ids=list(CASES))
def test_a_lean_launch_does_what_the_kernel_does(lines: str, tmp_path: Path) -> None:
    run_beside(FILE, f"{SCRIPT}\n{lines}\n", tmp_path)


BUNDLE = with_launcher(Bundle((PassFile("add_relu.py", RIGHT),)))
INPUTS = tuple(TensorSpec(name, (512, 1024), "float16", mean=0.0, std=1.0) for name in ("in_0", "in_1"))
SUBGRAPH = Subgraph("float16/0/add-relu", "add-relu", "none", SOURCE, INPUTS)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    made = LocalBackend(sys.executable, "auto", tmp_path_factory.mktemp("home"), checkers=0)
    yield made
    made.close()


def test_the_judge_sees_lean_launches_as_launches_of_the_bundles_kernel(backend: LocalBackend) -> None:
    assert "lean(kernel)[" in BUNDLE.passes[0].code
    spec = EvalSpec(stage=Stage.VERIFY, device=Device.CUDA, deadline_s=seconds(120))
    found = backend.run(Job(SUBGRAPH, BUNDLE, spec), lambda event: None, threading.Event())
    assert found.verdict is Verdict.VALUES_ONLY, f"{found.reason} {found.evidence} {found.log_tail}"
    (launched,) = (each.text for each in found.evidence if each.topic == LAUNCHED)
    assert "1 × kernel (kernel, " in launched
    assert not [each for each in found.warnings if "addresses" in each]


def test_an_inspection_shows_the_kernels_of_lean_launches(backend: LocalBackend) -> None:
    found = backend.inspect(CompileKernels(SUBGRAPH, BUNDLE, Device.CUDA), threading.Event())
    assert found.problem == ""
    (kernel,) = found.kernels
    assert (kernel.name, kernel.ran, kernel.launches) == ("kernel", True, 1)
