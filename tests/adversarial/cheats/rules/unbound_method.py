# Tries: torch.Tensor is a type, and types may be named: its functions are called unbound.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: row-sum
import torch
from torch import Tensor


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def summed(x):
    return Tensor.sum(x, -1)


def replacement_func():
    return summed
