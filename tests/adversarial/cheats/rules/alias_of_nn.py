# Tries: from torch import nn, and a module of it that does everything.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: forbidden-import
# Subgraph: gelu
import torch
from torch import nn as blocks

activation = blocks.GELU()


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def activated(x):
    return activation(x)


def replacement_func():
    return activated
