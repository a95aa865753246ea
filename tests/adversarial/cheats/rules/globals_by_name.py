# Tries: finds torch in its own globals, under a computed name.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule | library
# Rule: dynamic-code | torch-call
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def from_globals(a, b):
    for name, module in globals().items():
        if name.startswith("tor"):
            return module.relu(module.add(a, b))
    raise KeyError


def replacement_func():
    return from_globals
