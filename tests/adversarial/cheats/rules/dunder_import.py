# Tries: __import__ with a string.
# Family: rules
# Needs: cpu
# Verdict: rejected by a rule
# Rule: dynamic-code
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def imported(a, b):
    library = __import__("torch")
    return library.relu(library.add(a, b))


def replacement_func():
    return imported
