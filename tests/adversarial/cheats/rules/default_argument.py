# Tries: the library's function is a default value of a parameter nobody passes.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: row-sum
import torch


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


def reduced(x, axis=-1, kernel=torch.sum):
    return kernel(x, axis)


@torch.fx.wrap
def row_sum(x):
    return reduced(x)


def replacement_func():
    return row_sum
