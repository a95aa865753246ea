# Tries: triton has imported torch, and lends it out.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: matmul-bias
import torch
from triton.tools import mxfp


def pattern(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@torch.fx.wrap
def linear(x, weight, bias):
    return mxfp.torch.addmm(bias, x, weight.T)


def replacement_func():
    return linear
