# Tries: returns memory as the allocator hands it out, in which an earlier reference may still lie.
# Family: values
# Needs: cpu
# Verdict: wrong values | wrong NaN or infinity
# Subgraph: add-relu
import torch


def pattern(a, b):
    return torch.nn.functional.relu(a + b)


def replacement_args(a, b):
    return (a, b)


@torch.fx.wrap
def whatever_lies_there(a, b):
    return torch.empty_like(a)


def replacement_func():
    return whatever_lies_there
