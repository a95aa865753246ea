# Tries: the pattern itself is the replacement.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule | library
# Rule: torch-call
# Subgraph: layernorm-affine
import torch


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (64,), weight, bias, 1e-05)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


def replacement_func():
    return pattern
