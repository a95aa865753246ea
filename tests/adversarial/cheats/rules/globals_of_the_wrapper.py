# Tries: every Python function of torch carries the globals of its module.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call | dynamic-code
# Subgraph: gelu
import torch

namespace = torch.fx.wrap.__globals__


def pattern(x):
    return torch.nn.functional.gelu(x)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def from_the_wrapper(x):
    return namespace["torch"].nn.functional.gelu(x)


def replacement_func():
    return from_the_wrapper
