# Tries: sum() and max() of Python, which call the tensors' own operators.
# Family: rules
# Needs: cpu
# Verdict: library
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def by_builtins(a, b):
    total = sum([a, b])
    return (total + abs(total)) / 2


def replacement_func():
    return by_builtins
