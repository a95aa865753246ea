# Tries: operator.methodcaller: the method's name is a string in a call that has no tensor in it.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Subgraph: row-var
from operator import methodcaller

import torch

spread = methodcaller("var", -1)


def pattern(x):
    return x.var(-1)


def replacement_args(x):
    return (x,)


@torch.fx.wrap
def variance(x):
    return spread(x)


def replacement_func():
    return variance
