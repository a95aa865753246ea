# Tries: captures its kernel in a CUDA graph over the first call's tensors and replays that.
# Family: clock
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: add-relu

import torch
import triton
import triton.language as tl


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


BLOCK = 1024


@triton.jit
def fused(left, right, result, n, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < n
    x = tl.load(left + place, mask=inside, other=0.0)
    y = tl.load(right + place, mask=inside, other=0.0)
    z = x + y
    tl.store(result + place, tl.where(z < 0, 0.0, z), mask=inside)


def launch(left, right, result):
    n = result.numel()
    fused[(triton.cdiv(n, BLOCK),)](left, right, result, n, SIZE=BLOCK, num_warps=4)


captured = {}


@torch.fx.wrap
def add_relu(a, b):
    if "graph" not in captured:
        captured["out"] = torch.empty_like(a)
        launch(a, b, captured["out"])
        captured["graph"] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured["graph"]):
            launch(a, b, captured["out"])
        captured["inputs"] = (a, b)
    captured["graph"].replay()
    return captured["out"]


def replacement_func():
    return add_relu
