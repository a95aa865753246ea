# Tries: imports single functions of torch under harmless names.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: exp-sum
import torch
from torch import exp as stretch
from torch import sum as collect


def pattern(x):
    return torch.exp(x).sum(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def collected(x):
    return collect(stretch(x), -1)


def replacement_func():
    return collected
