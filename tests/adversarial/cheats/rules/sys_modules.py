# Tries: finds the library among the loaded modules.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code
# Subgraph: row-var
import sys

import torch

loaded = sys.modules


def pattern(x):
    return x.var(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def variance(x):
    return loaded["torch"].var(x, -1)


def replacement_func():
    return variance
