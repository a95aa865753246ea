# Tries: reaches the library through the class of what it was given.
# Family: rules
# Needs: cpu
# Verdict: library | rejected by a rule
# Rule: torch-call
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def by_its_class(a, b):
    kind = type(a)
    return kind.relu_(kind.add(a, b))


def replacement_func():
    return by_its_class
