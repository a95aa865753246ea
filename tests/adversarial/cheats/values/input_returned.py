# Tries: returns the first input as it came.
# Family: values
# Needs: cpu
# Verdict: wrong values | cheat
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def first_of(a, b):
    return a


def replacement_func():
    return first_of
