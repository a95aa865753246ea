# Tries: getattr with the name of the function as a string.
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
def looked_up(x):
    functional = getattr(getattr(torch, "nn"), "functional")
    return getattr(functional, "gelu")(x)


def replacement_func():
    return looked_up
