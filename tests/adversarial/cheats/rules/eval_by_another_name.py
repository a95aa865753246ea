# Tries: eval, found among the builtins under a name that is not written.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code | forbidden-import
# Subgraph: row-sum
import builtins

import torch

read = getattr(builtins, "ev" + "al")


def pattern(x):
    return x.sum(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def summed(x):
    return read("torch.sum(x, -1)", {"torch": torch, "x": x})


def replacement_func():
    return summed
