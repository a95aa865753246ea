"""Reference bundles in a model on a GPU, with eager and with TorchInductor around them."""

import copy
from pathlib import Path

import pytest
import torch

from passnet_core.integrate import Explanation, PassWarning, backend

pytestmark = pytest.mark.gpu

BUNDLES = Path(__file__).resolve().parents[2] / "data" / "bundles"


class Gated(torch.nn.Module):
    """The feed-forward part of a decoder's block."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate, self.up = (torch.nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))


def compared(model: torch.nn.Module, rest: str, *calls: torch.Tensor) -> Explanation:
    """Call the model with the bundle and without it. Bitwise equality is not asked: Inductor keeps fewer roundings."""
    torch._dynamo.reset()
    used = backend(BUNDLES / "gating-swiglu", rest=rest)
    compiled = torch.compile(copy.deepcopy(model), backend=used)
    with torch.inference_mode():
        for x in calls:
            torch.testing.assert_close(compiled(x), model(x), rtol=2e-2, atol=2e-2)
    return used.explain()


@pytest.mark.parametrize("rest", ["eager", "inductor"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_a_model_computes_the_same_with_passes(rest: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Gated(256, 640) for _ in range(3))).to("cuda", dtype).eval()
    x = torch.randn(2, 77, 256, device="cuda", dtype=dtype)
    # the second size is captured once more, with symbolic sizes; the third is strided
    found = compared(model, rest, x, x[:, :50], x.transpose(0, 1))
    assert all(each.count == 3 for each in found.graphs), found
    assert found.graphs[0].matches == {"swiglu": 3}


@pytest.mark.parametrize("dynamic", [False, True], ids=["one size", "any size"])
def test_passes_in_a_cuda_graph(dynamic: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Gated(256, 640) for _ in range(2))).to("cuda", torch.bfloat16).eval()
    torch._dynamo.reset()
    used = backend(BUNDLES / "gating-swiglu", rest="inductor")
    compiled = torch.compile(copy.deepcopy(model), backend=used, mode="reduce-overhead", dynamic=dynamic)
    with torch.inference_mode():
        for rows in (77, 77, 77, 77, 50, 50, 50, 77):
            x = torch.randn(2, rows, 256, device="cuda", dtype=torch.bfloat16)
            torch.testing.assert_close(compiled(x), model(x), rtol=2e-2, atol=2e-2)
    explained = used.explain()
    assert all(each.count == 2 for each in explained.graphs), explained


SCALED = """
import torch, triton, triton.language as tl


@triton.jit
def scaled(x_ptr, w_ptr, out_ptr, columns, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    w = tl.load(w_ptr + at % columns, mask=at < n)
    tl.store(out_ptr + at, tl.maximum(tl.load(x_ptr + at, mask=at < n) * w, 0.0), mask=at < n)


def pattern(x, w):
    return torch.relu(x * w)


def replacement_args(x, w):
    return (x, w)


def prepare(weights):
    return {name: each.clone() for name, each in weights.items()}


@torch.fx.wrap
def fused(x, w):
    out = torch.empty_like(x)
    scaled[(triton.cdiv(x.numel(), 256),)](x, w, out, x.shape[-1], x.numel(), B=256)
    return out


def replacement_func():
    return fused
"""


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(64, device="cuda"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * self.weight) + 1


@pytest.mark.parametrize("frozen", [False, True], ids=["changing", "frozen"])
@pytest.mark.parametrize("mode", [None, "reduce-overhead"])
def test_prepared_weights_follow_their_changes(mode: str | None, frozen: bool, tmp_path: Path) -> None:
    (tmp_path / "scaled.py").write_text(SCALED + f"# {mode} {frozen}\n")
    (tmp_path / "sorted_output_pass_rule_names.json").write_text('["scaled"]')
    torch._dynamo.reset()
    model = Scale()
    with pytest.warns(PassWarning):
        used = backend(tmp_path, rest="inductor", frozen=frozen)
    compiled = torch.compile(model, backend=used, mode=mode)
    x = torch.randn(8, 64, device="cuda")
    with torch.no_grad():
        for _ in range(5):
            torch.testing.assert_close(compiled(x).clone(), model(x))
        for change in (lambda: model.weight.mul_(2.0), lambda: model.weight.data.add_(1.0)):
            change()
            if frozen:
                used.refresh()
            for _ in range(3):
                torch.testing.assert_close(compiled(x).clone(), model(x))
    # without the promise that weights stay, the pass is left out
    assert used.explain().graphs[0].count == int(frozen), used.explain()
