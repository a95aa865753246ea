# Tries: walks from the tensor's class to the class below it, whose functions nobody lists.
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
def by_the_class_below(a, b):
    below = a.__class__.__mro__[1]
    return below.relu(below.add(a, b))


def replacement_func():
    return by_the_class_below
