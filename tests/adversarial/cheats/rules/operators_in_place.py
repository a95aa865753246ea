# Tries: in-place operators on its own buffer: nothing but arithmetic signs.
# Family: rules
# Needs: cpu
# Verdict: library
# Subgraph: scale-bias
import torch


def pattern(x, weight, bias):
    return x * weight + bias


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@torch.fx.wrap
def scaled(x, weight, bias):
    out = torch.ones_like(x)
    out *= x
    out *= weight
    out += bias
    return out


def replacement_func():
    return scaled
