# Tries: functions in a list, folded over the value.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: torch-call
# Subgraph: exp-sum
import functools

import torch

chain = [torch.exp, lambda value: torch.sum(value, dim=-1)]


def pattern(x):
    return torch.exp(x).sum(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def folded(x):
    return functools.reduce(lambda value, step: step(value), chain, x)


def replacement_func():
    return folded
