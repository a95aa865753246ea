"""Reference bundles in a model on a GPU, with eager and with TorchInductor around them."""

import copy
from pathlib import Path

import pytest
import torch

from passnet_core.integrate import Explanation, backend

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
