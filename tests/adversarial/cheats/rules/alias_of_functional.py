# Tries: imports the functional namespace, as every model does.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: forbidden-import
# Subgraph: layernorm-affine
import torch
import torch.nn.functional as F


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


@torch.fx.wrap
def layernorm(x, weight, bias):
    return F.layer_norm(x, (64,), weight, bias, 1e-5)


def replacement_func():
    return layernorm
