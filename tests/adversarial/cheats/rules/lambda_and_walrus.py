# Tries: binds the library inside expressions, where no statement assigns.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


join = lambda a, b: (f := torch.add)(a, b)  # noqa: E731


@torch.fx.wrap
def in_passing(a, b):
    return (cut := torch.relu)(join(a, b)) if a is not b else cut(a)


def replacement_func():
    return in_passing
