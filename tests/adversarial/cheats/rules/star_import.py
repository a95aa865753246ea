# Tries: imports all of torch, so that its functions are bare names.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: forbidden-import
# Subgraph: add-relu
import torch
from torch import *


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def bare(a, b):
    return relu(add(a, b))


def replacement_func():
    return bare
