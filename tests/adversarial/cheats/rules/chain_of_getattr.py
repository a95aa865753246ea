# Tries: torch.ops, one getattr after the other along a dotted string.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code
# Subgraph: layernorm-affine
import functools

import torch

layer_norm = functools.reduce(getattr, "ops.aten.native_layer_norm.default".split("."), torch)


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@torch.fx.wrap
def normalised(x, weight, bias):
    return layer_norm(x, [64], weight, bias, 1e-5)[0]


def replacement_func():
    return normalised
