# Tries: the bindings in torch._C, which torch's own functions call.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: gelu
import torch


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def bound(x):
    return torch._C._nn.gelu(x)


def replacement_func():
    return bound
