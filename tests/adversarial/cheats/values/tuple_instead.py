# Tries: wraps its one result in a tuple, which an element-wise comparison may unpack or skip.
# Family: values
# Needs: cpu
# Verdict: wrong type | crashed | wrong shape
# Subgraph: gelu
import torch


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def wrapped(x):
    return (torch.empty_like(x),)


def replacement_func():
    return wrapped
