# Tries: calls its own pattern, in which torch is allowed.
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
def traced_again(x):
    return pattern(x)


def replacement_func():
    return traced_again
